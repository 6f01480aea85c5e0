// Generalised advantage estimation (Schulman et al. 2016, "High-dimensional continuous control using generalized
// advantage estimation", equations 11 and 16), as the sum that it is defined by rather than by its recursion.
import type { Matrix } from '../../vocabulary.ts';
import { cell } from '../shape.ts';

/**
 * Advantages (B, T) of rewards and values (B, T), where `mask` is 1; 0 elsewhere. The steps of a row are its trained
 * tokens: what stands between them was not decided by the policy and takes no time. With d_k = r_k + gamma V_k+1 - V_k,
 * A_k is the sum over j >= k of (gamma lam)^(j - k) d_j, and there is no value behind the last step.
 */
export function gaeAdvantages(
  rewards: Matrix,
  values: Matrix,
  mask: Matrix,
  gamma: number,
  lam: number,
): number[][] {
  return mask.map((marks, row) => {
    const steps = marks.flatMap((on, column) => (on === 1 ? [column] : []));
    const valueAt = (step: number): number =>
      step < steps.length ? cell(values, row, steps[step] ?? -1) : 0;
    const deltas = steps.map(
      (column, step) => cell(rewards, row, column) + gamma * valueAt(step + 1) - valueAt(step),
    );
    return marks.map((on, column) => {
      if (on !== 1) return 0;
      const from = steps.indexOf(column);
      return deltas.slice(from).reduce((sum, delta, k) => sum + (gamma * lam) ** k * delta, 0);
    });
  });
}
