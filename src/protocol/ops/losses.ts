// Ops of losses: numbers a token in, one number and its gradient out.
import { type FieldSpecs, KNOBS, type OpSpec, TRACKS } from '../fields.ts';

const LOSS = {
  loss: 'float',
  loss_weights: 'float_track?',
  trained_tokens: 'int?',
} as const satisfies FieldSpecs;

export const LOSS_OPS = {
  loss: {
    args: {
      ...TRACKS,
      advantages: 'floats', // (B,)
      micro_batches: 'int_rows', // a partition of the row indices
      ranks: 'int_rows?', // likewise, over data-parallel ranks
      entropy: 'float_track?', // of the policy at each token
      sampling_logprobs: 'float_track?', // of the inference engine; old_logprobs are then the trainer's own of that policy
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
  value_loss: {
    args: {
      values: 'float_track', // what the critic says now, of the state before each token
      old_values: 'float_track', // what it said at sampling
      returns: 'float_track', // what it should say
      completion_mask: 'int_track',
      prompt_width: 'int',
      micro_batches: 'int_rows',
      ranks: 'int_rows?',
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
  reward_loss: {
    args: {
      chosen_scores: 'floats', // (B,)
      rejected_scores: 'floats',
      margins: 'floats?', // by how much a chosen score is to be the higher
    },
    ok: {
      loss: 'float',
      losses: 'floats?', // of each pair alone
      chosen_weights: 'floats?', // dL/d score
      rejected_weights: 'floats?',
    },
  },
  unpaired_preference_loss: {
    args: {
      logprobs: 'float_rows', // (B, ·) one a completion token
      ref_logprobs: 'float_rows',
      desirable: 'ints', // (B,) 1 or 0
      kl_logprobs: 'float_rows', // (B, ·) of the same prompts with completions of other rows
      ref_kl_logprobs: 'float_rows',
    },
    ok: {
      loss: 'float',
      losses: 'floats?', // of each row, under the KL of the batch
      weights: 'float_rows?', // dL/d logprob
      kl_weights: 'float_rows?', // dL/d kl_logprob
      kl: 'float?', // as it was subtracted
    },
  },
} as const satisfies Record<string, OpSpec>;
