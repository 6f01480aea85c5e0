// Which index of a field means what: all that the general relations of check/relations/ need to know of an op.
// A new op gets them by one entry here.
import type { Op } from './message.ts';
import type { OpAxes } from './op-axes.ts';

export type { ArgAxis, OkAxis, OpAxes } from './op-axes.ts';

const TRACKS = {
  logprobs: 'token',
  old_logprobs: 'token',
  ref_logprobs: 'token',
  completion_mask: 'mask',
  prompt_width: 'width',
} as const;
const LOGITS = { input_ids: 'token', attention_mask: 'token', logits: 'token' } as const;
const PAIRS = {
  chosen_input_ids: 'row',
  chosen_attention_mask: 'row',
  chosen_mask: 'row',
  rejected_input_ids: 'row',
  rejected_attention_mask: 'row',
  rejected_mask: 'row',
} as const;
const COMPLETIONS = { prompt_ids: 'row', completion_ids: 'row' } as const;

export const AXES: { readonly [O in Op]?: OpAxes<O> } = {
  collate: {
    args: { input_ids: 'row', labels: 'row', pad_token_id: 'setting' },
    ok: { input_ids: 'row', attention_mask: 'row', labels: 'row', position_ids: 'row' },
    reach: 'batch',
    ids: { args: ['input_ids', 'labels', 'pad_token_id'], ok: ['input_ids', 'labels'] },
  },
  sft_batch: {
    args: { conversations: 'row', padding_side: 'setting', pad_token_id: 'setting' },
    ok: { input_ids: 'row', attention_mask: 'row', labels: 'row', position_ids: 'row' },
    reach: 'row',
  },
  truncate: {
    args: { input_ids: 'row', labels: 'row', max_length: 'setting' },
    ok: { input_ids: 'row', labels: 'row', attention_mask: 'row', position_ids: 'row', kept: 'kept' },
    reach: 'row',
  },
  truncate_prompts: {
    args: { prompt_ids: 'row', max_prompt_length: 'setting', pad_token_id: 'setting' },
    ok: { input_ids: 'row', attention_mask: 'row', kept: 'kept' },
    reach: 'batch',
  },
  preference_batch: {
    args: { prompts: 'row', chosen: 'row', rejected: 'row' },
    ok: PAIRS,
    reach: 'row',
  },
  extract: {
    args: {
      padding_side: 'setting',
      prompt_ids: 'row',
      input_ids: 'row',
      attention_mask: 'row',
      sequences: 'row',
      sampled_ids: 'row',
      sampling_logprobs: 'row',
      pad_token_id: 'setting',
      eos_token_ids: 'setting',
    },
    ok: { completion_ids: 'row', logprobs: 'row' },
    reach: 'row',
    ids: {
      args: ['prompt_ids', 'input_ids', 'sequences', 'sampled_ids', 'pad_token_id', 'eos_token_ids'],
      ok: ['completion_ids'],
    },
  },
  mask: {
    args: {
      prompt_ids: 'row',
      completion_ids: 'row',
      sequences: 'row',
      attention_mask: 'row',
      prompt_width: 'setting',
      pad_token_id: 'setting',
      eos_token_ids: 'setting',
    },
    ok: {
      input_ids: 'row',
      attention_mask: 'row',
      completion_mask: 'token',
      position_ids: 'row',
      truncated: 'row',
    },
    reach: 'batch',
    ids: {
      args: ['prompt_ids', 'completion_ids', 'sequences', 'pad_token_id', 'eos_token_ids'],
      ok: ['input_ids'],
    },
  },
  rollout: {
    args: { conversations: 'row', sampled_ids: 'row' },
    ok: { prompt_ids: 'row', input_ids: 'row', attention_mask: 'row', completion_mask: 'row' },
    reach: 'batch',
  },
  penalties: {
    args: {
      input_ids: 'row',
      attention_mask: 'row',
      prompt_width: 'setting',
      prompt_ids: 'row',
      completion_ids: 'row',
      logits: 'row',
      presence_penalty: 'setting',
      frequency_penalty: 'setting',
      repetition_penalty: 'setting',
    },
    ok: { logits: 'row' },
    reach: 'row',
  },
  score: {
    args: { ...COMPLETIONS, packed: 'setting' },
    ok: { logprobs: 'row' },
    reach: 'row',
  },
  model_score: {
    args: {
      model_path: 'setting',
      ...COMPLETIONS,
      temperature: 'setting',
      padding_side: 'setting',
      packed: 'setting',
      reference_path: 'setting',
    },
    ok: { logprobs: 'row', entropy: 'row', ref_logprobs: 'row', kl: 'row' },
    reach: 'row',
  },
  values: {
    args: { ...COMPLETIONS, temperature: 'setting' },
    ok: { values: 'row' },
    reach: 'row',
  },
  reward_model: { args: COMPLETIONS, ok: { scores: 'row' }, reach: 'row' },
  logprobs: {
    args: { ...LOGITS, prompt_width: 'width', temperature: 'setting', shards: 'setting' },
    ok: { logprobs: 'token' },
    reach: 'row',
  },
  entropy: {
    args: { ...LOGITS, completion_mask: 'mask', prompt_width: 'width' },
    ok: { entropy: 'token', mean_entropy: 'batch' },
    reach: 'row',
  },
  full_kl: {
    args: {
      ...LOGITS,
      ref_logits: 'token',
      completion_mask: 'mask',
      prompt_width: 'width',
      temperature: 'setting',
    },
    ok: { kl: 'token', mean_kl: 'batch' },
    reach: 'row',
  },
  kl: {
    args: { ...TRACKS, kl_estimator: 'setting', settings: 'setting' },
    ok: { kl: 'token', mean_kl: 'batch' },
    reach: 'row',
  },
  token_rewards: {
    args: {
      scores: 'row',
      process_rewards: 'token',
      kl: 'token',
      completion_mask: 'mask',
      prompt_width: 'width',
      kl_coef: 'setting',
    },
    ok: { rewards: 'token' },
    reach: 'row',
    behind: true,
  },
  gae: {
    args: {
      rewards: 'token',
      values: 'token',
      completion_mask: 'mask',
      prompt_width: 'width',
      gamma: 'setting',
      lam: 'setting',
    },
    ok: { advantages: 'token', returns: 'token' },
    reach: 'row',
  },
  returns: {
    args: { rewards: 'token', completion_mask: 'mask', prompt_width: 'width', gamma: 'setting' },
    ok: { returns: 'token' },
    reach: 'row',
  },
  whiten: {
    args: { values: 'token', completion_mask: 'mask', prompt_width: 'width', ranks: 'partition' },
    ok: { values: 'token' },
    reach: 'batch',
  },
  clip_advantages: {
    args: { advantages: 'row', limit: 'setting' },
    ok: { advantages: 'row' },
    reach: 'row',
  },
  advantages: {
    args: {
      rewards: 'row',
      group_ids: 'group',
      prompt_ids: 'row',
      lengths: 'row',
      ranks: 'partition',
      settings: 'setting',
    },
    ok: { advantages: 'row' },
    reach: 'group',
  },
  loss: {
    args: {
      ...TRACKS,
      advantages: 'row',
      micro_batches: 'partition',
      ranks: 'partition',
      entropy: 'token',
      sampling_logprobs: 'token',
      settings: 'setting',
    },
    ok: { loss: 'batch', loss_weights: 'token', trained_tokens: 'batch', metrics: 'batch' },
    reach: 'batch',
  },
  sft_loss: {
    args: {
      ...LOGITS,
      labels: 'token',
      micro_batches: 'partition',
      ranks: 'partition',
      shards: 'setting',
    },
    ok: { loss: 'batch', loss_weights: 'token', trained_tokens: 'batch' },
    reach: 'batch',
    padding: { labels: -100 },
  },
  value_loss: {
    args: {
      values: 'token',
      old_values: 'token',
      returns: 'token',
      completion_mask: 'mask',
      prompt_width: 'width',
      micro_batches: 'partition',
      ranks: 'partition',
    },
    ok: { loss: 'batch', loss_weights: 'token', trained_tokens: 'batch' },
    reach: 'batch',
  },
  preference: {
    args: { prompt_ids: 'row', chosen_ids: 'row', rejected_ids: 'row', pad_token_id: 'setting' },
    ok: PAIRS,
    reach: 'row',
  },
  preference_loss: {
    args: {
      chosen_logprobs: 'row',
      rejected_logprobs: 'row',
      ref_chosen_logprobs: 'row',
      ref_rejected_logprobs: 'row',
      settings: 'setting',
    },
    ok: { loss: 'batch', losses: 'row', chosen_rewards: 'row', rejected_rewards: 'row' },
    reach: 'row',
  },
  reward_loss: {
    args: { chosen_scores: 'row', rejected_scores: 'row', margins: 'row' },
    ok: { loss: 'batch', losses: 'row', chosen_weights: 'row', rejected_weights: 'row' },
    reach: 'row',
  },
  unpaired_preference_loss: {
    args: {
      logprobs: 'row',
      ref_logprobs: 'row',
      desirable: 'row',
      kl_logprobs: 'row',
      ref_kl_logprobs: 'row',
    },
    ok: { loss: 'batch', losses: 'row', weights: 'row', kl_weights: 'row', kl: 'batch' },
    reach: 'batch',
  },
  sampling: {
    args: {
      logits: 'row',
      completion_ids: 'row',
      sampled_ids: 'row',
      eos_token_ids: 'setting',
      temperature: 'setting',
      top_k: 'setting',
      top_p: 'setting',
      min_new_tokens: 'setting',
      banned_sequences: 'setting',
    },
    ok: { logprobs: 'row', sampled_logprobs: 'row' },
    reach: 'row',
  },
  reward: {
    args: { prompts: 'row', completions: 'row', references: 'row', completion_ids: 'row' },
    ok: { rewards: 'row', lengths: 'row' },
    reach: 'row',
  },
  overlong_penalty: {
    args: { lengths: 'row', max_length: 'setting', buffer: 'setting' },
    ok: { penalties: 'row' },
    reach: 'row',
  },
  format_score: { args: { completions: 'row' }, ok: { scores: 'row' }, reach: 'row' },
  unroll: {
    args: { observations: 'row', actions: 'row', rewards: 'row', starts: 'row', unroll_steps: 'setting' },
    ok: { observations: 'row', actions: 'row', rewards: 'row', mask: 'row' },
    reach: 'row',
  },
};
