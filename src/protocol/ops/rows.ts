// Ops that lay tokens out in rows: collating, truncating, packing, extraction, masks, trajectories of several turns.
import type { FieldSpecs, OpSpec } from '../fields.ts';

// A batch laid out as decoder-only generation leaves it: [left padding | prompt | completion | right padding].
const BLOCK = {
  prompt_ids: 'int_rows',
  completion_ids: 'int_rows', // as sampled, the stop token included when there was one
  sequences: 'int_matrix', // (B, T)
  attention_mask: 'int_matrix', // (B, T), 1 = real token
  prompt_width: 'int', // P: the completion block begins at this column
  pad_token_id: 'int',
  eos_token_ids: 'ints',
} as const satisfies FieldSpecs;

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
  extract: {
    args: {
      padding_side: 'text',
      prompt_ids: 'int_rows',
      input_ids: 'int_matrix', // (B, P) the padded prompts
      attention_mask: 'int_matrix', // (B, P)
      sequences: 'int_matrix', // (B, T) what generation returned
      sampled_ids: 'int_matrix', // (B, C) what the sampler emitted, padded on the right
      sampling_logprobs: 'float_matrix?', // (B, C) what the inference engine says of sampled_ids
      pad_token_id: 'int',
      eos_token_ids: 'ints',
    },
    ok: { completion_ids: 'int_rows', logprobs: 'float_rows?' },
  },
  mask: {
    args: BLOCK,
    ok: {
      input_ids: 'int_matrix?',
      attention_mask: 'int_matrix?',
      completion_mask: 'int_track',
      position_ids: 'int_matrix?',
      truncated: 'ints?', // (B,) 1 = ran into the length limit
    },
  },
  rollout: {
    args: { conversations: 'conversations', sampled_ids: 'int_rows' },
    ok: {
      prompt_ids: 'int_rows',
      input_ids: 'int_matrix',
      attention_mask: 'int_matrix',
      completion_mask: 'int_track',
    },
  },
  trajectory: {
    args: { prompt_ids: 'ints', turns: 'turns', advantage: 'float', eos_token_ids: 'ints' },
    ok: {
      input_ids: 'int_rows', // one training row for all turns, or one a turn of the assistant
      loss_mask: 'int_rows', // 1 = trained
      completion_mask: 'int_rows?', // 1 = written by the assistant
      logprobs: 'float_rows?', // the sampler's, on trained tokens
      advantages: 'float_rows?',
      response_lengths: 'ints?', // trained tokens of each row
      truncated: 'ints?', // 1 = some turn of the row ran into the length limit
    },
  },
} as const satisfies Record<string, OpSpec>;
