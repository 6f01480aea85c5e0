// Losses that somebody is waiting for: named by the user, or by the samples that are counted for them.
import type { MonitorRule, RuleWorld, Series, Violation, Watch } from '../../../src/index.ts';
import { at, streakOf } from '../watches.ts';
import { inARow, numberOf, textOf } from '../world.ts';
import { LOSSES, ofSamePart, wordsOf } from './loss-parts.ts';

const expectedLosses: MonitorRule = {
  id: 'monitor/expected-losses',
  title: 'Every loss that is switched on is logged, and is not always 0',
  stage: 'monitor',
  level: 'must',
  why: 'A loss that is enabled and never logged is never computed, and nothing else in the log says so.',
  catches: ['ZL-01', 'ZL-05'],
  advice:
    'Follow the batch to the branch that computes this loss, and count how often it runs. If it is switched off, take its name out of `expect`.',
  roles: [],
  settings: {
    expect: {
      default: '',
      what: 'Names of the losses that are switched on, with commas between them, whole or from their beginning: `llm_sft_loss,wm_loss`.',
    },
    steps: {
      default: 5,
      what: 'So many logged steps after which every one must have been there, and been other than 0 in one of them.',
    },
  },
  watch: (world) => watchExpected(world),
};

function watchExpected(world: RuleWorld): Watch {
  const expected = textOf(world, 'expect')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  if (expected.length === 0) return { judged: () => 0, why: () => 'its setting `expect` names no loss' };
  const needed = numberOf(world, 'steps');
  const found = new Map<string, Series>();
  const nonZero = new Set<string>();
  const waiting: Violation[] = [];
  const memo = new Map<Series, string | undefined>();
  let steps = 0;
  let last = Number.NaN;
  let told = false;
  const tell = (): void => {
    if (told || steps === 0) return;
    told = true;
    for (const name of expected) {
      const series = found.get(name);
      if (series !== undefined && nonZero.has(name)) continue;
      const what =
        series === undefined ? 'was not logged' : `(${series.name}) was logged as exactly 0 and nothing else`;
      waiting.push({
        kind: `expected ${name}`,
        sentence: `The loss ${name} ${what} in the first ${steps} logged steps, up to step ${last}.`,
        ...(series === undefined ? {} : { series }),
        step: last,
      });
    }
  };
  return {
    point(series, step, value) {
      if (!memo.has(series)) memo.set(series, nameOf(series, expected));
      const name = memo.get(series);
      if (name !== undefined) {
        if (!found.has(name)) found.set(name, series);
        if (value !== 0) nonZero.add(name);
      }
      if (step !== last && !series.evaluation) {
        if (steps >= needed) tell();
        steps++;
        last = step;
      }
      return waiting.shift();
    },
    end() {
      tell();
      return waiting.splice(0);
    },
    judged: () => steps,
  };
}

/** Which of the expected names a series answers to. */
function nameOf({ name, part, evaluation }: Series, expected: readonly string[]): string | undefined {
  if (evaluation) return undefined;
  const bare = name.toLowerCase().replace(/^.*\//, '');
  return expected.find(
    (each) => bare === each || bare.startsWith(`${each}_`) || part === each || name === each,
  );
}

/** Counters with these words count what an objective was computed from; others may count what was filtered out. */
const OBJECTIVES = new Set(['sft', 'rft', 'dpo', 'ppo', 'grpo', 'rl', 'lm', 'llm', 'wm']);

const countedLosses: MonitorRule = {
  id: 'monitor/counted-losses',
  title: 'Where samples of an objective are counted, its loss is logged',
  stage: 'monitor',
  level: 'should',
  why: 'Samples are collected for a loss, and no loss of that name is ever logged: the branch that computes it does not run.',
  catches: ['ZL-01'],
  advice:
    'Follow these samples to the loss. If it is logged under another name, say so with a role for that series.',
  roles: [...LOSSES, 'samples'],
  settings: { points: inARow(5, 'With samples, and without a loss: the first batches may fill a buffer.') },
  watch: (world) => {
    const losses = new Set<Series>();
    const counted = new Map<Series, ReturnType<typeof streakOf>>();
    let judged = 0;
    return {
      point(series, step, value) {
        if (series.role !== 'samples') {
          losses.add(series);
          return undefined;
        }
        if (!wordsOf(series).some((word) => OBJECTIVES.has(word))) return undefined;
        judged++;
        const streak = counted.get(series) ?? streakOf(numberOf(world, 'points'));
        counted.set(series, streak);
        const missing = value > 0 && ![...losses].some((loss) => ofSamePart(series, loss));
        // A run with one loss of no name may have named its samples only.
        const others = [...losses].some(({ part }) => part !== '');
        if (!streak.next(missing && others, step) || streak.length > numberOf(world, 'points'))
          return undefined;
        return {
          kind: 'no loss',
          sentence: `${at(series, step)} is ${value}, and no loss of ${series.part} has been logged.`,
          series,
          step: streak.from,
          value,
        };
      },
      judged: () => judged,
      why: () => 'no samples of a named objective are counted',
    };
  },
};

export const expectedRules: readonly MonitorRule[] = [expectedLosses, countedLosses];
