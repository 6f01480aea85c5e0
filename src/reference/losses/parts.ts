// A batch whose micro-batches have denominators of their own: the mean of what each of them gives alone.
import type { Matrix } from '../../vocabulary.ts';
import { at } from '../shape.ts';

/** A loss of per-token numbers. */
export interface TokenLoss {
  readonly loss: number;
  /** Its slope by the number of each token (B, T), 0 where nothing is trained. */
  readonly weights: number[][];
  /** Trained tokens. */
  readonly tokens: number;
}

/**
 * The mean of the K losses that `lossOf` gives for each list of row indices. It depends on the partition, which is the
 * point (bug LOSS-01 where it is not declared). `like` is any matrix of the batch (B, T).
 */
export function meanOfParts(
  like: Matrix,
  microBatches: readonly (readonly number[])[],
  lossOf: (rows: readonly number[]) => TokenLoss,
): TokenLoss {
  const share = 1 / microBatches.length;
  const weights = like.map((row) => row.map(() => 0));
  let [loss, tokens] = [0, 0];
  for (const rows of microBatches) {
    const part = lossOf(rows);
    loss += share * part.loss;
    tokens += part.tokens;
    rows.forEach((b, i) => {
      weights[b] = at(part.weights, i).map((weight) => share * weight);
    });
  }
  return { loss, weights, tokens };
}

/** These rows of a list, in the order given. */
export function pick<T>(list: readonly T[], rows: readonly number[]): T[] {
  return rows.map((b) => at(list, b));
}
