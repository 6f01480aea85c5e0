// Classes that rules were written for, under other names, lengths and formats: dead rewards that rise, lengths above the limit, a KL
// that multiplies itself, and a run that ends early.
import { describe, expect, test } from 'vitest';
import { drawn } from './cases/values.ts';
import { type Columns, type Format, verdictAs } from './formats.ts';
import { make } from './logs.ts';

const { by, noisy, falling } = drawn(111);
const zeros = (count: number): number[] => make(count, () => 0);
const rising = (count: number, from = 0.1, to = 0.7): number[] =>
  make(count, (row) => from + ((to - from) * row) / count + 0.02 * by.normal());
const reward = (count: number): number[] => make(count, () => 0.4 + 0.05 * by.normal());
const times = (count: number, from: number, to: number): number[] =>
  make(count, (row) => from * (to / from) ** (row / (count - 1)) * by.heavy(1, 0.08));

const FAULTY: readonly (readonly [string, Format, string, Columns])[] = [
  [
    'no spread and no gradient while the reward rises, in TRL',
    'trainer_state.json',
    'groups-alive',
    {
      series: {
        loss: zeros(200),
        reward: rising(200),
        reward_std: zeros(200),
        grad_norm: zeros(200),
        frac_reward_zero_std: make(200, () => 1),
      },
    },
  ],
  [
    'the same in verl, whose groups are not logged',
    'verl console',
    'groups-alive',
    {
      series: {
        'actor/pg_loss': noisy(200, 0.01),
        'critic/score/mean': rising(200),
        'rewards/std': zeros(200),
        'actor/grad_norm': zeros(200),
      },
    },
  ],
  [
    'the same from TensorBoard, after 40 good steps',
    'TensorBoard',
    'groups-alive',
    {
      series: {
        'train/loss': noisy(240, 0.01),
        'train/reward': [...reward(40), ...rising(200, 0.4, 0.9)],
        'train/reward_std': [...noisy(40, 0.3), ...zeros(200)],
        'train/grad_norm': [...noisy(40, 1), ...zeros(200)],
      },
      every: 5,
    },
  ],
  [
    'the same in a CSV of somebody',
    'CSV',
    'groups-alive',
    {
      series: {
        policy_loss: noisy(200, 0.01),
        mean_reward: rising(200),
        reward_mean: rising(200),
        'reward/std': zeros(200),
        grad_norm: zeros(200),
      },
    },
  ],
  [
    'a mean length above the limit of verl',
    'verl console',
    'length-within-limit',
    {
      series: {
        'actor/pg_loss': noisy(50, 0.1),
        'response_length/mean': noisy(50, 3000, 0.02),
        'response_length/max': noisy(50, 5000, 0.02),
      },
      declared: { 'data/max_response_length': 2048 },
    },
  ],
  [
    'a longest completion above the limit of vLLM',
    'JSON lines',
    'length-within-limit',
    {
      series: { loss: noisy(50, 0.1), reward: reward(50), 'completions/max_length': make(50, () => 300) },
      declared: { max_tokens: 256 },
    },
  ],
  [
    'a mean above the limit of OpenRLHF',
    'TensorBoard',
    'length-within-limit',
    {
      series: { 'train/policy_loss': noisy(50, 0.1), 'train/response_length': noisy(50, 1500, 0.01) },
      declared: { generate_max_len: 1024 },
    },
  ],
  [
    'a mean above the limit of a nested configuration',
    'CSV',
    'length-within-limit',
    {
      series: { loss: noisy(50, 0.1), reward: reward(50), completion_length: noisy(50, 1500, 0.01) },
      declared: { 'generation/max_new_tokens': 1024 },
    },
  ],
  [
    'a KL that grows two thousandfold, logged at every tenth step',
    'trainer_state.json',
    'kl-runs-away',
    { series: { loss: noisy(60, 0.01), kl: times(60, 0.002, 4), reward: reward(60) }, every: 10 },
  ],
  [
    'an actor/kl_loss over 500 steps',
    'verl console',
    'kl-runs-away',
    {
      series: {
        'actor/pg_loss': noisy(500, 0.01),
        'actor/kl_loss': times(500, 0.0008, 1.6),
        'critic/score/mean': reward(500),
      },
    },
  ],
  [
    'an approx_kl of CleanRL',
    'TensorBoard',
    'kl-runs-away',
    {
      series: {
        'losses/policy_loss': noisy(120, 0.01),
        'losses/approx_kl': times(120, 0.0002, 0.25),
        'charts/episodic_return': reward(120),
      },
    },
  ],
];

describe('is found', () => {
  test.each(FAULTY)('%s, in %s, by %s', async (_what, format, rule, columns) => {
    expect((await verdictAs(format, columns)).failed).toHaveProperty(rule);
  });

  test.each([
    ['max_steps', { max_steps: 1000 }],
    ['trainer/total_training_steps', { 'trainer/total_training_steps': 1000 }],
    ['train_iters', { train_iters: 1000 }],
    ['num_train_steps', { num_train_steps: 1000 }],
  ] as const)('a run that ends at step 400 of 1000: %s', async (_name, declared) => {
    const { remarks } = await verdictAs('CSV', {
      series: { loss: falling(40) },
      first: 10,
      every: 10,
      declared,
    });
    expect(remarks).toMatch(/the log ends at step 400 of 1000/);
  });

  test('a KL that grows a thousandfold to an ordinary size is a remark', async () => {
    for (const format of ['verl console', 'JSON lines', 'CSV'] as const) {
      const { failed, remarks } = await verdictAs(format, {
        series: { pg_loss: noisy(200, 0.01), kl: times(200, 0.0001, 0.15), reward: reward(200) },
      });
      expect(failed).toEqual({});
      expect(remarks).toMatch(/kl grows from .* to .*, \d{3,4} times/);
    }
  });
});

describe('is not found', () => {
  test('in a solved task, in completions at their limit, and in a KL from 0 that settles', async () => {
    const settled = make(200, (row) => 0.08 * (1 - Math.exp(-row / 30)) * by.heavy(1, 0.1));
    const { failed, remarks } = await verdictAs('JSON lines', {
      series: {
        pg_loss: noisy(200, 0.01),
        kl: settled,
        reward: rising(200, 0.2, 0.6),
        reward_std: noisy(200, 0.3),
        completion_length: make(200, () => 256),
      },
      declared: { max_completion_length: 257, max_steps: 200 },
    });
    expect(failed).not.toHaveProperty('length-within-limit');
    expect(failed).not.toHaveProperty('groups-alive');
    expect(remarks).toBe('');
  });
});
