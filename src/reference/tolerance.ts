// How far a correct trainer may be from the float64 reference, by the precision it computes in. Integers are
// never compared with a tolerance.
import type { DType } from '../vocabulary.ts';

export interface Tolerance {
  readonly absolute: number;
  readonly relative: number;
  /** One sentence for the report. */
  readonly reason: string;
}

/**
 * float64: the reference itself is checked to 1e-9. float32: u = 6e-8, times the factor of 100 to 1000 that
 * log-softmax and exp lose. bfloat16 (u = 3.9e-3) and float16 (u = 4.9e-4): log-probabilities in the deep tail were
 * measured 0.13 nat off in bfloat16; the float16 band is that, scaled by u.
 */
const BANDS: Readonly<Record<DType, { absolute: number; relative: number }>> = {
  float64: { absolute: 1e-12, relative: 1e-9 },
  float32: { absolute: 1e-5, relative: 1e-4 },
  bfloat16: { absolute: 0.15, relative: 2e-2 },
  float16: { absolute: 2e-2, relative: 3e-3 },
};
/** A sum of n rounded terms errs by at most n u; the bands above leave room for this many terms of size 1. */
const TERMS_COVERED = 100;

/** The tolerance for a number that sums `terms` rounded terms (default 1); its absolute part grows with them. */
export function tolerance(dtype: DType, options: { readonly terms?: number } = {}): Tolerance {
  const terms = Math.max(1, options.terms ?? 1);
  const { absolute, relative } = BANDS[dtype];
  const growth = Math.max(1, terms / TERMS_COVERED);
  const summed = growth > 1 ? `, for a sum of ${terms} terms` : '';
  const shown = Number((absolute * growth).toPrecision(3));
  return {
    absolute: absolute * growth,
    relative,
    reason: `the trainer computes in ${dtype}: off by at most ${shown}, or ${relative} of the value${summed}`,
  };
}

/** Within tolerance. NaN equals NaN only, and an infinity only itself. */
export function close(observed: number, expected: number, tol: Tolerance): boolean {
  if (Number.isNaN(expected) || Number.isNaN(observed)) {
    return Number.isNaN(expected) && Number.isNaN(observed);
  }
  if (!Number.isFinite(expected) || !Number.isFinite(observed)) return observed === expected;
  return Math.abs(observed - expected) <= allowed(expected, tol);
}

/** The largest difference from `expected` that is still within tolerance; 0 for NaN and the infinities. */
export function allowed(expected: number, tol: Tolerance): number {
  return Number.isFinite(expected) ? Math.max(tol.absolute, tol.relative * Math.abs(expected)) : 0;
}
