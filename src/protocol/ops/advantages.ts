// Ops from reward to advantage: what a completion is worth, and what of it each token gets.
import { KNOBS, type OpSpec } from '../fields.ts';

export const ADVANTAGE_OPS = {
  reward: {
    args: { prompts: 'texts', completions: 'texts', references: 'texts', completion_ids: 'int_rows' },
    ok: { rewards: 'floats', lengths: 'ints?' }, // lengths: tokens of each completion, where the reward counts them
  },
  overlong_penalty: {
    args: { lengths: 'ints', max_length: 'int', buffer: 'int' },
    ok: { penalties: 'floats' },
  },
  format_score: {
    args: { completions: 'texts' },
    ok: { scores: 'floats' },
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
  returns: {
    args: {
      rewards: 'float_track',
      completion_mask: 'int_track',
      prompt_width: 'int',
      gamma: 'float',
    },
    ok: { returns: 'float_track' },
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
      lengths: 'ints?', // tokens of each row's completion
      ranks: 'int_rows?', // a partition of the row indices over data-parallel ranks
      ...KNOBS,
    },
    ok: { advantages: 'floats' },
  },
} as const satisfies Record<string, OpSpec>;
