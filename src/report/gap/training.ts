// What a gap does to training, in words: each measure with the range that a public page calls healthy, the bias of the
// gradient's weights, and what corrections leave of it.
import { CLIP, type Comparison, ICEPOP, TIS_CAP } from '../../gap/compare.ts';
import type { Gap } from '../../gap/gap.ts';
import { HEALTHY, isHealthy, MEASURES, type Measure, SOURCES } from '../../gap/healthy.ts';
import { type Correction, type Group, isTilted } from '../../gap/training.ts';
import { percent } from './numbers.ts';

export interface Line {
  readonly what: string;
  readonly value: string;
  /** "0.5 to 2 (verl)"; undefined: no public page has one. */
  readonly healthy?: string;
  readonly isOutside?: boolean;
}

/** The measures that have a range, and those beside them. */
export function measureLines({ comparison: c }: Gap): readonly Line[] {
  return [
    judged('KL, k1', 'k1', c),
    judged('KL, k3', 'k3', c),
    judged('mean weight', 'meanWeight', c),
    judged('SD of weights', 'weightDeviation', c),
    judged('ESS', 'essTokens', c, `${percent(c.essTokens)} of tokens`),
    { what: 'ESS of completions', value: `${percent(c.essRows)}, for weights per completion` },
    { what: `beyond 1 ± ${CLIP}`, value: `${percent(c.clipped)} of tokens` },
    judged('cut by TIS', 'tis', c, `${percent(c.tis)} of tokens, above ${TIS_CAP}`),
    judged('masked by IcePop', 'icepop', c, `${percent(c.icepop)} of tokens, outside ${ICEPOP.join(' to ')}`),
  ];
}

/** The bias of the gradient's weights: without a correction, with each, and which tokens it is on. */
export function biasLines({ training: { corrections, groups } }: Gap): readonly Line[] {
  return [
    ...corrections.map((each) => ({ what: BIAS_NAMES[each.name], value: biasOf(each) })),
    ...groups.map((group) => ({ what: group.name, value: excessOf(group) })),
  ];
}

/** In a sentence: is training in the ranges, and if not, what is outside. */
export function trainingSentence({ comparison, training }: Gap): string {
  const outside = MEASURES.filter((measure) => !isHealthy(comparison, measure));
  const none = training.corrections.find(({ name }) => name === 'none');
  const bias =
    none === undefined
      ? ''
      : ` ${none.size > 1 ? 'All' : percent(none.size)} of the gradient's weight is on the wrong tokens.`;
  return outside.length === 0
    ? `All measures are in the healthy ranges.${bias}`
    : `Outside the healthy range: ${outside.map((measure) => NAMES[measure]).join(', ')}.${bias}`;
}

/** Each source that a range is from, once. */
export function sourcesShown(): readonly { readonly name: string; readonly page: string }[] {
  return [...new Set(MEASURES.map((measure) => HEALTHY[measure].source))].map((name) => SOURCES[name]);
}

export function rangeText(measure: Measure): string {
  const { least, most, source } = HEALTHY[measure];
  const shown = SHARES.has(measure) ? percent : String;
  const range =
    least === undefined
      ? `up to ${shown(most ?? 0)}`
      : most === undefined
        ? `at least ${shown(least)}`
        : `${shown(least)} to ${shown(most)}`;
  return `${range} (${SOURCES[source].name})`;
}

// --- helpers ---

const SHARES: ReadonlySet<Measure> = new Set(['essTokens', 'tis', 'icepop']);
const NAMES: Readonly<Record<Measure, string>> = {
  k1: 'KL (k1)',
  k3: 'KL (k3)',
  meanWeight: 'mean weight',
  weightDeviation: 'SD of weights',
  essTokens: 'ESS',
  tis: 'tokens cut by TIS',
  icepop: 'tokens masked by IcePop',
};
const BIAS_NAMES: Readonly<Record<Correction['name'], string>> = {
  none: 'bias, no correction',
  TIS: 'bias with TIS',
  IcePop: 'bias with IcePop',
};

function judged(what: string, measure: Measure, comparison: Comparison, value?: string): Line {
  return {
    what,
    // Three digits: two may round a value into the range.
    value: value ?? String(Number(comparison[measure].toPrecision(3))),
    healthy: rangeText(measure),
    isOutside: !isHealthy(comparison, measure),
  };
}

function biasOf({ size, sign, ess }: Correction): string {
  const left = `ESS ${percent(ess)}`;
  if (size < NOTHING) return `none; ${left}`;
  const total = Math.abs(sign) < EVEN ? 'balanced' : `in total too ${sign > 0 ? 'much' : 'little'}`;
  return `${size > 1 ? 'all' : percent(size)} of the weight is on the wrong tokens, ${total}; ${left}`;
}
/** Of float32 rounding. */
const NOTHING = 1e-4;
/** Half a percent is 0 % to read. */
const EVEN = 0.005;

function excessOf(group: Group): string {
  const { excess, error } = group;
  if (!isTilted(group)) return 'count as they should, within chance and rounding';
  return `count ${percent(Math.abs(excess))} too ${excess > 0 ? 'much' : 'little'} (± ${percent(error)})`;
}
