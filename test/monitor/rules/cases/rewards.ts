// Rewards and advantages that tell nothing apart, or all push one way.
import { make } from '../logs.ts';
import type { Cases } from './case.ts';
import { drawn, flat, followed } from './values.ts';

const { grpo, noisy } = drawn(12);

export const REWARDS: Readonly<Record<string, Cases>> = {
  'monitor/rewards-differ': {
    breaking: [
      {
        what: 'zeroed rewards from the start',
        series: grpo(24, { reward: flat(24, 0), reward_std: flat(24, 0), frac_reward_zero_std: flat(24, 1) }),
        onset: 0,
        within: 20,
      },
      {
        what: 'zeroed rewards later',
        series: grpo(13, {
          reward: followed(noisy(9, 0.4), 0, 0, 0, 0),
          reward_std: followed(noisy(9, 0.3), 0, 0, 0, 0),
          frac_reward_zero_std: followed(flat(9, 0.25), 1, 1, 1, 1),
        }),
        onset: 9,
      },
      {
        what: 'a constant above what was earned',
        series: grpo(13, {
          reward: followed(flat(9, 0.4), 0.7, 0.7, 0.7, 0.7),
          reward_std: followed(noisy(9, 0.3), 0, 0, 0, 0),
          frac_reward_zero_std: followed(flat(9, 0.25), 1, 1, 1, 1),
        }),
        onset: 9,
      },
    ],
    holding: [
      {
        what: 'one group per step, of which some are dead by chance',
        series: {
          reward: [0.1, 0.2, 0, 0.1, 0, 0, 0, 0.1, 0.2],
          reward_std: [0.3, 0.4, 0, 0.3, 0, 0, 0, 0.3, 0.4],
          frac_reward_zero_std: [0, 0, 1, 0, 1, 1, 1, 0, 0],
        },
      },
      {
        what: 'rare rewards',
        series: grpo(40, {
          reward: make(40, (row) => (row % 3 === 0 ? 0.02 : 0)),
          reward_std: make(40, (row) => (row % 3 === 0 ? 0.1 : 0)),
        }),
      },
      {
        what: 'a task that is solved',
        series: grpo(60, {
          reward: make(60, (row) => Math.min(1, 0.2 + row / 40)),
          reward_std: make(60, (row) => (row < 32 ? 0.2 : 0)),
          frac_reward_zero_std: make(60, (row) => Math.min(1, row / 32)),
        }),
      },
      { what: 'no deviation', series: { reward: flat(9, 0) }, silent: true },
    ],
  },
  'monitor/groups-alive': {
    breaking: [
      {
        what: 'nearly all dead',
        series: grpo(40, { frac_reward_zero_std: flat(40, 0.995), reward: flat(40, 0.02) }),
        onset: 0,
        within: 20,
      },
    ],
    holding: [
      { what: 'half of them', series: grpo(40, { frac_reward_zero_std: noisy(40, 0.5) }) },
      {
        what: 'solved',
        series: grpo(60, {
          frac_reward_zero_std: make(60, (row) => Math.min(1, row / 20)),
          reward: make(60, (row) => Math.min(1, row / 20)),
        }),
      },
    ],
  },
  'monitor/advantages-centred': {
    breaking: [
      {
        what: 'no baseline',
        series: { 'advantages/mean': flat(20, 2), 'advantages/std': flat(20, 0.5) },
        onset: 0,
        within: 10,
      },
      {
        what: 'the estimator of verl',
        series: { 'critic/advantages/mean': flat(20, 2) },
        declared: { 'algorithm/adv_estimator': 'grpo' },
        onset: 0,
        within: 10,
      },
    ],
    holding: [
      {
        what: 'means over tokens',
        series: { 'advantages/mean': flat(40, -0.3), 'advantages/std': flat(40, 1) },
      },
      { what: 'no deviation', series: { 'critic/advantages/mean': flat(40, -3) }, silent: true },
    ],
  },
};
