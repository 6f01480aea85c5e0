// The row kernel as a plain loop in float64: the definition that every other backend is tested against. It stands on
// its own, without imports, because worker threads are given its text.
import type { LogitRows, RowPieces, RowsInput } from './rows.ts';

/** The value of each pattern of bits; absent where an input has none in half precision. */
export interface Halves {
  readonly bfloat16: Float64Array;
  readonly float16: Float64Array;
}

/**
 * Fills `pieces` for rows [from, to). Infinite logits as in `logSoftmax`: entries at +Infinity share the probability,
 * a row of -Infinity only has none; NaN spreads over its row.
 */
export function fillPieces(
  input: RowsInput,
  pieces: RowPieces,
  from: number,
  to: number,
  halves: Halves | undefined,
): void {
  const { policy, reference, targets, vocab, temperature } = input;
  const load = ({ dtype, data }: LogitRows, row: number, into: Float64Array): void => {
    const at = row * vocab;
    const values = halves?.[dtype as keyof Halves];
    if (values === undefined) for (let v = 0; v < vocab; v++) into[v] = data[at + v] as number;
    else for (let v = 0; v < vocab; v++) into[v] = values[data[at + v] as number] as number;
  };
  /** Makes logits z into (z - most) / temperature, and says whether one is NaN. */
  const reduce = (z: Float64Array): boolean => {
    let most = Number.NEGATIVE_INFINITY;
    let sane = true;
    for (let v = 0; v < vocab; v++) {
      const value = z[v] as number;
      if (value > most) most = value;
      else if (Number.isNaN(value)) sane = false;
    }
    if (most === Number.POSITIVE_INFINITY)
      for (let v = 0; v < vocab; v++) z[v] = z[v] === most ? 0 : Number.NEGATIVE_INFINITY;
    else if (most !== Number.NEGATIVE_INFINITY)
      for (let v = 0; v < vocab; v++) z[v] = ((z[v] as number) - most) / temperature;
    return sane;
  };
  const [z, r] = [new Float64Array(vocab), new Float64Array(vocab)];
  for (let row = from; row < to; row++) {
    const target = targets[row] as number;
    load(policy, row, z);
    let sane = reduce(z);
    let [sum, dot, cross, referenceSum] = [0, 0, 0, 0];
    if (reference === undefined) {
      for (let v = 0; v < vocab; v++) {
        const d = z[v] as number;
        const e = Math.exp(d);
        sum += e;
        // An impossible token adds nothing, and 0 * -Infinity would be NaN.
        if (e > 0) dot += e * d;
      }
      [referenceSum, cross] = [sum, dot];
    } else {
      load(reference, row, r);
      sane = reduce(r) && sane;
      for (let v = 0; v < vocab; v++) {
        const [d, other] = [z[v] as number, r[v] as number];
        const e = Math.exp(d);
        sum += e;
        referenceSum += Math.exp(other);
        if (e > 0) {
          dot += e * d;
          cross += e * other;
        }
      }
    }
    // Of no distribution there is no distance: what KL adds for the reference is taken off again.
    if (sum === 0) cross = Math.log(referenceSum || 1);
    const none = Number.NaN;
    pieces.sum[row] = sane ? sum || 1 : none;
    pieces.dot[row] = sane ? dot : none;
    pieces.cross[row] = sane ? cross : none;
    pieces.referenceSum[row] = sane ? referenceSum || 1 : none;
    pieces.target[row] = sane ? (z[target] as number) : none;
    pieces.referenceTarget[row] = sane ? ((reference === undefined ? z : r)[target] as number) : none;
  }
}
