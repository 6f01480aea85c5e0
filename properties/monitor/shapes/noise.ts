// The noise of single values of a series that moves: how far they lie from the median of the 17 around them (1.4826 MAD),
// which a trend does not change and a bend hardly, or what neighbours differ by (noiseOf) where that is more. Values that
// resemble their neighbours (smoothed logs, micro-batches of one step, batches in an order) differ from the middle by more than
// from each other: of n values that are alike, the squared ratio of the two is about n, which is how many points tell as
// much as one.
import { median, noiseOf } from '../../../src/index.ts';

export interface Noise {
  readonly deviation: number;
  /** Points that tell as much as one: 1 to 8. */
  readonly alike: number;
}

/** Values on either side. */
const HALF = 8;
/** Of a ratio of 1: less is alike. */
const ALIKE = 0.6;
/** Micro-batches of one step are seldom more. */
const MOST_ALIKE = 8;
/** 1 / Phi^-1(3/4). */
const NORMAL = 1.4826;

export function noiseOver(values: readonly number[]): Noise {
  const near = noiseOf(values) || 0;
  // At the ends the values around lie on one side.
  const inner = values
    .slice(HALF, -HALF)
    .map((value, at) => Math.abs(value - median(values.slice(at, at + 2 * HALF + 1))));
  const wide = inner.length < HALF ? 0 : NORMAL * median(inner);
  const ratio = wide > 0 ? near / wide : 1;
  return {
    deviation: Math.max(near, wide),
    alike: ratio >= ALIKE ? 1 : Math.min(MOST_ALIKE, Math.max(2, Math.round(1 / ratio ** 2))),
  };
}
