// KLs that grow ever faster or that are none, and rewards that rise while nothing is learnt.
import { make } from '../logs.ts';
import type { Cases } from './case.ts';
import { drawn, flat, followed } from './values.ts';

const { by, noisy } = drawn(57);
const reward = (count: number): number[] => make(count, () => 0.4 + 0.05 * by.normal());
const exponential = (count: number, from: number, to: number, noise = 0.1): number[] =>
  make(count, (row) => from * (to / from) ** (row / (count - 1)) * Math.exp(noise * by.normal()));
const power = (count: number, to: number, exponent: number): number[] =>
  make(count, (row) => to * ((row + 1) / count) ** exponent * Math.exp(0.1 * by.normal()));
const climb = (count: number, from: number, to: number, noise = 0.01): number[] =>
  make(count, (row) => from + ((to - from) * row) / (count - 1) + noise * by.normal());

export const GROWTH: Readonly<Record<string, Cases>> = {
  'monitor/kl-runs-away': {
    breaking: [
      {
        what: 'a thousandfold in 100 steps',
        series: { kl: exponential(100, 0.004, 4), reward: reward(100) },
        onset: 40,
        within: 60,
      },
      {
        what: 'flat, then ten thousandfold in 30 steps',
        series: {
          'train/kl': followed(noisy(60, 5e-4), ...exponential(30, 5e-4, 5)),
          'train/reward': reward(90),
        },
        onset: 60,
        within: 30,
      },
      {
        what: 'between the policies of an update',
        series: { approx_kl: exponential(60, 1e-4, 0.29), reward: reward(60) },
        onset: 30,
        within: 30,
      },
    ],
    holding: [
      { what: 'updates of one size', series: { kl: power(200, 1.5, 2), reward: reward(200) } },
      { what: 'a warm-up of the rate', series: { kl: power(60, 0.8, 4), reward: reward(60) } },
      {
        what: 'a beginning that grows fast, and settles',
        series: {
          kl: make(200, (row) => 0.2 * (1 - Math.exp(-row / 20)) * Math.exp(0.2 * by.normal())),
          reward: reward(200),
        },
      },
      {
        what: 'a late beginning, to an ordinary size',
        series: { kl: followed(noisy(100, 1e-4), ...exponential(25, 1e-4, 0.1)), reward: reward(125) },
      },
    ],
  },
  'monitor/kl-stays-negative': {
    breaking: [
      {
        what: 'the mean of -ratio, called approx_kl',
        series: { approx_kl: make(12, () => -0.99886 + 0.001 * by.normal()), reward: reward(12) },
        onset: 0,
        within: 5,
      },
      {
        what: 'the same under the name of a policy',
        series: { 'actor/ppo_kl': make(30, () => -1 + 0.01 * by.normal()), reward: reward(30) },
        onset: 0,
        within: 5,
      },
      {
        what: 'a sign that is turned',
        series: { approx_kl: followed(noisy(10, 0.01), ...make(10, () => -0.6)), reward: reward(20) },
        onset: 10,
        within: 5,
      },
    ],
    holding: [
      {
        what: 'k1 of an update, on samples that were trained on',
        series: { approx_kl: make(60, () => -0.02 + 0.01 * by.normal()), reward: reward(60) },
      },
      {
        what: 'one update that went too far',
        series: { approx_kl: make(30, (row) => (row === 12 ? -0.5 : 0.01)), reward: reward(30) },
      },
      {
        what: 'a KL near 1',
        series: { kl: make(40, () => 1 + 0.02 * by.normal()), reward: reward(40) },
      },
    ],
  },
  'monitor/kl-size': {
    breaking: [
      {
        what: 'the mean of the ratio, called approx_kl',
        series: { approx_kl: make(12, () => 1 + 0.001 * by.normal()), reward: reward(12) },
        onset: 0,
        within: 5,
      },
    ],
    holding: [
      {
        what: 'the mean of -ratio, which another rule names',
        series: { approx_kl: flat(20, -0.99886), reward: reward(20) },
      },
      { what: 'a KL far below 0', series: { kl: flat(20, -14), reward: reward(20) } },
    ],
  },
  'monitor/groups-alive': {
    breaking: [
      {
        what: 'no spread and no gradient for 200 steps, while the reward rises',
        series: {
          reward: followed(climb(100, 0.2, 0.4), ...climb(200, 0.4, 0.6)),
          reward_std: followed(noisy(100, 0.3), ...flat(200, 0)),
          grad_norm: followed(noisy(100, 1), ...flat(200, 0)),
        },
        onset: 100,
        within: 60,
      },
      {
        what: 'the same for 20 steps at the end of 60',
        series: {
          reward: climb(60, 0.1, 0.8, 0.005),
          reward_std: followed(noisy(40, 0.3), ...flat(20, 0)),
          grad_norm: followed(noisy(40, 1), ...flat(20, 0)),
        },
        onset: 40,
        within: 18,
      },
      {
        what: 'all groups dead from the start, no norm logged',
        series: { 'rewards/mean': climb(80, -2, 5, 0.2), frac_reward_zero_std: flat(80, 1) },
        onset: 0,
        within: 40,
      },
    ],
    holding: [
      {
        what: 'a task that is solved',
        series: {
          reward: followed(climb(100, 0.2, 0.98), ...make(100, () => 0.98 + 0.01 * by.normal())),
          reward_std: followed(noisy(100, 0.3), ...flat(100, 0)),
          grad_norm: followed(noisy(100, 1), ...flat(100, 0)),
        },
      },
      {
        what: 'no spread in some steps of a reward that rises',
        series: {
          reward: climb(100, 0.2, 0.9),
          reward_std: make(100, (row) => (row % 3 === 0 ? 0 : 0.2)),
          grad_norm: make(100, (row) => (row % 3 === 0 ? 0 : 1)),
        },
      },
      {
        what: 'a reward that rises with a gradient that is logged',
        series: {
          reward: climb(100, 0.2, 0.9),
          reward_std: followed(noisy(70, 0.1), ...flat(30, 0)),
          grad_norm: noisy(100, 1),
        },
      },
    ],
  },
};
