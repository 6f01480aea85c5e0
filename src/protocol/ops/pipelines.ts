// Ops of pipelines with several losses: what is handed over between their parts, and which part runs when.
import type { OpSpec } from '../fields.ts';

export const PIPELINE_OPS = {
  contract: {
    args: { order: 'texts', segments: 'segments', enabled: 'texts' },
    ok: { executed: 'counts', trained_tokens: 'counts', losses: 'amounts' },
  },
  schedule: {
    args: {
      mode: 'text', // 'parallel', 'sequential' or 'alternating'
      iterations: 'int',
      frequencies: 'counts', // loss to n: due at every n-th iteration
      enabled: 'texts',
      optional: 'texts', // optional trainers that are installed
    },
    ok: { updates: 'text_rows', trainers: 'texts?' }, // the losses of each iteration, in order of their updates
  },
  segment_rows: {
    args: { segments: 'segments' },
    ok: { prompt_ids: 'int_rows', completion_ids: 'int_rows', rewards: 'floats' },
  },
  unroll: {
    args: {
      observations: 'int_rows', // (B, ·) one a step of each segment, and the one after its last step
      actions: 'int_rows', // (B, ·)
      rewards: 'float_rows', // (B, ·)
      starts: 'ints', // (B,) the step at which the window begins
      unroll_steps: 'int', // K
    },
    ok: {
      observations: 'int_matrix', // (B, K) or (B, K + 1)
      actions: 'int_matrix', // (B, K)
      rewards: 'float_matrix',
      mask: 'int_matrix', // 1 = a step of the segment
    },
  },
} as const satisfies Record<string, OpSpec>;
