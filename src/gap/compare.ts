// What two recorded sides differ by, in the measures that frameworks log, and what that does to training: importance
// weights w = p(trainer) / p(sampling), their effective sample size, what TIS cuts and IcePop masks.
import { gapAt, SEEN_IN_COMPLETION, type Tokens } from './tokens.ts';

export interface Comparison {
  readonly rows: number;
  readonly tokens: number;
  readonly meanAbs: number;
  readonly rms: number;
  /** Mean of |p(trainer) - p(sampling)|, as verl logs it: rollout_probs_diff_mean. */
  readonly probabilityGap: number;
  /** Estimates of KL(sampling, trainer) per token. */
  readonly k1: number;
  readonly k3: number;
  /** 1 where the recorded side is the one that was sampled from and no token was cut off; below 1 with top-p or top-k. */
  readonly meanWeight: number;
  /** Standard deviation of the weights. */
  readonly weightDeviation: number;
  /** Share of the sample that is left, with a weight per token and per completion. */
  readonly essTokens: number;
  readonly essRows: number;
  /** Shares of tokens: beyond 1 ± CLIP, above TIS_CAP, outside ICEPOP. */
  readonly clipped: number;
  readonly tis: number;
  readonly icepop: number;
}

/** PPO's usual range of the ratio. */
export const CLIP = 0.2;
/** verl's and TRL's default bound of the weight in truncated importance sampling. */
export const TIS_CAP = 2;
/** The range of the ratio in which IcePop keeps a token. */
export const ICEPOP: readonly [number, number] = [0.5, 5];

/** p(trainer) / p(sampling) of a token, within what verl bounds it to, so that one value of nonsense stays a number. */
export function weightAt(tokens: Tokens, at: number): number {
  return Math.exp(Math.max(-MOST_LOG_WEIGHT, Math.min(MOST_LOG_WEIGHT, gapAt(tokens, at))));
}
/** verl's safety bound of the log-ratio (docs/algo/rollout_corr.md, stage 1). */
const MOST_LOG_WEIGHT = 20;

export function compare(tokens: Tokens): Comparison {
  const { count, rows, sampling, trainer, row } = tokens;
  const ofRow = new Float64Array(rows);
  let [abs, squares, probabilities, k1, k3, weights, weightSquares] = [0, 0, 0, 0, 0, 0, 0];
  let [clipped, tis, icepop] = [0, 0, 0];
  for (let at = 0; at < count; at++) {
    const gap = gapAt(tokens, at);
    const weight = weightAt(tokens, at);
    abs += Math.abs(gap);
    squares += gap * gap;
    probabilities += Math.abs(Math.exp(trainer[at] ?? 0) - Math.exp(sampling[at] ?? 0));
    k1 -= gap;
    k3 += weight - 1 - gap;
    weights += weight;
    weightSquares += weight * weight;
    ofRow[row[at] ?? 0] = (ofRow[row[at] ?? 0] ?? 0) + gap;
    if (Math.abs(weight - 1) > CLIP) clipped++;
    if (weight > TIS_CAP) tis++;
    if (weight < ICEPOP[0] || weight > ICEPOP[1]) icepop++;
  }
  return {
    rows,
    tokens: count,
    meanAbs: abs / count,
    rms: Math.sqrt(squares / count),
    probabilityGap: probabilities / count,
    k1: k1 / count,
    k3: k3 / count,
    meanWeight: weights / count,
    weightDeviation: Math.sqrt(Math.max(0, weightSquares / count - (weights / count) ** 2)),
    essTokens: (weights * weights) / weightSquares / count,
    essRows: essOf(ofRow),
    clipped: clipped / count,
    tis: tis / count,
    icepop: icepop / count,
  };
}

export interface Part {
  readonly name: string;
  readonly tokens: number;
  readonly meanAbs: number;
  /** With its sign. */
  readonly mean: number;
}

export interface Breakdown {
  readonly by: string;
  readonly parts: readonly Part[];
}

/** The gap by what a token is, where it stands, how likely it was, how long its row is, and the age of its weights. */
export function breakdowns(tokens: Tokens): readonly Breakdown[] {
  const { id, position, after, seen, sampling, age } = tokens;
  const counts = new Map<number, number>();
  for (const each of id.subarray(0, tokens.count)) counts.set(each, (counts.get(each) ?? 0) + 1);
  const length = (at: number): number => (position[at] ?? 0) + (after[at] ?? 0) + 1;
  const classOf = (at: number): string => {
    if (position[at] === 0) return 'first';
    if (after[at] === 0) return 'last';
    if ((seen[at] ?? 0) & SEEN_IN_COMPLETION) return 'repeated';
    return counts.get(id[at] ?? 0) === 1 ? 'once in the file' : 'other';
  };
  return [
    partsBy('token', tokens, classOf, ['first', 'last', 'repeated', 'once in the file', 'other']),
    partsBy('position', tokens, (at) => rangeOf(position[at] ?? 0)),
    partsBy('probability', tokens, (at) => probabilityOf(sampling[at] ?? 0), PROBABILITIES),
    partsBy('length', tokens, (at) => rangeOf(length(at))),
    partsBy('age of the weights', tokens, (at) => (Number.isNaN(age[at]) ? undefined : String(age[at]))),
  ].filter(({ parts }) => parts.length > 1);
}

// --- helpers ---

/** Weights of whole completions overflow: they are taken relative to the largest. */
function essOf(logs: Float64Array): number {
  const most = logs.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  let [sum, squares] = [0, 0];
  for (const log of logs) {
    const weight = Math.exp(log - most);
    sum += weight;
    squares += weight * weight;
  }
  return (sum * sum) / squares / logs.length;
}

const PROBABILITIES = ['above 0.99', '0.9 to 0.99', '0.5 to 0.9', '0.1 to 0.5', 'below 0.1'];

function probabilityOf(logprob: number): string {
  const place = [0.99, 0.9, 0.5, 0.1].findIndex((least) => logprob > Math.log(least));
  return PROBABILITIES[place < 0 ? PROBABILITIES.length - 1 : place] ?? '';
}

/** 0, 1 to 3, 4 to 15, 16 to 63... */
function rangeOf(value: number): string {
  if (value === 0) return '0';
  const from = 4 ** Math.floor(Math.log(value) / Math.log(4) + ROUNDING);
  return `${from} to ${4 * from - 1}`;
}
const ROUNDING = 1e-9;

/** More are no table any more. */
const MOST_PARTS = 12;

function partsBy(
  by: string,
  tokens: Tokens,
  nameOf: (at: number) => string | undefined,
  order?: readonly string[],
): Breakdown {
  const sums = new Map<string, { tokens: number; abs: number; sum: number }>();
  for (let at = 0; at < tokens.count; at++) {
    const name = nameOf(at);
    if (name === undefined) continue;
    const known = sums.get(name) ?? { tokens: 0, abs: 0, sum: 0 };
    const gap = gapAt(tokens, at);
    known.tokens++;
    known.abs += Math.abs(gap);
    known.sum += gap;
    sums.set(name, known);
  }
  const names = order ?? [...sums.keys()].sort((a, b) => Number.parseFloat(a) - Number.parseFloat(b));
  const parts = names.flatMap((name) => {
    const sum = sums.get(name);
    if (sum === undefined) return [];
    const { tokens: count, abs } = sum;
    return [{ name, tokens: count, meanAbs: abs / count, mean: sum.sum / count }];
  });
  return { by, parts: parts.slice(0, MOST_PARTS) };
}
