// Ops that lay examples out in rows: collating, truncating, packing, pairs.
import type { OpSpec } from '../fields.ts';

export const ROW_OPS = {
  collate: {
    args: { input_ids: 'int_rows', labels: 'int_rows', pad_token_id: 'int' },
    ok: {
      input_ids: 'int_matrix',
      attention_mask: 'int_matrix',
      labels: 'int_matrix',
      position_ids: 'int_matrix?',
    },
  },
  truncate: {
    args: { input_ids: 'int_rows', labels: 'int_rows', max_length: 'int' },
    ok: {
      input_ids: 'int_rows',
      labels: 'int_rows',
      attention_mask: 'int_rows?',
      position_ids: 'int_rows?',
      kept: 'ints?', // which examples the rows are; absent: all, in order
    },
  },
  truncate_prompts: {
    args: { prompt_ids: 'int_rows', max_prompt_length: 'int', pad_token_id: 'int' },
    ok: { input_ids: 'int_matrix', attention_mask: 'int_matrix', kept: 'ints?' },
  },
  pack: {
    args: { input_ids: 'int_rows', labels: 'int_rows', max_length: 'int', pad_token_id: 'int' },
    ok: {
      input_ids: 'int_matrix', // (N, T) packed rows
      labels: 'int_matrix',
      position_ids: 'int_matrix?',
      segment_ids: 'int_matrix?', // 0 = padding, otherwise one number an example within its row
      segment_lengths: 'int_rows?', // of the examples in each packed row, in order
      unpacked: 'int_rows?', // what the trainer's own unpacking makes of its rows: the examples again, in packed order
    },
  },
  preference: {
    args: { prompt_ids: 'int_rows', chosen_ids: 'int_rows', rejected_ids: 'int_rows', pad_token_id: 'int' },
    ok: {
      chosen_input_ids: 'int_matrix', // prompt and chosen completion
      chosen_attention_mask: 'int_matrix',
      chosen_mask: 'int_matrix', // 1 = counts in the log-probability of the completion, token-aligned
      rejected_input_ids: 'int_matrix',
      rejected_attention_mask: 'int_matrix',
      rejected_mask: 'int_matrix',
    },
  },
} as const satisfies Record<string, OpSpec>;
