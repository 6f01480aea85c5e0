// Whitening: numbers under a mask shifted and scaled to mean 0 and standard deviation 1, in the forms that are in use.
import { CHOICES, type Matrix, type Semantics } from '../../vocabulary.ts';

export interface WhitenVariant {
  /** Of the result: `zero`; `scaled`, the mean divided like everything else; `kept`, as it was (TRL's shift_mean=False). */
  readonly mean: 'zero' | 'scaled' | 'kept';
  readonly ddof: 0 | 1;
}

/** Mean and standard deviation of what is under the mask, in two passes; deviation 0 where `ddof` leaves nothing. */
export function moments(
  values: Matrix,
  mask: Matrix,
  ddof: number,
): { readonly mean: number; readonly deviation: number; readonly count: number } {
  const counted = underMask(values, mask);
  const mean = counted.reduce((sum, value) => sum + value, 0) / counted.length;
  const squares = counted.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const deviation = counted.length > ddof ? Math.sqrt(squares / (counted.length - ddof)) : 0;
  return { mean, deviation, count: counted.length };
}

/** The values under a mask of 1, row by row, (B, T) to (n,). */
export function underMask(values: Matrix, mask: Matrix): number[] {
  return values.flatMap((row, b) => row.filter((_, t) => mask[b]?.[t] === 1));
}

/** The variants that agree with what is declared, the usual one first. */
export function whitenVariants(semantics: Semantics): WhitenVariant[] {
  const { whiten_mean: mean, whiten_ddof: declared } = semantics;
  const means =
    mean === undefined
      ? (['zero', 'scaled', 'kept'] as const)
      : mean
        ? (['zero'] as const)
        : (['scaled', 'kept'] as const);
  const ddofs = declared === undefined ? CHOICES.whiten_ddof.values : [declared];
  return means.flatMap((mean) => ddofs.map((ddof) => ({ mean, ddof })));
}

/**
 * `values` (B, T) whitened over `mask`, outside of which they are 0. `shrink` is what an epsilon in the divisor leaves of
 * the deviation 1: deviation / (deviation + epsilon), or likewise under the root.
 */
export function whitened(values: Matrix, mask: Matrix, variant: WhitenVariant, shrink = 1): number[][] {
  const { mean, deviation } = moments(values, mask, variant.ddof);
  const scale = deviation === 0 ? 0 : shrink / deviation;
  const centre = { zero: 0, scaled: mean * scale, kept: mean }[variant.mean];
  return values.map((row, b) =>
    row.map((value, t) => (mask[b]?.[t] === 1 ? (value - mean) * scale + centre : 0)),
  );
}

/** An epsilon of at most this is a guard against a division by zero; a larger one is a scale of its own. */
const LARGEST_EPSILON = 1e-3;

/**
 * The `shrink` that the observed numbers imply, read off the value farthest from the mean, where rounding matters least;
 * between what the largest epsilon gives (added to the deviation or to the variance) and 1.
 */
export function impliedShrink(
  values: Matrix,
  mask: Matrix,
  observed: Matrix,
  variant: WhitenVariant,
): number {
  const { deviation } = moments(values, mask, variant.ddof);
  if (deviation === 0) return 1;
  const full = underMask(whitened(values, mask, { ...variant, mean: 'zero' }), mask);
  const seen = underMask(observed, mask);
  const centre = seen.reduce((sum, value) => sum + value, 0) / seen.length;
  const far = full.reduce((best, value, at) => (Math.abs(value) > Math.abs(full[best] ?? 0) ? at : best), 0);
  const implied = ((seen[far] ?? Number.NaN) - centre) / (full[far] ?? Number.NaN);
  const least = Math.min(
    deviation / (deviation + LARGEST_EPSILON),
    deviation / Math.sqrt(deviation ** 2 + LARGEST_EPSILON),
  );
  return Number.isNaN(implied) ? 1 : Math.min(1, Math.max(least, implied));
}

/** "minus their mean, divided by their standard deviation (ddof 1)". */
export function describeWhitening({ mean, ddof }: WhitenVariant): string {
  const divided = `divided by their standard deviation (ddof ${ddof})`;
  if (mean === 'zero') return `minus their mean, ${divided}`;
  return mean === 'scaled' ? divided : `${divided} around their mean, which stays`;
}
