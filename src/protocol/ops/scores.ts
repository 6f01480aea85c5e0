// Ops that say something of each token or row of a batch: log-probabilities, entropy, KL, values, rewards of a model.
import { KNOBS, type OpSpec, TRACKS } from '../fields.ts';

export const SCORE_OPS = {
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
  values: {
    args: { prompt_ids: 'int_rows', completion_ids: 'int_rows', temperature: 'float' },
    ok: { values: 'float_rows' }, // (B, ·) one a completion token
  },
  reward_model: {
    args: { prompt_ids: 'int_rows', completion_ids: 'int_rows' },
    ok: { scores: 'floats' },
  },
} as const satisfies Record<string, OpSpec>;
