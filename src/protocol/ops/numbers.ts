// Ops on numbers: log-probabilities, values, rewards, advantages and losses.
import { type FieldSpecs, KNOBS, type OpSpec } from '../fields.ts';

/** Per-token numbers of a policy step. */
const TRACKS = {
  logprobs: 'float_track',
  old_logprobs: 'float_track',
  ref_logprobs: 'float_track',
  completion_mask: 'int_track',
  prompt_width: 'int',
} as const satisfies FieldSpecs;
const LOSS = {
  loss: 'float',
  loss_weights: 'float_track?',
  trained_tokens: 'int?',
} as const satisfies FieldSpecs;

export const NUMBER_OPS = {
  logprobs: {
    args: {
      input_ids: 'int_matrix',
      attention_mask: 'int_matrix',
      logits: 'float_cube', // (B, T, V), logits[b][t] predicts token t+1, as models emit them
      prompt_width: 'int',
      temperature: 'float',
      shards: 'int?', // sequence-parallel shards to compute it in
    },
    ok: { logprobs: 'float_track' },
  },
  score: {
    args: { prompt_ids: 'int_rows', completion_ids: 'int_rows', packed: 'flag?' },
    ok: { logprobs: 'float_rows' }, // (B, ·) one a completion token
  },
  update: {
    args: { prompt_ids: 'int_rows', completion_ids: 'int_rows' },
    ok: {
      old: 'float_rows?', // stored behind the rollout, for the ratio
      before: 'float_rows', // the policy's, in the first training pass
      after: 'float_rows', // the policy's, after one optimiser step
      ref_before: 'float_rows?',
      ref_after: 'float_rows?',
      sampler_after: 'float_rows?', // the inference engine's, once it has the new weights
    },
  },
  values: {
    args: { prompt_ids: 'int_rows', completion_ids: 'int_rows', temperature: 'float' },
    ok: { values: 'float_rows' }, // (B, ·) one a completion token
  },
  reward_model: {
    args: { prompt_ids: 'int_rows', completion_ids: 'int_rows' },
    ok: { scores: 'floats' },
  },
  entropy: {
    args: {
      input_ids: 'int_matrix',
      attention_mask: 'int_matrix',
      logits: 'float_cube',
      completion_mask: 'int_track',
      prompt_width: 'int',
    },
    ok: { entropy: 'float_track?', mean_entropy: 'float?' },
  },
  full_kl: {
    args: {
      input_ids: 'int_matrix',
      attention_mask: 'int_matrix',
      logits: 'float_cube', // (B, T, V) of the policy, as for logprobs
      ref_logits: 'float_cube', // likewise of the reference
      completion_mask: 'int_track',
      prompt_width: 'int',
      temperature: 'float',
    },
    ok: { kl: 'float_track?', mean_kl: 'float?' },
  },
  kl: {
    args: { ...TRACKS, kl_estimator: 'text?', ...KNOBS },
    ok: { kl: 'float_track?', mean_kl: 'float?' },
  },
  token_rewards: {
    args: {
      scores: 'floats', // (B,)
      process_rewards: 'float_track',
      kl: 'float_track',
      completion_mask: 'int_track',
      prompt_width: 'int',
      kl_coef: 'float',
    },
    ok: { rewards: 'float_track' },
  },
  gae: {
    args: {
      rewards: 'float_track',
      values: 'float_track',
      completion_mask: 'int_track',
      prompt_width: 'int',
      gamma: 'float',
      lam: 'float',
    },
    ok: { advantages: 'float_track', returns: 'float_track?' },
  },
  whiten: {
    args: { values: 'float_track', completion_mask: 'int_track', prompt_width: 'int', ranks: 'int_rows?' },
    ok: { values: 'float_track' },
  },
  clip_advantages: {
    args: { advantages: 'floats', limit: 'float' },
    ok: { advantages: 'floats' },
  },
  advantages: {
    args: {
      rewards: 'floats',
      group_ids: 'ints',
      prompt_ids: 'int_rows?', // of each row; rows of one group share theirs, and two groups may have the same
      ranks: 'int_rows?', // a partition of the row indices over data-parallel ranks
      ...KNOBS,
    },
    ok: { advantages: 'floats' },
  },
  loss: {
    args: {
      ...TRACKS,
      advantages: 'floats', // (B,)
      micro_batches: 'int_rows', // a partition of the row indices
      ranks: 'int_rows?', // likewise, over data-parallel ranks
      entropy: 'float_track?', // of the policy at each token
      ...KNOBS,
    },
    ok: { ...LOSS, metrics: 'amounts?' },
  },
  sft_loss: {
    args: {
      input_ids: 'int_matrix',
      attention_mask: 'int_matrix',
      labels: 'int_matrix', // (B, T) token-aligned, -100 ignored, not shifted
      logits: 'float_cube',
      micro_batches: 'int_rows',
      ranks: 'int_rows?',
      shards: 'int?',
    },
    ok: LOSS,
  },
  preference_loss: {
    args: {
      chosen_logprobs: 'float_rows', // (B, ·) one a completion token
      rejected_logprobs: 'float_rows',
      ref_chosen_logprobs: 'float_rows',
      ref_rejected_logprobs: 'float_rows',
      ...KNOBS,
    },
    ok: { loss: 'float', losses: 'floats?', chosen_rewards: 'floats?', rejected_rewards: 'floats?' },
  },
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
} as const satisfies Record<string, OpSpec>;
