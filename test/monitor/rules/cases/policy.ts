// Series of policies whose level changes and stays: those that real trainers log, healthy and broken.
import { dice, make } from '../logs.ts';
import type { Cases } from './case.ts';
import { drawn, flat, followed } from './values.ts';

const { by, noisy } = drawn(18);
const around = (count: number, level: number, deviation: number): number[] =>
  make(count, () => level + deviation * by.normal());
/** From a level to another within so many rows, and noise. */
const shift = (count: number, at: number, from: number, to: number, rows = 1, noise = 0.1): number[] =>
  make(
    count,
    (row) =>
      from * (to / from) ** Math.min(1, Math.max(0, (row - at + 1) / rows)) * Math.exp(noise * by.normal()),
  );
/** An exponential mean, as plots are smoothed. */
const smoothed = (values: readonly number[], kept = 0.9): number[] => {
  let mean = values[0] ?? 0;
  return values.map((value) => {
    mean = kept * mean + (1 - kept) * value;
    return mean;
  });
};
const rising = (count: number): number[] =>
  make(count, (row) => 0.3 + (0.4 * row) / count + 0.05 * by.normal());

const critic = dice(92);

export const POLICY_CASES: Readonly<Record<string, Cases>> = {
  'monitor/critic-explains-returns': {
    breaking: [
      {
        what: 'a critic whose columns are shifted',
        series: { 'critic/vf_explained_var': make(160, () => -0.5 + 0.1 * critic.normal()) },
        onset: 0,
        within: 100,
      },
    ],
    holding: [
      {
        what: 'a critic that learns slowly',
        series: {
          explained_variance: make(160, (row) => 0.4 - 1.5 * Math.exp(-row / 50) + 0.05 * critic.normal()),
        },
      },
      {
        what: 'a critic that explains nothing',
        series: { 'critic/vf_explained_var': make(200, () => 0.08 * critic.normal()) },
      },
    ],
  },
  'monitor/entropy-explodes': {
    breaking: [
      {
        what: 'words at random, in a few steps',
        series: { reward: around(60, 0.3, 0.05), 'actor/entropy': shift(60, 30, 0.4, 6, 5) },
        onset: 30,
        within: 14,
      },
      {
        what: 'by and by',
        series: { reward: around(80, 0.3, 0.05), entropy: make(80, (row) => 0.3 + row * 0.03) },
        onset: 38,
        within: 12,
      },
    ],
    holding: [
      {
        what: 'what is clipped less above rises to twice its start',
        series: {
          reward: rising(100),
          'actor/entropy': make(100, (row) => (0.3 + 0.003 * row) * Math.exp(0.08 * by.normal())),
        },
      },
      {
        what: 'supervised training',
        series: { loss: noisy(60, 2), entropy: shift(60, 30, 0.4, 6) },
        silent: true,
      },
    ],
  },
  'monitor/reward-falls': {
    breaking: [
      {
        what: 'to the floor, and stays',
        series: { reward: followed(around(30, -0.5, 0.05), ...around(30, -1, 0.02)) },
        onset: 30,
        within: 16,
      },
      {
        what: 'after it was learnt',
        series: {
          'critic/score/mean': make(90, (row) => (row < 50 ? 0.2 + row * 0.01 : 0.2) + 0.05 * by.normal()),
        },
        onset: 50,
        within: 18,
      },
      {
        what: 'to a constant',
        series: { reward: followed(around(40, 0.6, 0.05), ...flat(20, 0)) },
        onset: 40,
        within: 20,
      },
    ],
    holding: [
      { what: 'noise', series: { reward: around(200, 0.3, 0.1) } },
      { what: 'noise that is smoothed', series: { reward: smoothed(around(200, 0.3, 0.1)) } },
      { what: 'learning', series: { reward: rising(120) } },
      {
        what: 'harder prompts, which are learnt as well',
        series: {
          reward: make(
            120,
            (row) => (row < 60 ? 0.3 + row * 0.008 : 0.2 + (row - 60) * 0.012) + 0.03 * by.normal(),
          ),
        },
      },
      { what: 'rare rewards', series: { reward: make(100, (row) => (row % 7 === 3 ? 0.0625 : 0)) } },
      { what: 'too few', series: { reward: [0.5, 0.5, 0.4, 0, 0, 0] }, silent: true },
    ],
  },
  'monitor/kl-stays-negative': {
    breaking: [
      {
        what: 'a sign that is turned',
        series: { reward: rising(60), kl: noisy(60, -0.05, 0.3) },
        onset: 0,
        within: 20,
      },
      {
        what: 'a sign that is turned, of whole completions',
        series: { reward: rising(60), 'objective/kl': make(60, (row) => -4 + Math.sin(2.3 * row)) },
        onset: 0,
        within: 20,
      },
    ],
    holding: [
      { what: 'k1 near the start', series: { reward: rising(60), kl: around(60, 0.001, 0.01) } },
      {
        what: 'the same of whole completions',
        series: { reward: rising(60), 'objective/kl': make(60, (row) => 1.5 * Math.sin(2.3 * row) - 0.05) },
      },
      {
        what: 'k3, of which the other rule speaks',
        series: { reward: rising(60), k3_kl: noisy(60, -0.05, 0.3) },
        silent: true,
      },
    ],
  },
  'monitor/kl-coefficient': {
    breaking: [
      {
        what: 'a coefficient of 100',
        series: { reward: around(20, 0.3, 0.05), kl: noisy(20, 1e-4) },
        declared: { beta: 100 },
        onset: 0,
      },
      {
        what: 'a loss that is 100 times the KL and nothing else',
        series: {
          reward: around(40, 0.3, 0.05),
          ...((kl: number[]) => ({ kl, loss: kl.map((each) => 100 * each + 1e-6) }))(noisy(40, 1e-4, 0.5)),
        },
        onset: 0,
        within: 20,
      },
    ],
    holding: [
      {
        what: 'a usual one',
        series: { reward: rising(20), kl: noisy(20, 0.01) },
        declared: { beta: 0.04 },
      },
      {
        what: 'a loss summed over tokens',
        series: {
          reward: rising(40),
          ...((kl: number[]) => ({ kl, loss: kl.map((each) => 0.04 * 200 * each) }))(noisy(40, 0.01, 0.5)),
        },
      },
      {
        what: 'a loss with advantages in it',
        series: { reward: rising(40), kl: noisy(40, 0.01), loss: around(40, 0.01, 0.1) },
        silent: true,
      },
    ],
  },
  'monitor/kl-is-used': {
    breaking: [
      {
        what: 'a coefficient of 0',
        series: { reward: rising(9), 'actor/kl_loss': noisy(9, 0.1) },
        declared: { kl_loss_coef: 0 },
        onset: 0,
      },
    ],
    holding: [
      { what: 'a coefficient', series: { reward: rising(9), kl: noisy(9, 0.1) }, declared: { beta: 0.001 } },
      { what: 'none is declared', series: { reward: rising(9), kl: noisy(9, 0.1) }, silent: true },
    ],
  },
  'monitor/policy-loss-stays-zero': {
    breaking: [
      {
        what: 'advantages that are zeroed',
        series: {
          loss: followed(around(20, 0, 0.02), ...flat(30, 0)),
          grad_norm: noisy(50, 1),
          reward: rising(50),
          reward_std: noisy(50, 0.3),
        },
        onset: 20,
        within: 20,
      },
    ],
    holding: [
      {
        what: 'a task that is solved',
        series: {
          loss: followed(around(20, 0, 0.02), ...flat(30, 0)),
          reward: followed(rising(20), ...flat(30, 1)),
          reward_std: followed(noisy(20, 0.3), ...flat(30, 0)),
        },
      },
      {
        what: 'one update a batch, rounded',
        series: {
          loss: make(60, (row) => (row % 5 === 0 ? 1e-4 : 0)),
          reward: rising(60),
          reward_std: noisy(60, 0.3),
        },
        silent: true,
      },
    ],
  },
  'monitor/tool-calls-vanish': {
    breaking: [
      {
        what: 'at once',
        series: { 'tools/call_frequency': followed(noisy(30, 0.8), ...flat(12, 0)) },
        onset: 30,
        within: 8,
      },
      {
        what: 'by and by',
        series: { 'num_tool_calls/mean': make(60, (row) => Math.max(0, 2 - row * 0.05)) },
        onset: 39,
        within: 9,
      },
    ],
    holding: [
      { what: 'fewer of them', series: { 'tools/call_frequency': make(60, (row) => 0.9 - row * 0.01) } },
      {
        what: 'a batch that needs none now and then',
        series: { tool_calls: make(60, (row) => (row % 5 < 2 ? 0 : 3)) },
      },
      {
        what: 'hardly any from the start',
        series: { tool_calls: make(40, (row) => (row % 9 === 0 ? 1 : 0)) },
        silent: true,
      },
    ],
  },
};

/** More of rules whose other cases are in table.ts. */
export const MORE_POLICY_CASES: Readonly<Record<string, Cases>> = {
  'monitor/kl-spike': {
    breaking: [
      {
        what: 'thirtyfold at once, below a nat',
        series: { reward: rising(60), kl: followed(noisy(30, 0.015, 0.3), ...noisy(30, 0.487, 0.2)) },
        onset: 30,
        within: 8,
      },
      {
        what: 'between two policies',
        series: {
          reward: rising(60),
          'policy/approxkl_avg': followed(noisy(20, 0.002, 0.3), ...noisy(20, 0.2, 0.3)),
        },
        onset: 20,
        within: 8,
      },
      {
        what: 'of whole completions',
        series: { reward: rising(60), 'objective/kl': followed(noisy(20, 2, 0.2), ...noisy(20, 60, 0.2)) },
        onset: 20,
        within: 8,
      },
    ],
    holding: [
      {
        what: 'it grows with the square of the steps, logged every tenth',
        series: {
          reward: rising(60),
          kl: make(60, (row) => 1e-5 * (10 * (row + 1)) ** 2 * Math.exp(0.3 * by.normal())),
        },
      },
      {
        what: 'and comes to rest',
        series: {
          reward: rising(60),
          kl: make(60, (row) => (0.3 / (1 + Math.exp(-(row - 20) / 3))) * Math.exp(0.2 * by.normal())),
        },
      },
      {
        what: 'a reference that is renewed',
        series: { reward: rising(60), kl: make(60, (row) => 0.01 * (1 + (row % 20))) },
      },
    ],
  },
  'monitor/kl-size': {
    breaking: [
      {
        what: 'updates that go far beyond what was sampled',
        series: { reward: rising(60), approx_kl: make(60, (row) => 0.002 * (1.49 / 0.002) ** (row / 59)) },
        onset: 45,
        within: 5,
      },
    ],
    holding: [
      { what: 'updates that end early', series: { reward: rising(60), approx_kl: noisy(60, 0.03, 0.5) } },
      {
        what: 'an update that went too far',
        series: { reward: rising(60), approx_kl: followed(noisy(30, 0.03), 0.9, 0.4, ...noisy(28, 0.03)) },
      },
    ],
  },
  'monitor/entropy-collapse': {
    breaking: [
      {
        what: 'in a few steps, however well it went',
        series: { reward: rising(60), entropy: shift(60, 30, 0.8, 0.1, 4) },
        onset: 30,
        within: 14,
      },
    ],
    holding: [
      {
        what: 'with the task, step by step',
        series: {
          reward: rising(120),
          entropy: make(120, (row) => (0.05 + 1.2 * Math.exp(-row / 15)) * Math.exp(0.08 * by.normal())),
        },
      },
    ],
  },
  'monitor/length-spike': {
    breaking: [
      {
        what: 'they end soon, within a few steps',
        series: { reward: around(70, 0.3, 0.05), 'response_length/mean': shift(70, 40, 300, 20, 4) },
        onset: 40,
        within: 14,
      },
    ],
    holding: [
      {
        what: 'the policy learns to come to an end, and is paid for it',
        series: {
          reward: make(60, (row) => (row < 30 ? 0.1 : 0.7) + 0.05 * by.normal()),
          completion_length: shift(60, 30, 1000, 200, 4),
        },
      },
      {
        what: 'a fast beginning',
        series: {
          reward: rising(60),
          completion_length: make(60, (row) => (60 + 900 * Math.exp(-row / 6)) * Math.exp(0.1 * by.normal())),
        },
      },
    ],
  },
  'monitor/truncated-share': {
    breaking: [
      {
        what: 'a policy that could stop',
        series: { 'completions/clipped_ratio': followed(noisy(20, 0.1), ...noisy(10, 0.87, 0.02)) },
        onset: 20,
        within: 8,
      },
    ],
    holding: [
      {
        what: 'long batches',
        series: { 'completions/clipped_ratio': make(60, (row) => (row % 10 < 3 ? 0.85 : 0.2)) },
      },
    ],
  },
  'monitor/stopped-share': {
    breaking: [
      {
        what: 'a policy that could stop',
        series: { stop_rate: followed(noisy(20, 0.8, 0.05), ...flat(10, 0.1)) },
        onset: 20,
        within: 8,
      },
    ],
    holding: [{ what: 'most stop', series: { stop_rate: noisy(40, 0.8, 0.05) } }],
  },
  'monitor/length-stuck-at-limit': {
    breaking: [
      {
        what: 'a limit that nobody declares',
        series: {
          'completions/max_length': followed(
            make(20, (row) => 400 + row),
            ...flat(30, 512),
          ),
          'completions/mean_length': followed(noisy(25, 200), ...flat(25, 511)),
        },
        onset: 25,
        within: 16,
      },
    ],
    holding: [
      {
        what: 'answers of one length',
        series: { 'completions/max_length': flat(40, 12), 'completions/mean_length': flat(40, 12) },
        silent: true,
      },
    ],
  },
  'monitor/rewards-differ': {
    breaking: [
      { what: 'a mean that never moves', series: { 'critic/score/mean': flat(40, 0) }, onset: 0, within: 30 },
      {
        what: 'a mean that stands still',
        series: { 'critic/score/mean': followed(around(20, 0.4, 0.05), ...flat(35, 0.2)) },
        onset: 20,
        within: 30,
      },
    ],
    holding: [
      {
        what: 'a mean that came to its bound',
        series: { reward: make(90, (row) => Math.min(1, 0.2 + row / 40)) },
      },
      {
        what: 'rare rewards from the start',
        series: {
          reward: make(60, (row) => (row % 13 === 12 ? 0.06 : 0)),
          reward_std: make(60, (row) => (row % 13 === 12 ? 0.2 : 0)),
        },
      },
    ],
  },
  'monitor/groups-alive': {
    breaking: [
      {
        what: 'a deviation of 0, prompt by prompt',
        series: { reward: rising(80), reward_std: followed(noisy(20, 0.3), ...flat(60, 0)) },
        onset: 20,
        within: 26,
      },
    ],
    holding: [
      {
        what: 'a task that is hardly ever solved',
        series: {
          reward: noisy(60, 0.01),
          frac_reward_zero_std: make(60, (row) => (row % 3 === 0 ? 0.95 : 0.98)),
        },
      },
    ],
  },
  'monitor/sampling-gap': {
    breaking: [
      {
        what: 'probabilities that are as far apart as they can be',
        series: { 'training/rollout_probs_diff_mean': followed(noisy(10, 0.006), ...flat(5, 1)) },
        onset: 10,
      },
      {
        what: 'the KL of prime-rl',
        series: { 'Mismatch KL': followed(noisy(12, 0.002), ...flat(6, 0.9)) },
        onset: 12,
      },
      {
        what: 'the KL of verl, from the first step on',
        series: { 'rollout_corr/k3_kl': noisy(12, 3, 0.2) },
        onset: 0,
      },
      {
        what: 'the KL of NeMo-RL',
        series: { 'train/gen_kl_error': followed(noisy(20, 0.01), ...flat(4, 0.7)) },
        onset: 20,
      },
    ],
    holding: [
      { what: 'probabilities', series: { 'training/rollout_probs_diff_mean': noisy(40, 0.01, 0.5) } },
      { what: 'a KL of kernels', series: { 'Mismatch KL': noisy(40, 0.002, 0.5) } },
      { what: 'a KL of a mixture of experts', series: { 'rollout_corr/k3_kl': noisy(40, 0.08, 0.5) } },
      {
        what: 'one odd batch',
        series: { 'mismatch_kl/mean': followed(noisy(20, 0.01), 2, ...noisy(20, 0.01)) },
      },
    ],
  },
};
