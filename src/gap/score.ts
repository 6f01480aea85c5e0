// How well a fit predicts the gap of rows that it has not seen: nats per row over plain noise. Noise is Student's t, so
// that a few wild tokens decide nothing, with a width for each range of probability: rounding moves unlikely tokens most.
import type { Fit } from './cause.ts';
import { gapAt, type Tokens } from './tokens.ts';

export interface Score {
  /** Mean over rows, and how many standard errors it is above 0. */
  readonly gain: number;
  readonly certainty: number;
  /** Of the held-out gap, in mean |d|: what the cause accounts for. */
  readonly share: number;
}

/** Density of a gap that is `left` of what the fit explains, once the widths are fitted. */
type Density = (at: number) => number;

export const NO_FIT: Pick<Fit, 'left' | 'width'> = {};

export function scoreOf(
  tokens: Tokens,
  fit: Pick<Fit, 'left' | 'width'>,
  { fitted, heldOut }: { readonly fitted: Uint32Array; readonly heldOut: Uint32Array },
): Score {
  const one = densityOf(tokens, fit, fitted);
  const none = densityOf(tokens, NO_FIT, fitted);
  const gains = new Map<number, number>();
  let [whole, rest] = [0, 0];
  for (const at of heldOut) {
    const row = tokens.row[at] ?? 0;
    gains.set(row, (gains.get(row) ?? 0) + one(at) - none(at));
    whole += Math.abs(gapAt(tokens, at));
    rest += Math.abs(leftAt(tokens, fit, at)) / (fit.width?.(at) ?? 1);
  }
  const values = [...gains.values()];
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { gain: mean, certainty: mean / Math.sqrt(variance / values.length), share: 1 - rest / whole };
}

export function leftAt(tokens: Tokens, { left }: Pick<Fit, 'left'>, at: number): number {
  return left === undefined ? gapAt(tokens, at) : left(at);
}

/** The width of noise at each token, fitted to what a fit leaves. */
export function widthsOf(
  tokens: Tokens,
  fit: Pick<Fit, 'left' | 'width'>,
  places: Uint32Array,
): (at: number) => number {
  const found = new Float64Array(EDGES.length + 1).fill(START);
  for (let round = 0; round < ROUNDS; round++) {
    const sums = new Float64Array(found.length).fill(0);
    const counts = new Float64Array(found.length);
    for (const at of places) {
      const range = rangeOf(tokens.trainer[at] ?? 0);
      const square = (leftAt(tokens, fit, at) / (fit.width?.(at) ?? 1)) ** 2;
      const width = found[range] ?? START;
      sums[range] = (sums[range] ?? 0) + (square * (FREEDOM + 1)) / (FREEDOM + square / (width * width));
      counts[range] = (counts[range] ?? 0) + 1;
    }
    const all = sums.reduce((a, b) => a + b, 0) / Math.max(1, places.length);
    // A range of few tokens leans on the whole.
    for (const range of found.keys())
      found[range] = Math.max(
        LEAST_WIDTH,
        Math.sqrt(((sums[range] ?? 0) + PRIOR * all) / ((counts[range] ?? 0) + PRIOR)),
      );
  }
  return (at) => (found[rangeOf(tokens.trainer[at] ?? 0)] ?? START) * (fit.width?.(at) ?? 1);
}

// --- helpers ---

function densityOf(tokens: Tokens, fit: Pick<Fit, 'left' | 'width'>, fitted: Uint32Array): Density {
  const widthAt = widthsOf(tokens, fit, fitted);
  return (at) => {
    const width = widthAt(at);
    const ratio = leftAt(tokens, fit, at) / width;
    return -Math.log(width) - ((FREEDOM + 1) / 2) * Math.log1p((ratio * ratio) / FREEDOM);
  };
}

/** Of Student's t: heavier tails than any rounding has. */
const FREEDOM = 3;
/** float32 tells no two log-probabilities apart that are nearer. */
const LEAST_WIDTH = 1e-6;
const START = 0.1;
const PRIOR = 2;
/** The widths stand still within 1 % after as many. */
const ROUNDS = 12;
/** Of the trainer's log-probability. */
const EDGES = [-4, -2, -1, -0.5, -0.1, -0.01, -0.001, -0.0001];

function rangeOf(logprob: number): number {
  let range = 0;
  while (range < EDGES.length && logprob > (EDGES[range] ?? 0)) range++;
  return range;
}
