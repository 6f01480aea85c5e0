// Log-probabilities of given tokens out of logits. Stable for logits of any size; no sampling, no model.
import type { Cube, Matrix } from '../../vocabulary.ts';
import { at, misuse } from '../shape.ts';

/**
 * log sum_v exp(z_v), nats, by subtracting the maximum (Blanchard, Higham and Higham 2021, "Accurately computing
 * the log-sum-exp and softmax functions"). -Infinity for an empty row or one of -Infinity only; NaN spreads.
 */
export function logSumExp(values: readonly number[]): number {
  const most = maximum(values);
  // inf - inf would be NaN where the answer is known.
  if (most === Infinity || most === -Infinity) return most;
  let sum = 0;
  for (const value of values) sum += Math.exp(value - most);
  return most + Math.log(sum);
}

/**
 * z - logSumExp(z), (V,), nats, never above 0. A row of -Infinity only has no distribution: all -Infinity. Entries at
 * +Infinity share the whole probability (the limit), so they are -log(their number) and all others -Infinity.
 */
export function logSoftmax(row: readonly number[]): number[] {
  const most = maximum(row);
  if (most === -Infinity) return row.map(() => -Infinity);
  if (most === Infinity) {
    const sharing = row.filter((value) => value === Infinity).length;
    return row.map((value) => (value === Infinity ? -Math.log(sharing) : -Infinity));
  }
  let sum = 0;
  for (const value of row) sum += Math.exp(value - most);
  const logSum = Math.log(sum);
  // Two small subtractions lose less than one of a large sum.
  return row.map((value) => value - most - logSum);
}

/**
 * Token-aligned log-probabilities (B, T): [b][t] = logSoftmax(z[b][t-1] / temperature)[x[b][t]]. Column 0 is NaN,
 * since nothing predicts it; so is a token outside the vocabulary. Padding is scored like any token: mask it.
 * Throws `bad_argument` for a temperature that is not above 0, `bad_shape` for logits smaller than the ids.
 */
export function logprobsOf(logits: Cube, ids: Matrix, temperature = 1): number[][] {
  if (!(temperature > 0)) {
    throw misuse('bad_argument', `temperature must be above 0, not ${temperature}`);
  }
  return ids.map((row, b) =>
    row.map((id, t) => {
      if (t === 0) return Number.NaN;
      const predicting = at(at(logits, b), t - 1);
      return logSoftmax(predicting.map((z) => z / temperature))[id] ?? Number.NaN;
    }),
  );
}

/** Shannon entropy -sum_v p_v log p_v of softmax(row), nats, between 0 and log V; impossible tokens count 0. */
export function entropyOf(row: readonly number[]): number {
  return logSoftmax(row).reduce((sum, logp) => (logp === -Infinity ? sum : sum - Math.exp(logp) * logp), 0);
}

/**
 * KL(p || q) = sum_v p_v (log p_v - log q_v) of softmax(policy) and softmax(reference), nats. A token that p cannot
 * produce adds nothing; one that q alone cannot makes it infinite.
 */
export function fullKlOf(policy: readonly number[], reference: readonly number[]): number {
  const [p, q] = [logSoftmax(policy), logSoftmax(reference)];
  let sum = 0;
  for (let id = 0; id < p.length; id += 1) {
    const logp = at(p, id);
    if (logp !== -Infinity) sum += Math.exp(logp) * (logp - at(q, id));
  }
  return sum;
}

// Not Math.max(...row): a vocabulary can exceed the number of arguments that a call may have.
function maximum(values: readonly number[]): number {
  let most = -Infinity;
  for (const value of values) if (value > most || Number.isNaN(value)) most = value;
  return most;
}
