// What one optimiser step did with a tensor, and with those of a model: correct where a test says nothing else.
import type { LedgerUpdate, TensorUpdate } from '../../../src/trace/ledger.ts';

export const tensor = (name: string, more: Partial<TensorUpdate> = {}): TensorUpdate => ({
  name,
  size: 64,
  dtype: 'float32',
  norm: 1,
  peak: 0.5,
  beside: 0.1,
  moved: true,
  held: 1,
  rate: 1e-3,
  decay: 0,
  trainable: true,
  ...more,
});

/** Frozen, and in no optimiser. */
export const FROZEN = { moved: false, held: 0, trainable: false } as const satisfies Partial<TensorUpdate>;

export const update = (tensors: readonly TensorUpdate[], more: Partial<LedgerUpdate> = {}): LedgerUpdate => ({
  rank: 0,
  step: 0,
  model: 0,
  optimizer: 0,
  place: 'train.py:9',
  tensors,
  ...more,
});
