// Text that repeats itself: one token or a short cycle over most of a completion, as "!!!!" after a collapse. Refrains,
// rules of a table, indentation and a laugh are short, or a small part of what they stand in.
import type { MonitorRule, RuleWorld, Sample } from '../../../src/index.ts';
import { type Judgement, numberSetting, shareRule } from './batch.ts';
import { marksIn, quote } from './text.ts';

export const repetitionRules: readonly MonitorRule[] = [
  shareRule({
    id: 'monitor/completions-do-not-repeat-themselves',
    title: 'Completions are not one token or a short cycle over and over',
    level: 'should',
    why: 'A policy that writes "!!!!" has collapsed: from there on every gradient is noise, and a run that goes on is lost.',
    catches: [],
    advice:
      'Stop, go back to the last good checkpoint, and look at the steps before this one: gradient norm, KL and entropy tell which of them broke it. A learning rate that is too high and a KL term of the wrong sign are the usual causes.',
    share: 0.25,
    least: 4,
    faulty: 2,
    does: 'repeat themselves',
    what: 'completions',
    silent: 'no sample has a completion',
    settings: {
      part: { default: 0.5, what: 'Share of a completion that the repeated stretch must take, 0 to 1.' },
      characters: { default: 64, what: 'Characters that the stretch must have at least.' },
      tokens: { default: 32, what: 'The same in ids, for files without text.' },
      times: { default: 8, what: 'Times that the cycle must come.' },
    },
    judge: repetitionJudge,
  }),
];

interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly period: number;
}

function repetitionJudge(world: RuleWorld): (sample: Sample) => Judgement {
  const part = numberSetting(world, 'part');
  const times = numberSetting(world, 'times');
  const leastOf = { characters: numberSetting(world, 'characters'), ids: numberSetting(world, 'tokens') };
  return (sample) => {
    const { completion, completionIds, prompt = '' } = sample;
    if (completion !== undefined && completion !== '') {
      const offset = Math.max(0, completion.length - LOOKED_AT);
      const units = completion.slice(offset);
      const least = Math.max(leastOf.characters, part * units.length);
      const found = longestCycle(units, LONGEST_CYCLE.characters, least);
      const length = found.to - found.from;
      if (length < least || length < times * found.period) return 'fine';
      const cycle = units.slice(found.from, found.from + found.period);
      // Who is asked for a hundred dots writes a hundred dots.
      if (prompt.includes(cycle.repeat(ASKED_TIMES))) return 'fine';
      return {
        kind: 'repetition',
        which: `has ${quote(cycle, 40)} ${Math.floor(length / found.period)} times in a row, ${length} of its last ${units.length} characters`,
        ...marksIn(sample, world, offset + found.from, offset + found.to),
      };
    }
    if (completionIds === undefined) return undefined;
    const ids = withoutPadding(completionIds, world);
    const units = ids.slice(-LOOKED_AT);
    const least = Math.max(leastOf.ids, part * units.length);
    const found = longestCycle(units, LONGEST_CYCLE.ids, least);
    const length = found.to - found.from;
    if (length < least || length < times * found.period) return 'fine';
    const offset = ids.length - units.length;
    const cycle = units.slice(found.from, found.from + found.period);
    const shown =
      world.tokens === undefined
        ? cycle.slice(0, SHOWN_IDS).join(' ')
        : quote(world.tokens.decode(cycle), 40);
    return {
      kind: 'repetition',
      which: `has ${shown} ${Math.floor(length / found.period)} times in a row, ${length} of its last ${units.length} ids`,
      marks: [[offset + found.from, offset + found.to]],
    };
  };
}

/** The end of a completion tells: what falls into a cycle stays in it. */
const LOOKED_AT = 4096;
/** A line of text; longer cycles are refrains. */
const LONGEST_CYCLE = { characters: 80, ids: 24 };
/** So often in the prompt, the cycle was asked for. */
const ASKED_TIMES = 3;
const SHOWN_IDS = 8;

/**
 * The longest stretch of at least `least` elements in which each equals the one a period earlier, shortest period first.
 * A stretch that long stands over one of a few anchors; only from those is looked, which most texts leave at once.
 */
function longestCycle(units: ArrayLike<unknown>, longestPeriod: number, least: number): Stretch {
  let best: Stretch = { from: 0, to: 0, period: 1 };
  for (let period = 1; period <= Math.min(longestPeriod, units.length / 2); period++) {
    const same = (at: number): boolean =>
      at >= period && at < units.length && units[at] === units[at - period];
    const spacing = Math.max(1, Math.floor(least) - period);
    for (let anchor = spacing - 1; anchor < units.length + spacing; anchor += spacing) {
      const middle = Math.min(anchor, units.length - 1);
      if (!same(middle)) continue;
      let [from, to] = [middle, middle + 1];
      while (same(from - 1)) from--;
      while (same(to)) to++;
      if (to - from + period > best.to - best.from) best = { from: from - period, to, period };
    }
  }
  return best;
}

function withoutPadding(ids: readonly number[], { tokens }: RuleWorld): readonly number[] {
  const ends = new Set([...(tokens?.stopIds ?? []), ...(tokens?.padId === undefined ? [] : [tokens.padId])]);
  // Without a tokenizer the last id repeated may be padding, which is no text.
  if (tokens === undefined && ids.at(-1) !== undefined) ends.add(ids.at(-1) ?? -1);
  let end = ids.length;
  while (end > 0 && ends.has(ids[end - 1] ?? -1)) end--;
  return ids.slice(0, end);
}
