// What the names that trainers log mean, and that names which only look like them mean nothing.
import { describe, expect, test } from 'vitest';
import { ROLE_NAMES } from '../../src/monitor/role-names.ts';
import { roleOf } from '../../src/monitor/roles.ts';

const NAMED: Readonly<Record<string, readonly string[]>> = {
  // TRL, transformers, LLaMA-Factory, axolotl
  loss: ['loss', 'train/loss', 'train_loss', 'train/gpt_loss', 'lm loss'],
  grad_norm: ['grad_norm', 'train/grad_norm', 'gnorm', 'actor/grad_norm', 'train/actor_grad_norm'],
  learning_rate: [
    'learning_rate',
    'train/learning_rate',
    'lr',
    'train/lr',
    'actor/lr',
    'train/actor_lr',
    'lr-AdamW',
  ],
  reward: ['reward', 'train/reward', 'critic/score/mean', 'rollout/raw_reward', 'avg_orm_score'],
  reward_std: ['train/reward_std'],
  dead_groups: ['train/frac_reward_zero_std'],
  kl: ['kl', 'train/kl', 'actor/kl_loss', 'train/kl_penalty', 'avg_kl'],
  approx_kl: ['actor/ppo_kl', 'policy/approxkl_avg', 'train/ppo_kl'],
  entropy: ['train/entropy', 'actor/entropy', 'policy/entropy_avg', 'policy_entropy'],
  clip_fraction: ['train/clip_ratio/region_mean', 'actor/pg_clipfrac', 'train/ppo_clip_ratio'],
  ratio: ['val/ratio', 'train/probs_ratio'],
  completion_length: [
    'completions/mean_length',
    'response_length/mean',
    'train/response_length',
    'avg_response_length',
  ],
  truncated_share: [
    'train/completions/clipped_ratio',
    'response_length/clip_ratio',
    'rollout/truncated_ratio',
  ],
  sampling_gap: ['train/sampling/sampling_logp_difference/mean', 'train/train_rollout_logprob_abs_diff'],
  policy_loss: ['actor/pg_loss', 'train/policy_loss', 'loss/policy_avg'],
  value_loss: ['critic/vf_loss', 'train/critic_loss'],
  throughput: ['perf/throughput'],
  step_time: ['train/step_time', 'timing_s/step'],
  samples: ['train/num_unmasked_tokens'],
  tool_failures: ['tools/failure_frequency'],
};

test.each(Object.entries(NAMED).flatMap(([role, names]) => names.map((name) => [name, role] as const)))(
  '%s is the %s of the run',
  (name, role) => {
    expect(roleOf(name)).toEqual({ role, part: '', evaluation: false });
  },
);

test.each([
  ['learner_step/llm_sft_loss_avg', 'sft_loss', 'llm_sft'],
  ['learner_step/llm_rft_loss_avg', 'policy_loss', 'llm_rft'],
  ['learner_step/llm_total_loss_avg', 'loss', 'llm_total'],
  ['learner_step/wm_loss_avg', 'loss', 'wm'],
  ['train/aux_loss', 'loss', 'aux'],
  ['num_sft_samples', 'samples', 'sft'],
  ['wm_grad_norm', 'grad_norm', 'wm'],
  ['critic/grad_norm', 'grad_norm', 'critic'],
  ['critic/lr', 'learning_rate', 'critic'],
  ['critic/rewards/mean', 'reward', 'shaped'],
  ['objective/kl', 'kl', 'sequence'],
  ['training/rollout_probs_diff_mean', 'sampling_gap', 'probability'],
])('%s is %s of the part %s', (name, role, part) => {
  expect(roleOf(name)).toEqual({ role, part, evaluation: false });
});

test.each([
  'train/train_loss',
  'train_runtime',
  'train_samples_per_second',
  'train/num_tokens',
  'train/lr(1e-3)',
  'entropy_loss',
  'rewards/chosen',
  'rewards/accuracy_reward/mean',
  'train/cispo_clip_ratio',
  'sampling/importance_sampling_ratio/mean',
  'rollout_corr/kl',
  'prompt_length/mean',
  'prompt_length/clip_ratio',
  'loss_scale',
  'best_loss',
  'kl_coef',
  'my metric',
])('%s means nothing certain', (name) => {
  expect(roleOf(name).role).toBeUndefined();
});

describe('held-out data', () => {
  test.each([
    'eval/loss',
    'eval_loss',
    'val/loss',
    'validation/loss',
    'test/loss',
    'eval_reward',
    'evaluator_step/reward',
  ])('%s is of an evaluation', (name) => {
    expect(roleOf(name).evaluation).toBe(true);
  });
  test.each(['train/valid_tokens_per_sec_per_gpu', 'val/ratio', 'value_loss', 'actor/pg_loss'])(
    '%s is of training',
    (name) => {
      expect(roleOf(name).evaluation).toBe(false);
    },
  );
  test('its series have their role all the same', () => {
    expect(roleOf('eval/loss').role).toBe('loss');
    expect(roleOf('eval_reward').role).toBe('reward');
  });
});

test('no name is told twice', () => {
  const names = Object.values(ROLE_NAMES).flatMap((entries) =>
    entries.map((entry) => entry.replace(/^[a-z_]+:/, '')),
  );
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  for (const name of names) expect(name).toBe(name.toLowerCase());
});
