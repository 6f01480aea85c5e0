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
/** Half the spacing of numbers between 1 and 2. */
const ROUNDOFF: Readonly<Record<DType, number>> = {
  float64: 2 ** -53,
  float32: 2 ** -24,
  float16: 2 ** -11,
  bfloat16: 2 ** -8,
};
/**
 * Attention turns an error of a score into a relative error of a weight. Measured on 24 models of 2 layers, 3,840 tokens:
 * transformers was off by up to 5 (float32), 8 (float16) and 10 (bfloat16) times the rest of the formula.
 */
const ATTENTION_FACTOR = 24;
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

export interface ModelSize {
  readonly layers: number;
  readonly width: number;
  readonly vocabulary: number;
  /** Standard deviation of its weights. */
  readonly deviation: number;
  /** Tokens of the longest row. */
  readonly length: number;
  /** Divides the logits, and with them what they are off by. */
  readonly temperature: number;
}

/**
 * The tolerance of a log-probability that a whole model computed. With unit roundoff u, a state is rounded to u of its
 * size where it is stored, twice a layer and around the stack, and each of its sums of n terms errs by sqrt(n) u32, since
 * roundings are independent (Higham and Mary 2019) and sums are kept in float32 at least; errors of the steps add in
 * quadrature. The largest of V logits is deviation * sqrt(width) * sqrt(2 ln V). A model that computes in float64 keeps
 * norms and rotary angles in float32 all the same.
 */
export function modelTolerance(dtype: DType, size: ModelSize): Tolerance {
  const unit = Math.max(ROUNDOFF[dtype], ROUNDOFF.float32);
  const steps = 2 * size.layers + 2;
  const terms = Math.max(size.width, size.length);
  const logit =
    size.deviation * Math.sqrt(size.width) * Math.sqrt(2 * Math.log(Math.max(size.vocabulary, 2)));
  const absolute =
    (ATTENTION_FACTOR * Math.sqrt(steps) * (unit + Math.sqrt(terms) * ROUNDOFF.float32) * logit) /
    Math.min(size.temperature, 1);
  return {
    absolute,
    relative: 0,
    reason: `the trainer computes in ${dtype}: ${size.layers} layers of width ${size.width} over ${size.vocabulary} ids and rows of up to ${size.length} tokens may be off by ${Number(absolute.toPrecision(2))}`,
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
