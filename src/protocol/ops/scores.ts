// Ops that say something of each token or row of a batch: log-probabilities, entropy, KL, values, rewards of a model.
import { KNOBS, TRACKS } from '../fields.ts';
import { op } from '../op.ts';

export const SCORE_OPS = {
  logprobs: op({
    args: {
      input_ids: 'int_matrix',
      attention_mask: 'int_matrix',
      logits: 'float_cube', // (B, T, V), logits[b][t] predicts token t+1, as models emit them
      prompt_width: 'int',
      temperature: 'float',
      shards: 'int?', // sequence-parallel shards to compute it in
    },
    ok: { logprobs: 'float_track' },
    offers: ['temperature', 'shards'],
    batch: { reach: 'row' },
  }),
  score: op({
    args: { prompt_ids: 'int_rows', completion_ids: 'int_rows[completion, token]', packed: 'flag?' },
    ok: { logprobs: 'float_rows[completion, token]' }, // (B, ·) one a completion token
    offers: ['packed', 'unfinished'],
    batch: { reach: 'row' },
  }),
  entropy: op({
    args: {
      input_ids: 'int_matrix',
      attention_mask: 'int_matrix',
      logits: 'float_cube',
      completion_mask: 'int_track',
      prompt_width: 'int',
    },
    ok: { entropy: 'float_track?', mean_entropy: 'float?' },
    batch: { reach: 'row' },
  }),
  full_kl: op({
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
    offers: ['temperature'],
    batch: { reach: 'row' },
  }),
  kl: op({
    args: { ...TRACKS, kl_estimator: 'text?', ...KNOBS },
    ok: { kl: 'float_track?', mean_kl: 'float?' },
    offers: ['kl_estimator', 'knobs'],
    batch: { reach: 'row', reads: ['logprobs', 'ref_logprobs'] },
  }),
  values: op({
    args: { prompt_ids: 'int_rows', completion_ids: 'int_rows[completion, token]', temperature: 'float' },
    ok: { values: 'float_rows[completion, token]' }, // (B, ·) one a completion token
    offers: ['temperature'],
    batch: { reach: 'row' },
  }),
  reward_model: op({
    args: { prompt_ids: 'int_rows', completion_ids: 'int_rows[completion]' },
    ok: { scores: 'floats[completion]' },
    batch: { reach: 'row' },
  }),
};
