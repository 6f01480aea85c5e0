// The row kernel as a plain loop in float64: the definition that every other backend is tested against. It stands on
// its own, without imports, because worker threads are given its text.
import type { LogitRows, RowPieces, RowsInput } from './rows.ts';

export interface Tables {
  /** The value of each pattern of bits. */
  readonly bfloat16: Float64Array;
  readonly float16: Float64Array;
  /** 2^(j / 256), j from 0 to 255. */
  readonly fractions: Float64Array;
  /** 2^(k - 1076), k from 0 to 1076. */
  readonly powers: Float64Array;
}

/**
 * Fills `pieces` for rows [from, to). Infinite logits as in `logSoftmax`: entries at +Infinity share the probability,
 * a row of -Infinity only has none; NaN spreads over its row.
 */
export type FillPieces = (input: RowsInput, pieces: RowPieces, from: number, to: number) => void;

/** The loop with its tables. Each part of a row is a function of its own, which V8 then compiles once and for all. */
export function rowLoop({ bfloat16, float16, fractions, powers }: Tables): FillPieces {
  function load({ dtype, data }: LogitRows, row: number, into: Float64Array): void {
    const at = row * into.length;
    const values = dtype === 'bfloat16' ? bfloat16 : dtype === 'float16' ? float16 : undefined;
    if (values === undefined) for (let v = 0; v < into.length; v++) into[v] = data[at + v] as number;
    else for (let v = 0; v < into.length; v++) into[v] = values[data[at + v] as number] as number;
  }

  /** NaN where one is. */
  function largest(z: Float64Array): number {
    let most = Number.NEGATIVE_INFINITY;
    for (let v = 0; v < z.length; v++) most = Math.max(most, z[v] as number);
    return most;
  }

  /** What is taken off each logit; where some are +Infinity, those share the probability and become 0 first. */
  function levelled(z: Float64Array, most: number): number {
    if (Math.abs(most) !== Number.POSITIVE_INFINITY) return most;
    if (most > 0) for (let v = 0; v < z.length; v++) z[v] = z[v] === most ? 0 : Number.NEGATIVE_INFINITY;
    return 0;
  }

  /**
   * e^d for d <= 0, part of the loop where Math.exp is a call each time. With d = (256 k + j) ln 2 / 256 + q it is
   * 2^k 2^(j/256) e^q, and as |q| <= ln 2 / 512, four terms of Taylor's series leave 4e-17 of e^q. After Tang,
   * "Table-driven implementation of the exponential function in IEEE floating-point arithmetic", ACM TOMS 15, 1989.
   */
  function exponential(d: number): number {
    const STEPS = 256 / Math.LN2;
    // ln 2 / 256 in two parts: a whole multiple of the first is exact. The last number is what a float64 leaves of ln 2.
    const HIGH = 726817 / 2 ** 28;
    const LOW = Math.LN2 / 256 - HIGH + 2.3190468138462996e-17 / 256;
    // Added and taken off again, it leaves the nearest whole number.
    const ROUND = 1.5 * 2 ** 52;
    // Below, e^d is less than the smallest number.
    if (!(d > -746)) return 0;
    const steps = d * STEPS + ROUND - ROUND;
    const q = d - steps * HIGH - steps * LOW;
    const whole = steps | 0;
    const fraction = fractions[whole & 255] as number;
    return (
      (fraction + fraction * (q + q * q * (1 / 2 + q * (1 / 6 + q / 24)))) *
      (powers[(whole >> 8) + 1076] as number)
    );
  }

  /** Makes logits into d = (z - level) / temperature, and returns Σ e^d. */
  function spread(z: Float64Array, level: number, inverse: number): number {
    let sum = 0;
    for (let v = 0; v < z.length; v++) {
      const d = ((z[v] as number) - level) * inverse;
      z[v] = d;
      sum += exponential(d);
    }
    return sum;
  }

  /** Puts Σ e^d, Σ e^d d and Σ e^d d' into `sums`, of logits z and of d'. */
  function weigh(
    z: Float64Array,
    level: number,
    inverse: number,
    others: Float64Array,
    sums: Float64Array,
  ): void {
    let sum = 0;
    let dot = 0;
    let cross = 0;
    for (let v = 0; v < z.length; v++) {
      const d = ((z[v] as number) - level) * inverse;
      const e = exponential(d);
      sum += e;
      // An impossible token adds nothing, and 0 * -Infinity would be NaN.
      if (e > 0) {
        dot += e * d;
        cross += e * (others[v] as number);
      }
    }
    sums[0] = sum;
    sums[1] = dot;
    sums[2] = cross;
  }

  return ({ policy, reference, targets, vocab, temperature }, pieces, from, to) => {
    const inverse = 1 / temperature;
    const z = new Float64Array(vocab);
    const r = new Float64Array(vocab);
    const sums = new Float64Array(3);
    for (let row = from; row < to; row++) {
      load(policy, row, z);
      if (reference !== undefined) load(reference, row, r);
      const most = largest(z);
      const otherMost = reference === undefined ? most : largest(r);
      if (Number.isNaN(most) || Number.isNaN(otherMost)) {
        for (const piece of Object.values(pieces)) piece[row] = Number.NaN;
        continue;
      }
      const level = levelled(z, most);
      const referenceSum = reference === undefined ? 0 : spread(r, levelled(r, otherMost), inverse);
      weigh(z, level, inverse, r, sums);
      const [sum = 0, dot = 0, cross = 0] = sums;
      const target = targets[row] as number;
      pieces.sum[row] = sum || 1;
      pieces.dot[row] = dot;
      pieces.target[row] = ((z[target] as number) - level) * inverse;
      // The policy stands in for a reference that is not there.
      const [otherSum, otherDot, otherTarget] =
        reference === undefined ? [sum, dot, pieces.target[row]] : [referenceSum, cross, r[target]];
      pieces.referenceSum[row] = otherSum || 1;
      pieces.referenceTarget[row] = otherTarget as number;
      // Of no distribution there is no distance: what KL adds for the reference is taken off again.
      pieces.cross[row] = sum === 0 ? Math.log(otherSum || 1) : otherDot;
    }
  };
}
