// Rewards of single tokens: the score of a completion at its end, less a penalty for each token's KL (Ouyang et al. 2022,
// "Training language models to follow instructions with human feedback", equation 2; token by token as in Stiennon et
// al. 2020).
import type { Matrix } from '../../vocabulary.ts';
import { cell } from '../shape.ts';

/** What one row's rewards add up to: its score and process rewards less `klCoef` times the KL, over trained tokens. */
export function rowReward(
  row: number,
  given: {
    readonly scores: readonly number[];
    readonly processRewards: Matrix;
    readonly kl: Matrix;
    readonly mask: Matrix;
    readonly klCoef: number;
  },
): number {
  const { scores, processRewards, kl, mask, klCoef } = given;
  let total = scores[row] ?? Number.NaN;
  for (const [column, on] of (mask[row] ?? []).entries()) {
    if (on === 1) total += cell(processRewards, row, column) - klCoef * cell(kl, row, column);
  }
  return total;
}

/**
 * The columns that may carry the score of a row, the usual one first: its last trained token, and the slot right behind
 * it where there is one (TRL's PPO). None where no token is trained.
 */
export function scoreColumns(mask: readonly number[]): number[] {
  const last = mask.lastIndexOf(1);
  if (last < 0) return [];
  return last + 1 < mask.length ? [last, last + 1] : [last];
}
