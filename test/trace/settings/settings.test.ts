// What is read out of trainer arguments: only what is certain.
import { expect, test } from 'vitest';
import { settingsOf } from '../../../src/trace/settings/settings.ts';
import { settingsRecord } from '../recorded.ts';

const READ = { trl: '1.13.0', transformers: '5.18.0', torch: '2.13.0' };
const GRPO = {
  loss_type: 'dapo',
  beta: 0,
  epsilon: 0.2,
  epsilon_high: null,
  scale_rewards: 'group',
  multi_objective_aggregation: 'sum_then_normalize',
  importance_sampling_level: 'token',
  temperature: 0.7,
  mask_truncated_completions: false,
  use_bias_correction_kl: false,
  steps_per_generation: 4,
  gradient_accumulation_steps: 4,
  use_liger_kernel: false,
  max_completion_length: 64,
  entropy_coef: 0,
  use_adaptive_entropy: false,
};
const declared = (trainer: string, values: Readonly<Record<string, unknown>>) =>
  settingsOf([settingsRecord(trainer, values)], READ).semantics;

test('SFT says which tokens it trains where it is told so, and a data set decides otherwise', () => {
  const target = (values: object) => declared('SFTTrainer', { ...values }).sft_target;
  expect(target({ assistant_only_loss: true, completion_only_loss: null })).toBe('assistant');
  expect(target({ assistant_only_loss: false, completion_only_loss: false })).toBe('all');
  expect(target({ assistant_only_loss: false, completion_only_loss: null })).toBeUndefined();
  expect(target({ assistant_only_loss: false, completion_only_loss: true })).toBeUndefined();
});

test('SFT is a mean over all tokens of the step, unless its loss weighs tokens', () => {
  const even = { loss_type: 'chunked_nll', average_tokens_across_devices: true };
  expect(declared('SFTTrainer', even)).toMatchObject({
    sft_aggregation: 'token-mean',
    loss_normalization: 'global',
  });
  for (const other of [{ loss_type: 'dft' }, { label_smoothing_factor: 0.1 }, { use_liger_kernel: true }])
    expect(declared('SFTTrainer', { ...even, ...other }).sft_aggregation).toBeUndefined();
  expect(declared('SFTTrainer', { ...even, loss_type: 'dft' }).sft_objective).toBe('dft');
  expect(
    declared('SFTTrainer', { ...even, average_tokens_across_devices: false }).loss_normalization,
  ).toBeUndefined();
});

test.each([
  [
    'grpo',
    { loss_aggregation: 'seq-mean-token-mean', policy_objective: 'clip', clip_low: 0.2, clip_high: 0.2 },
  ],
  ['bnpo', { loss_aggregation: 'token-mean', loss_normalization: 'local' }],
  ['dapo', { loss_aggregation: 'token-mean', loss_normalization: 'global' }],
  ['dr_grpo', { loss_aggregation: 'token-sum-norm', loss_norm: 64 }],
  ['cispo', { loss_aggregation: 'token-mean', policy_objective: 'cispo' }],
  ['luspo', { loss_aggregation: 'seq-mean-token-sum' }],
])('GRPO of loss type %s', (loss_type, semantics) => {
  expect(declared('GRPOTrainer', { ...GRPO, loss_type })).toMatchObject(semantics);
});

test('the tokens of a generation batch are those of the step only where it is one step', () => {
  expect(declared('GRPOTrainer', { ...GRPO, steps_per_generation: 8 }).loss_aggregation).toBeUndefined();
});

test('GRPO without beta has no KL term, and with it k3 in the loss', () => {
  expect(declared('GRPOTrainer', GRPO)).toMatchObject({ kl_coef: 0 });
  expect(declared('GRPOTrainer', { ...GRPO, beta: 0.04 })).toMatchObject({
    kl_coef: 0.04,
    kl_estimator: 'k3',
    kl_placement: 'loss',
    kl_ratio_correction: false,
  });
});

test('GRPO and RLOO score at the sampling temperature; RLOO takes the KL off the reward', () => {
  expect(declared('GRPOTrainer', GRPO)).toMatchObject({
    temperature_in_scoring: true,
    truncated_completions_trained: true,
    advantage_baseline: 'group-mean',
    advantage_scaling: 'group',
    advantage_ddof: 1,
  });
  expect(
    declared('RLOOTrainer', { beta: 0.05, normalize_advantages: false, mask_truncated_completions: true }),
  ).toEqual({
    temperature_in_scoring: true,
    truncated_completions_trained: false,
    kl_placement: 'reward',
    kl_coef: 0.05,
    kl_estimator: 'k1',
    loss_aggregation: 'seq-mean-token-sum',
    advantage_baseline: 'leave-one-out',
    advantage_scaling: 'none',
  });
});

test('DPO names its objective where it is one of ours', () => {
  expect(declared('DPOTrainer', { loss_type: ['sigmoid'], beta: 0.1, label_smoothing: 0 })).toEqual({
    temperature_in_scoring: false,
    preference_objective: 'dpo',
    preference_beta: 0.1,
    preference_label_smoothing: 0,
  });
  for (const values of [
    { loss_type: ['sigmoid', 'sft'] },
    { loss_type: ['apo_zero'] },
    { loss_type: ['ipo'], ld_alpha: 0.5 },
  ])
    expect(declared('DPOTrainer', { beta: 0.1, ...values })).toEqual({ temperature_in_scoring: false });
});

test("a trainer of the script's own declares nothing, whatever it derives from and is called", () => {
  const own = settingsOf(
    [settingsRecord('MyTrainer', GRPO, { bases: ['GRPOTrainer'], library: '__main__' })],
    READ,
  );
  expect(own).toMatchObject({ trainer: undefined, semantics: {}, from: [], values: {} });
  expect(settingsOf([settingsRecord('GRPOTrainer', GRPO, { library: '__main__' })], READ).semantics).toEqual(
    {},
  );
});

test('versions that were not read declare nothing, and their trainer is known all the same', () => {
  for (const versions of [{ trl: '0.19.1' }, { trl: '2.0.0' }, { trl: '1.13.0', transformers: '4.57.0' }]) {
    const { trainer, semantics } = settingsOf([settingsRecord('GRPOTrainer', GRPO)], versions);
    expect({ trainer, semantics }).toEqual({ trainer: 'GRPOTrainer', semantics: {} });
  }
});

test('of two trainers only what both say is declared', () => {
  const { trainer, semantics, values } = settingsOf(
    [settingsRecord('GRPOTrainer', GRPO), settingsRecord('GRPOTrainer', { ...GRPO, loss_type: 'grpo' })],
    READ,
  );
  expect(trainer).toBe('GRPOTrainer');
  expect(semantics.loss_aggregation).toBeUndefined();
  expect(semantics.advantage_scaling).toBe('group');
  expect(values).not.toHaveProperty('loss_type');
  const mixed = settingsOf([settingsRecord('SFTTrainer', {}), settingsRecord('GRPOTrainer', GRPO)], READ);
  expect(mixed.trainer).toBeUndefined();
});

test('the user wins, and it is said who says what', () => {
  const { from, semantics, trainOn } = settingsOf(
    [settingsRecord('SFTTrainer', { assistant_only_loss: true })],
    READ,
    {
      semantics: { sft_target: 'all' },
      trainOn: 'all',
    },
  );
  expect(semantics.sft_target).toBe('all');
  expect(trainOn).toBe('all');
  expect(from).toEqual(['SFTConfig(assistant_only_loss=True)', '--semantics sft_target']);
});

test('no arguments, no declarations', () => {
  expect(settingsOf([], READ)).toEqual({
    from: [],
    semantics: {},
    trainer: undefined,
    values: {},
    trainOn: undefined,
  });
});
