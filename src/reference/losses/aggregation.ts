// From per-token losses (B, T) to one number. Every way is linear, so each is a matrix of factors: the loss is
// the sum of factor times per-token loss, and the gradient of the loss by a token's loss is its factor.
import type { LossAggregation, Matrix } from '../../vocabulary.ts';
import { at, cell } from '../shape.ts';

export interface Aggregation {
  readonly aggregation: LossAggregation;
  /** What `token-sum-norm` divides by; unused otherwise. */
  readonly norm: number;
  /** Whether `norm` is for the whole batch (default) or for each row, as TRL's dr_grpo divides by rows times norm. */
  readonly normPer?: 'batch' | 'row';
  /** Whether rows without any masked-in token count in the number of rows (default: they do, as in a plain mean). */
  readonly emptyRows?: 'count' | 'skip';
}

/**
 * The factor of each token (B, T), 0 outside the mask. With N tokens in the mask, n_b of them in row b, R rows:
 * token-mean 1/N (DAPO); seq-mean-token-mean 1/(R n_b) (GRPO, DeepSeekMath equation 3); seq-mean-token-sum 1/R;
 * token-sum-norm 1/norm (Dr. GRPO), or 1/(R norm) where the norm is per row. An empty mask gives factors of 0 and so a loss of 0, never NaN (bug NUM-01).
 */
export function tokenFactors(mask: Matrix, settings: Aggregation): number[][] {
  const lengths = mask.map((row) => row.filter(selected).length);
  const tokens = lengths.reduce((sum, length) => sum + length, 0);
  const rows = settings.emptyRows === 'skip' ? lengths.filter((length) => length > 0).length : mask.length;
  const factorOf = (length: number): number => {
    switch (settings.aggregation) {
      case 'token-mean':
        return 1 / tokens;
      case 'seq-mean-token-mean':
        return 1 / (rows * length);
      case 'seq-mean-token-sum':
        return 1 / rows;
      case 'token-sum-norm':
        return 1 / (settings.norm * (settings.normPer === 'row' ? mask.length : 1));
    }
  };
  return mask.map((row, b) => {
    const factor = factorOf(at(lengths, b));
    return row.map((m) => (selected(m) ? factor : 0));
  });
}

/** The aggregated loss of per-token losses (B, T). What stands outside the mask is not read: NaN there stays there. */
export function aggregate(perToken: Matrix, mask: Matrix, settings: Aggregation): number {
  let loss = 0;
  tokenFactors(mask, settings).forEach((row, b) => {
    row.forEach((factor, t) => {
      if (selected(cell(mask, b, t))) loss += factor * cell(perToken, b, t);
    });
  });
  return loss;
}

/** Masks are 0 and 1; anything but 0 selects. */
export function selected(mask: number): boolean {
  return mask !== 0;
}
