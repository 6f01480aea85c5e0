// Ops of rollouts: how tokens are sampled, which of a row are the completion, turns and tool calls.
import type { FieldSpecs } from '../fields.ts';
import { op } from '../op.ts';

// A batch laid out as decoder-only generation leaves it: [left padding | prompt | completion | right padding].
const BLOCK = {
  prompt_ids: 'int_rows',
  completion_ids: 'int_rows', // as sampled, the stop token included when there was one
  sequences: 'int_matrix[row, column]', // (B, T)
  attention_mask: 'int_matrix', // (B, T), 1 = real token
  prompt_width: 'int', // P: the completion block begins at this column
  pad_token_id: 'int',
  eos_token_ids: 'ints',
} as const satisfies FieldSpecs;

export const ROLLOUT_OPS = {
  sampling: op({
    args: {
      logits: 'float_matrix[row, vocabulary]', // (B, V) of the next token
      completion_ids: 'int_rows', // sampled so far
      sampled_ids: 'ints', // (B,) the token that was then sampled
      eos_token_ids: 'ints',
      temperature: 'float',
      top_k: 'int', // 0: off
      top_p: 'float', // 1: off
      min_new_tokens: 'int',
      banned_sequences: 'int_rows?', // none of them may be completed
    },
    ok: { logprobs: 'float_matrix[row, vocabulary]', sampled_logprobs: 'floats[row]?' },
    offers: ['processors', 'eos_token_ids'],
    batch: { reach: 'row', except: { finite: 'a token that cannot be drawn has minus infinity' } },
  }),
  penalties: op({
    args: {
      input_ids: 'int_matrix', // (B, T) left-padded prompt and the tokens generated so far
      attention_mask: 'int_matrix',
      prompt_width: 'int',
      prompt_ids: 'int_rows',
      completion_ids: 'int_rows', // generated so far
      logits: 'float_matrix[row, vocabulary]', // (B, V) of the next token
      presence_penalty: 'float',
      frequency_penalty: 'float',
      repetition_penalty: 'float',
    },
    ok: { logits: 'float_matrix[row, vocabulary]' },
    offers: ['kinds'],
    batch: { reach: 'row' },
  }),
  extract: op({
    args: {
      padding_side: 'text',
      prompt_ids: 'int_rows',
      input_ids: 'int_matrix', // (B, P) the padded prompts
      attention_mask: 'int_matrix', // (B, P)
      sequences: 'int_matrix[row]', // (B, T) what generation returned
      sampled_ids: 'int_matrix', // (B, C) what the sampler emitted, padded on the right
      sampling_logprobs: 'float_matrix?', // (B, C) what the inference engine says of sampled_ids
      pad_token_id: 'int',
      eos_token_ids: 'ints',
    },
    ok: { completion_ids: 'int_rows[row]', logprobs: 'float_rows[row]?' },
    offers: ['padding_side', 'eos_token_ids'],
    batch: {
      reach: 'row',
      except: { finite: 'its only real numbers were handed over, and extract/ compares them' },
      ids: {
        args: ['prompt_ids', 'input_ids', 'sequences', 'sampled_ids', 'pad_token_id', 'eos_token_ids'],
        ok: ['completion_ids'],
      },
    },
  }),
  mask: op({
    args: BLOCK,
    ok: {
      input_ids: 'int_matrix[row, column]?',
      attention_mask: 'int_matrix[row, column]?',
      completion_mask: 'int_track',
      position_ids: 'int_matrix[row, column]?',
      truncated: 'ints[row]?', // (B,) 1 = ran into the length limit
    },
    offers: ['after_stop', 'eos_token_ids', 'unfinished'],
    batch: {
      reach: 'batch',
      ids: {
        args: ['prompt_ids', 'completion_ids', 'sequences', 'pad_token_id', 'eos_token_ids'],
        ok: ['input_ids'],
      },
    },
  }),
  rollout: op({
    args: { conversations: 'conversations[conversation]', sampled_ids: 'int_rows' },
    ok: {
      prompt_ids: 'int_rows[conversation]',
      input_ids: 'int_matrix[conversation, column]',
      attention_mask: 'int_matrix[conversation, column]',
      completion_mask: 'int_track',
    },
    offers: ['tools', 'turns', 'unfinished'],
    batch: { reach: 'batch' },
  }),
  partial_rollout: op({
    args: {
      prompt_ids: 'int_rows[row]',
      partial_ids: 'int_rows', // of the completion, sampled before generation was interrupted
      partial_logprobs: 'float_rows', // of the policies that sampled them
      partial_versions: 'int_rows', // of those policies
      sampled_ids: 'int_rows', // what the engine goes on with; it gives as many as it is asked for
      sampled_logprobs: 'float_rows',
      rescored_logprobs: 'float_rows', // of partial_ids, by the policy that goes on: what an engine says of its prompt
      version: 'int', // of the policy that goes on
      max_new_tokens: 'int', // of a whole completion
      eos_token_ids: 'ints',
    },
    ok: {
      input_ids: 'int_rows[row]', // what the engine is given
      max_new_tokens: 'ints[row]?', // how many more ids it is asked for
      completion_ids: 'int_rows[row]',
      logprobs: 'float_rows[row]?', // of the policies that sampled, one per id of the completion
      versions: 'int_rows[row]?',
      loss_mask: 'int_rows[row]?', // of the completion, 1 = trained
    },
    offers: ['eos_token_ids'],
    batch: {
      reach: 'row',
      except: { finite: 'its only real numbers were handed over, and rollout/partial- compares them' },
      ids: {
        args: ['prompt_ids', 'partial_ids', 'sampled_ids', 'eos_token_ids'],
        ok: ['input_ids', 'completion_ids'],
      },
    },
  }),
  trajectory: op({
    args: {
      prompt_ids: 'ints',
      turns: 'turns',
      advantage: 'float',
      eos_token_ids: 'ints',
      max_tool_tokens: 'int?', // a tool's turn is cut to so many ids before it goes into a row
      turn_rewards: 'floats?', // one a turn, 0 where it was injected
    },
    ok: {
      input_ids: 'int_rows[row]', // one training row for all turns, or one a turn of the assistant
      loss_mask: 'int_rows[row]', // 1 = trained
      completion_mask: 'int_rows[row]?', // 1 = written by the assistant
      logprobs: 'float_rows[row]?', // the sampler's, on trained tokens
      advantages: 'float_rows[row]?',
      rewards: 'float_rows[row]?', // where turn_rewards are sent
      response_lengths: 'ints[row]?', // trained tokens of each row
      truncated: 'ints[row]?', // 1 = some turn of the row ran into the length limit
    },
    offers: ['after_stop', 'eos_token_ids', 'max_tool_tokens', 'turn_rewards'],
    batch: { none: 'one episode: what a turn is depends on the turns before it' },
  }),
  parse_tool_call: op({
    args: { text: 'text' },
    ok: { status: 'text', name: 'text?', arguments: 'text?' }, // arguments: as JSON
    offers: ['tags', 'tool_specs'],
    batch: { none: 'one text, and the call in it' },
  }),
  tool_step: op({
    args: { text: 'text' },
    ok: { observation: 'text', reward: 'float', status: 'text', done: 'int' }, // done: 1 or 0
    offers: ['tags', 'tool_specs'],
    batch: { none: 'one call in one environment' },
  }),
};
