// Ops of rollouts: how tokens are sampled, which of a row are the completion, turns and tool calls.
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

export const ROLLOUT_OPS = {
  sampling: {
    args: {
      logits: 'float_matrix', // (B, V) of the next token
      completion_ids: 'int_rows', // sampled so far
      sampled_ids: 'ints', // (B,) the token that was then sampled
      eos_token_ids: 'ints',
      temperature: 'float',
      top_k: 'int', // 0: off
      top_p: 'float', // 1: off
      min_new_tokens: 'int',
      banned_sequences: 'int_rows?', // none of them may be completed
    },
    ok: { logprobs: 'float_matrix', sampled_logprobs: 'floats?' },
  },
  penalties: {
    args: {
      input_ids: 'int_matrix', // (B, T) left-padded prompt and the tokens generated so far
      attention_mask: 'int_matrix',
      prompt_width: 'int',
      prompt_ids: 'int_rows',
      completion_ids: 'int_rows', // generated so far
      logits: 'float_matrix', // (B, V) of the next token
      presence_penalty: 'float',
      frequency_penalty: 'float',
      repetition_penalty: 'float',
    },
    ok: { logits: 'float_matrix' },
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
    args: {
      prompt_ids: 'ints',
      turns: 'turns',
      advantage: 'float',
      eos_token_ids: 'ints',
      max_tool_tokens: 'int?', // a tool's turn is cut to so many ids before it goes into a row
      turn_rewards: 'floats?', // one a turn, 0 where it was injected
    },
    ok: {
      input_ids: 'int_rows', // one training row for all turns, or one a turn of the assistant
      loss_mask: 'int_rows', // 1 = trained
      completion_mask: 'int_rows?', // 1 = written by the assistant
      logprobs: 'float_rows?', // the sampler's, on trained tokens
      advantages: 'float_rows?',
      rewards: 'float_rows?', // where turn_rewards are sent
      response_lengths: 'ints?', // trained tokens of each row
      truncated: 'ints?', // 1 = some turn of the row ran into the length limit
    },
  },
  parse_tool_call: {
    args: { text: 'text' },
    ok: { status: 'text', name: 'text?', arguments: 'text?' }, // arguments: as JSON
  },
  tool_step: {
    args: { text: 'text' },
    ok: { observation: 'text', reward: 'float', status: 'text', done: 'int' }, // done: 1 or 0
  },
} as const satisfies Record<string, OpSpec>;
