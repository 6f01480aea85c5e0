// The row kernel's interface: rows of logits in, a handful of sums a row out, from which the host finishes in float64.
// Everything that grows with the vocabulary is on the backend's side; nothing that a tolerance hangs on is.
import { halfValues } from '../reference/index.ts';
import type { DType } from '../vocabulary.ts';

/** (N, V), row-major. Half precision as its bits. */
export type LogitRows =
  | { readonly dtype: 'float64'; readonly data: Float64Array }
  | { readonly dtype: 'float32'; readonly data: Float32Array }
  | { readonly dtype: 'bfloat16' | 'float16'; readonly data: Uint16Array };

export interface RowsInput {
  readonly policy: LogitRows;
  /** Of the same shape; absent: the pieces of the reference are those of the policy. */
  readonly reference?: LogitRows;
  /** (N,), the ids whose log-probability is wanted. */
  readonly targets: Int32Array;
  /** V */
  readonly vocab: number;
  /** Logits are divided by it, the reference's too. */
  readonly temperature: number;
}

/**
 * Sums of each row, (N,) each. With d = (z - most) / temperature for the policy's logits z, and d' likewise for the
 * reference's: sum = Σ exp(d), dot = Σ exp(d) d, cross = Σ exp(d) d', target = d of the target.
 */
export interface RowPieces {
  readonly sum: Float64Array;
  readonly dot: Float64Array;
  readonly target: Float64Array;
  readonly referenceSum: Float64Array;
  readonly referenceTarget: Float64Array;
  readonly cross: Float64Array;
}

/** What the pieces come to, (N,) each, in nats. */
export interface RowNumbers {
  readonly logprobs: Float64Array;
  readonly refLogprobs: Float64Array;
  /** -Σ p log p */
  readonly entropy: Float64Array;
  /** Exact KL(policy, reference) = Σ p (log p - log p'), over the whole vocabulary. */
  readonly kl: Float64Array;
}

export interface RowKernel {
  readonly name: BackendName;
  /** Which device, for people. */
  readonly about: string;
  /** Logits larger than memory are handed over in several calls. */
  rows(input: RowsInput): Promise<RowPieces>;
  /** Frees buffers and workers. */
  close(): Promise<void>;
}

export const BACKENDS = ['cpu-f64', 'webgpu', 'tfjs-node-gpu'] as const;
export type BackendName = (typeof BACKENDS)[number];

/** Bytes of one logit. */
export const BYTES: Readonly<Record<DType, number>> = { float64: 8, float32: 4, bfloat16: 2, float16: 2 };

/** Finishes in float64. */
export function numbersOf(pieces: RowPieces): RowNumbers {
  const { sum, dot, target, referenceSum, referenceTarget, cross } = pieces;
  const each = (of: (row: number) => number): Float64Array => Float64Array.from(sum, (_, row) => of(row));
  const get = (values: Float64Array, row: number): number => values[row] as number;
  return {
    logprobs: each((row) => get(target, row) - Math.log(get(sum, row))),
    refLogprobs: each((row) => get(referenceTarget, row) - Math.log(get(referenceSum, row))),
    entropy: each((row) => Math.log(get(sum, row)) - get(dot, row) / get(sum, row)),
    kl: each(
      (row) =>
        (get(dot, row) - get(cross, row)) / get(sum, row) -
        Math.log(get(sum, row)) +
        Math.log(get(referenceSum, row)),
    ),
  };
}

/** One logit as a number. */
export function logitAt({ dtype, data }: LogitRows, index: number): number {
  const value = data[index] as number;
  return dtype === 'bfloat16' || dtype === 'float16' ? (halfValues(dtype)[value] as number) : value;
}

/** Empty pieces for N rows. */
export function emptyPieces(rows: number): RowPieces {
  const zeros = (): Float64Array => new Float64Array(rows);
  return {
    sum: zeros(),
    dot: zeros(),
    target: zeros(),
    referenceSum: zeros(),
    referenceTarget: zeros(),
    cross: zeros(),
  };
}

/** Rows [from, to) of an input, sharing its memory. */
export function rowsBetween(input: RowsInput, from: number, to: number): RowsInput {
  const cut = (logits: LogitRows): LogitRows =>
    ({ dtype: logits.dtype, data: logits.data.subarray(from * input.vocab, to * input.vocab) }) as LogitRows;
  return {
    ...input,
    policy: cut(input.policy),
    ...(input.reference === undefined ? {} : { reference: cut(input.reference) }),
    targets: input.targets.subarray(from, to),
  };
}

/** Why an input is not one; undefined where it is. */
export function inputComplaint({
  policy,
  reference,
  targets,
  vocab,
  temperature,
}: RowsInput): string | undefined {
  const size = targets.length * vocab;
  if (!(Number.isInteger(vocab) && vocab > 0)) return `vocab is ${vocab}`;
  if (!(temperature > 0)) return `temperature is ${temperature}, it must be above 0`;
  if (policy.data.length !== size) return `policy has ${policy.data.length} logits, expected ${size}`;
  if (reference !== undefined && reference.data.length !== size)
    return `reference has ${reference.data.length} logits, expected ${size}`;
  const stray = targets.findIndex((id) => id < 0 || id >= vocab);
  return stray < 0 ? undefined : `target ${stray} is ${targets[stray]}, the vocabulary has ${vocab}`;
}
