// Inputs for row kernels: random, and the fifteen where sums, indices and infinities go wrong first.
import type { LogitRows, RowsInput } from '../../src/kernel/index.ts';

/** Numbers in [-1, 1), the same for the same seed. */
export function noise(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

export interface Sketch {
  readonly rows: number;
  readonly vocab: number;
  readonly scale?: number;
  readonly seed?: number;
  readonly temperature?: number;
  readonly alone?: boolean;
  /** Changes the logits of policy and reference in place. */
  readonly change?: (policy: Float32Array, reference: Float32Array) => void;
}

export function inputOf(sketch: Sketch): RowsInput {
  const { rows, vocab, scale = 10, seed = 1, temperature = 1 } = sketch;
  const next = noise(seed);
  const logits = (): Float32Array => Float32Array.from({ length: rows * vocab }, () => scale * next());
  const [policy, reference] = [logits(), logits()];
  sketch.change?.(policy, reference);
  return {
    policy: { dtype: 'float32', data: policy },
    ...(sketch.alone ? {} : { reference: { dtype: 'float32' as const, data: reference } }),
    targets: Int32Array.from({ length: rows }, (_, row) => (row * 7) % vocab),
    vocab,
    temperature,
  };
}

const fill =
  (value: number) =>
  (policy: Float32Array, reference: Float32Array): void => {
    policy.fill(value);
    reference.fill(value);
  };

/** Name to input. Rows that NaN is masked in are rows all the same: NaN stays in them. */
export const EDGES: Readonly<Record<string, () => RowsInput>> = {
  'a vocabulary of one': () => inputOf({ rows: 3, vocab: 1 }),
  'a vocabulary of two': () => inputOf({ rows: 5, vocab: 2 }),
  'one less than a workgroup': () => inputOf({ rows: 4, vocab: 255 }),
  'as many as a workgroup': () => inputOf({ rows: 4, vocab: 256 }),
  'one more than a workgroup': () => inputOf({ rows: 4, vocab: 257 }),
  'the vocabulary of Qwen2.5': () => inputOf({ rows: 3, vocab: 151_936 }),
  'one row': () => inputOf({ rows: 1, vocab: 1_000 }),
  'more rows than workgroups of one dimension': () => inputOf({ rows: 70_000, vocab: 3 }),
  'equal logits': () => inputOf({ rows: 2, vocab: 500, change: fill(3) }),
  'one token that takes all': () =>
    inputOf({ rows: 2, vocab: 300, change: (policy) => policy.set([1e4, -1e4], 299) }),
  'logits of plus and minus 10,000': () => inputOf({ rows: 4, vocab: 300, scale: 1e4 }),
  'tokens that are ruled out': () =>
    inputOf({
      rows: 4,
      vocab: 300,
      change: (...both) => {
        for (const logits of both)
          for (let at = 0; at < logits.length; at += 3) logits[at] = Number.NEGATIVE_INFINITY;
      },
    }),
  'a token that only the reference rules out': () =>
    inputOf({
      rows: 3,
      vocab: 300,
      change: (_, reference) => {
        reference[301] = Number.NEGATIVE_INFINITY;
      },
    }),
  'NaN in a masked row': () =>
    inputOf({ rows: 3, vocab: 300, change: (policy) => policy.fill(Number.NaN, 300, 600) }),
  'a row of nothing but -infinity, a temperature': () =>
    inputOf({
      rows: 3,
      vocab: 300,
      temperature: 0.7,
      change: (policy) => policy.fill(Number.NEGATIVE_INFINITY, 0, 300),
    }),
};

/** The same logits in half precision: rounded down to its bits. */
export function halved(input: RowsInput): RowsInput {
  const upper = ({ data }: LogitRows): LogitRows => ({
    dtype: 'bfloat16',
    data: Uint16Array.from(new Uint32Array(Float32Array.from(data).buffer), (bits) => bits >>> 16),
  });
  return {
    ...input,
    policy: upper(input.policy),
    ...(input.reference === undefined ? {} : { reference: upper(input.reference) }),
  };
}
