// The pieces of a decoder layer, on one row of T positions, each position a vector of float64. As plain as they can be
// written: a reference is read more often than it is waited for.

/** One vector a position, (T, D). */
export type States = readonly Float64Array[];

/** y = W x + b with W (out, in), as torch.nn.Linear stores it. */
export function linear(states: States, weight: Float64Array, bias?: Float64Array): States {
  return states.map((x) => {
    const out = new Float64Array(weight.length / x.length);
    for (let o = 0, at = 0; o < out.length; o++) {
      let sum = bias?.[o] ?? 0;
      for (let i = 0; i < x.length; i++, at++) sum += (weight[at] as number) * (x[i] as number);
      out[o] = sum;
    }
    return out;
  });
}

/** y = x W + b with W (in, out), as GPT-2 stores it. */
export function linearTransposed(states: States, weight: Float64Array, bias: Float64Array): States {
  return states.map((x) => {
    const out = Float64Array.from(bias);
    for (let i = 0, at = 0; i < x.length; i++)
      for (let o = 0; o < out.length; o++, at++)
        out[o] = (out[o] as number) + (x[i] as number) * (weight[at] as number);
    return out;
  });
}

/** x / sqrt(mean(x²) + epsilon) * weight (Zhang and Sennrich 2019, "Root Mean Square Layer Normalization"). */
export function rmsNorm(states: States, weight: Float64Array, epsilon: number): States {
  return states.map((x) => {
    const scale = 1 / Math.sqrt(mean(x, (value) => value * value) + epsilon);
    return x.map((value, i) => value * scale * (weight[i] as number));
  });
}

/** (x - mean) / sqrt(variance + epsilon) * weight + bias (Ba, Kiros and Hinton 2016, "Layer Normalization"). */
export function layerNorm(states: States, weight: Float64Array, bias: Float64Array, epsilon: number): States {
  return states.map((x) => {
    const centre = mean(x, (value) => value);
    const scale = 1 / Math.sqrt(mean(x, (value) => (value - centre) ** 2) + epsilon);
    return x.map((value, i) => (value - centre) * scale * (weight[i] as number) + (bias[i] as number));
  });
}

export interface Attention {
  readonly heads: number;
  readonly keyValueHeads: number;
  readonly headWidth: number;
  /** May the query at t look at the key at s? Asked for s up to t only. */
  readonly sees: (t: number, s: number) => boolean;
}

/**
 * Scaled dot-product attention with a causal mask (Vaswani et al. 2017, eq. 1); several query heads may share one head
 * of keys and values (Ainslie et al. 2023, "GQA"). A query that sees no key gives zeros.
 */
export function attend(queries: States, keys: States, values: States, options: Attention): States {
  const { heads, keyValueHeads, headWidth, sees } = options;
  const scale = 1 / Math.sqrt(headWidth);
  return queries.map((query, t) => {
    const out = new Float64Array(heads * headWidth);
    const seen = Array.from({ length: t + 1 }, (_, s) => s).filter((s) => sees(t, s));
    for (let head = 0; head < heads; head++) {
      const [at, shared] = [head * headWidth, Math.floor((head * keyValueHeads) / heads) * headWidth];
      const scores = seen.map((s) => scale * dot(query, at, keys[s] as Float64Array, shared, headWidth));
      const most = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
      const weights = scores.map((score) => Math.exp(score - most));
      const total = weights.reduce((a, b) => a + b, 0);
      for (const [index, s] of seen.entries()) {
        const share = (weights[index] as number) / total;
        const value = values[s] as Float64Array;
        for (let i = 0; i < headWidth; i++)
          out[at + i] = (out[at + i] as number) + share * (value[shared + i] as number);
      }
    }
    return out;
  });
}

/**
 * Turns each head's vector by its position (Su et al. 2021, "RoFormer"), halves paired as transformers pairs them:
 * entry i with entry i + headWidth / 2. Frequencies are rounded to float32, in which transformers keeps them.
 */
export function rotate(
  states: States,
  positions: readonly number[],
  headWidth: number,
  theta: number,
): States {
  const half = headWidth / 2;
  const frequencies = Array.from({ length: half }, (_, i) =>
    Math.fround(1 / Math.fround(theta ** Math.fround((2 * i) / headWidth))),
  );
  return states.map((x, t) => {
    const out = new Float64Array(x.length);
    for (let head = 0; head < x.length; head += headWidth)
      for (const [i, frequency] of frequencies.entries()) {
        const angle = (positions[t] ?? 0) * frequency;
        const [a, b] = [x[head + i] as number, x[head + half + i] as number];
        out[head + i] = a * Math.cos(angle) - b * Math.sin(angle);
        out[head + half + i] = b * Math.cos(angle) + a * Math.sin(angle);
      }
    return out;
  });
}

/** x * sigmoid(x) (Elfwing, Uchibe and Doya 2018). */
export const silu = (x: number): number => x / (1 + Math.exp(-x));

/** GELU in its tanh form (Hendrycks and Gimpel 2016), which GPT-2 was trained with. */
export const geluTanh = (x: number): number =>
  0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + GELU_CUBIC * x ** 3)));
const GELU_CUBIC = 0.044715;

/** Of two rows of states, entry by entry. */
export function zip(left: States, right: States, join: (a: number, b: number) => number): States {
  return left.map((x, t) => x.map((value, i) => join(value, right[t]?.[i] as number)));
}

// --- helpers ---

function mean(values: Float64Array, of: (value: number) => number): number {
  let sum = 0;
  for (const value of values) sum += of(value);
  return sum / values.length;
}

function dot(a: Float64Array, aFrom: number, b: Float64Array, bFrom: number, length: number): number {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += (a[aFrom + i] as number) * (b[bFrom + i] as number);
  return sum;
}
