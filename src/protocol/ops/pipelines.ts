// Ops of pipelines with several losses: what is handed over between their parts, and which part runs when.
import { op } from '../op.ts';

export const PIPELINE_OPS = {
  contract: op({
    args: { order: 'texts', segments: 'segments', enabled: 'texts' },
    ok: { executed: 'counts', trained_tokens: 'counts', losses: 'amounts' },
    offers: ['orders', 'losses'],
    batch: { none: 'one layer of numbers that is to be added up, in parts' },
  }),
  schedule: op({
    args: {
      mode: 'text', // 'parallel', 'sequential' or 'alternating'
      iterations: 'int',
      frequencies: 'counts', // loss to n: due at every n-th iteration
      enabled: 'texts',
      optional: 'texts', // optional trainers that are installed
    },
    ok: { updates: 'text_rows', trainers: 'texts?' }, // the losses of each iteration, in order of their updates
    offers: ['losses', 'always_enabled', 'modes', 'optional_trainers'],
    batch: { none: 'the rates of the steps of one run' },
  }),
  segment_rows: op({
    args: { segments: 'segments' },
    ok: { prompt_ids: 'int_rows[row]', completion_ids: 'int_rows[row]', rewards: 'floats[row]' },
    batch: { none: 'segments of one episode, in their order' },
  }),
  unroll: op({
    args: {
      observations: 'int_rows', // (B, ·) one a step of each segment, and the one after its last step
      actions: 'int_rows', // (B, ·)
      rewards: 'float_rows', // (B, ·)
      starts: 'ints[start]', // (B,) the step at which the window begins
      unroll_steps: 'int', // K
    },
    ok: {
      observations: 'int_matrix[start]', // (B, K) or (B, K + 1)
      actions: 'int_matrix[start]', // (B, K)
      rewards: 'float_matrix[start]',
      mask: 'int_matrix[start]', // 1 = a step of the segment
    },
    batch: { reach: 'row' },
  }),
};
