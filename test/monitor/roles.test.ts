// What the names that trainers log mean, and that names which only look like them mean nothing.
import { describe, expect, test } from 'vitest';
import { ROLE_NAMES } from '../../src/monitor/role-names.ts';
import { roleOf } from '../../src/monitor/roles.ts';

const NAMED: Readonly<Record<string, readonly string[]>> = {
  // TRL, transformers, LLaMA-Factory, axolotl
  loss: ['loss', 'train/loss', 'train_loss', 'train/gpt_loss', 'lm loss', 'Loss/train', 'train_loss_step'],
  grad_norm: [
    'grad_2.0_norm_total',
    'grad norm',
    'grad_norm',
    'train/grad_norm',
    'gnorm',
    'actor/grad_norm',
    'train/actor_grad_norm',
  ],
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
  ['rollout_corr/k3_kl', 'sampling_gap', 'kl'],
  ['Mismatch KL', 'sampling_gap', 'kl'],
  ['train/gen_kl_error', 'sampling_gap', 'kl'],
])('%s is %s of the part %s', (name, role, part) => {
  expect(roleOf(name)).toEqual({ role, part, evaluation: false });
});

test.each([
  'train/train_loss',
  'train_runtime',
  'train_samples_per_second',
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
    'Loss/val',
    'loss/validation',
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

test.each([
  ...['num_loss', 'n_loss', 'train/samples_with_loss', 'count_loss', 'num_nan_loss', 'skipped_loss'],
  ...['train/tokens_per_loss', 'steps_since_best_loss', 'num_samples_loss', 'no_loss', 'packet_loss'],
  ...['timing_s/compute_loss', 'time/policy_loss', 'compute_loss', 'time_loss', 'percent_loss', 'delta_loss'],
  ...[
    'final_train_loss',
    'initial_loss',
    'prev_loss',
    'best_val_loss',
    'lowest_loss',
    'scaled_loss',
    'loss_std',
  ],
  ...['max_grad_norm', 'clipped_grad_norm', 'grad_norm_clipped', 'loss_weight', 'kl_loss_coef', 'loss_scale'],
])('%s is a count, a copy, a duration, a spread or a bound, and no loss', (name) => {
  expect(roleOf(name).role).toBeUndefined();
});

test.each([
  ['loss_metrics/global_avg_loss', 'loss', ''],
  ['metrics/train/LanguageCrossEntropy', 'loss', ''],
  ['train/CrossEntropyLoss', 'loss', ''],
  ['loss/train/total', 'loss', ''],
  ['avg_loss', 'loss', ''],
  ['loss_total', 'loss', 'total'],
  ['train/moe_aux_loss', 'loss', 'moe_aux'],
  ['router_z_loss', 'loss', 'router_z'],
  ['distillation_loss', 'loss', 'distillation'],
  ['train/policy_gradient_loss', 'policy_loss', 'policy_gradient'],
  ['actor/loss', 'policy_loss', ''],
  ['critic/loss', 'value_loss', ''],
  ['train/pre_clip_grad_norm', 'grad_norm', ''],
  ['optim/total_grad_norm', 'grad_norm', ''],
  ['wm_grad_norm', 'grad_norm', 'wm'],
  ['optim/learning_rate_group0', 'learning_rate', ''],
  ['throughput/device/tokens_per_sec', 'throughput', ''],
  ['time_metrics/data_loading(s)', 'data_time', ''],
  ['elapsed-time-per-iteration', 'step_time', ''],
] as const)('%s is the %s of part "%s"', (name, role, part) => {
  expect(roleOf(name)).toEqual({ role, part, evaluation: false });
});

test.each([
  ['lm loss validation', ''],
  ['lm-loss-validation', ''],
  ['valid_loss', ''],
  ['validation loss', ''],
  ['dev_loss', ''],
  ['heldout_loss', ''],
  ['held_out_loss', ''],
  ['eval_c4_loss', 'c4'],
])('%s is the loss of an evaluation', (name, part) => {
  expect(roleOf(name)).toEqual({ role: 'loss', part, evaluation: true });
});
