// Discounted returns, what a policy gradient without a critic weighs its tokens by (Williams 1992, REINFORCE; Hu et al. 2025,
// REINFORCE++), as the sum that they are defined by rather than by its recursion. Not whitened.
import type { Matrix } from '../../vocabulary.ts';
import { cell } from '../shape.ts';

/**
 * Returns (B, T) of rewards (B, T), where `mask` is 1; 0 elsewhere. The steps of a row are its trained tokens, as in
 * `gaeAdvantages`: R_k is the sum over j >= k of gamma^(j - k) r_j, and nothing comes behind the last step.
 */
export function discountedReturns(rewards: Matrix, mask: Matrix, gamma: number): number[][] {
  return mask.map((marks, row) => {
    const steps = marks.flatMap((on, column) => (on === 1 ? [column] : []));
    return marks.map((on, column) => {
      if (on !== 1) return 0;
      const toCome = steps.slice(steps.indexOf(column));
      return toCome.reduce((sum, at, k) => sum + gamma ** k * cell(rewards, row, at), 0);
    });
  });
}

/** Returns of each turn alone, as if every stretch of trained tokens were a row of its own. */
export function returnsOfTurns(rewards: Matrix, mask: Matrix, gamma: number): number[][] {
  return mask.map((marks, row) => {
    const returns = marks.map(() => 0);
    for (let column = marks.length - 1; column >= 0; column--)
      if (marks[column] === 1)
        returns[column] = cell(rewards, row, column) + gamma * (returns[column + 1] ?? 0);
    return returns;
  });
}
