// Ops of losses: numbers a token in, one number and its gradient out.
import { type FieldSpecs, KNOBS, TRACKS } from '../fields.ts';
import { op } from '../op.ts';

const LOSS = {
  loss: 'float',
  loss_weights: 'float_track?',
  trained_tokens: 'int?',
} as const satisfies FieldSpecs;

export const LOSS_OPS = {
  loss: op({
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
    gradient: ['loss_weights'],
    offers: ['micro_batches', 'ranks', 'entropy', 'sampling_logprobs', 'knobs'],
    // A loss that only carries a gradient is the same whatever the log-probabilities are.
    batch: { reach: 'batch', reads: ['advantages'] },
  }),
  sft_loss: op({
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
    gradient: ['loss_weights'],
    offers: ['micro_batches', 'ranks', 'shards'],
    batch: { reach: 'batch', reads: ['logits'], padding: { labels: -100 } },
  }),
  value_loss: op({
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
    gradient: ['loss_weights'],
    offers: ['micro_batches', 'ranks'],
    batch: { reach: 'batch', reads: ['values', 'returns'] },
  }),
  preference_loss: op({
    args: {
      chosen_logprobs: 'float_rows[pair]', // (B, ·) one a completion token
      rejected_logprobs: 'float_rows',
      ref_chosen_logprobs: 'float_rows',
      ref_rejected_logprobs: 'float_rows',
      ...KNOBS,
    },
    ok: {
      loss: 'float',
      losses: 'floats[pair]?',
      chosen_rewards: 'floats[pair]?',
      rejected_rewards: 'floats[pair]?',
    },
    offers: ['knobs'],
    // Not every objective has a reference.
    batch: { reach: 'row', reads: ['chosen_logprobs', 'rejected_logprobs'] },
  }),
  reward_loss: op({
    args: {
      chosen_scores: 'floats[pair]', // (B,)
      rejected_scores: 'floats[pair]',
      margins: 'floats[pair]?', // by how much a chosen score is to be the higher
    },
    ok: {
      loss: 'float',
      losses: 'floats[pair]?', // of each pair alone
      chosen_weights: 'floats[pair]?', // dL/d score
      rejected_weights: 'floats[pair]?',
    },
    gradient: ['chosen_weights', 'rejected_weights'],
    offers: ['margins'],
    batch: { reach: 'row', reads: ['chosen_scores', 'rejected_scores', 'margins'] },
  }),
  unpaired_preference_loss: op({
    args: {
      logprobs: 'float_rows[row, token]', // (B, ·) one a completion token
      ref_logprobs: 'float_rows',
      desirable: 'ints', // (B,) 1 or 0
      kl_logprobs: 'float_rows[other row, other token]', // (B, ·) of the same prompts with completions of other rows
      ref_kl_logprobs: 'float_rows',
    },
    ok: {
      loss: 'float',
      losses: 'floats[row]?', // of each row, under the KL of the batch
      weights: 'float_rows[row, token]?', // dL/d logprob
      kl_weights: 'float_rows[other row, other token]?', // dL/d kl_logprob
      kl: 'float?', // as it was subtracted
    },
    gradient: ['weights', 'kl_weights'],
    batch: { reach: 'batch', reads: ['logprobs'] },
  }),
  balance_loss: op({
    args: {
      router_logits: 'float_cube[row, column]', // (B, T, layers x experts) of each token, layer by layer
      attention_mask: 'int_matrix',
      experts: 'int', // of a layer
      top_k: 'int', // how many of them a token goes to
      micro_batches: 'int_rows',
    },
    ok: {
      loss: 'float',
      router_weights: 'float_cube[row, column]?', // dL/d router logit
    },
    gradient: ['router_weights'],
    offers: ['micro_batches'],
    batch: {
      reach: 'batch',
      reads: ['router_logits'],
      except: { untrained: 'every batch has tokens, whatever of it is trained' },
    },
  }),
};
