// Series that leave their level from one point to the next, and do not come back.
import { make } from '../logs.ts';
import type { Cases } from './case.ts';
import { drawn, flat, followed } from './values.ts';

const { by, noisy } = drawn(14);

export const SPIKES: Readonly<Record<string, Cases>> = {
  'monitor/grad-norm-spike': {
    breaking: [
      { what: 'it stays', series: { grad_norm: followed(noisy(40, 1, 0.5), 300, 500, 900) }, onset: 40 },
    ],
    holding: [
      { what: 'heavy tails', series: { grad_norm: noisy(400, 1, 1.2) } },
      {
        what: 'dead steps between',
        series: { grad_norm: make(200, (row) => (row % 5 === 0 ? by.heavy(2, 0.5) : 0)) },
      },
    ],
  },
  'monitor/kl-spike': {
    breaking: [{ what: 'it stays', series: { kl: followed(noisy(40, 0.02, 0.5), 3, 4, 5) }, onset: 40 }],
    holding: [
      {
        what: 'a weight of latent codes that is switched on late',
        series: {
          loss: flat(60, 300),
          recon_loss: flat(60, 280),
          kl_loss: followed(flat(30, 0.001), ...flat(30, 90)),
        },
      },
      { what: 'it grows', series: { kl: make(300, (row) => by.heavy(row * 0.005, 0.5)) } },
    ],
  },
  'monitor/reward-spike': {
    breaking: [
      {
        what: 'a hole in the reward',
        series: { reward: followed(noisy(40, 0.5, 0.1), 9, 10, 11) },
        onset: 40,
      },
      {
        what: 'a judge that breaks',
        series: { reward: followed(noisy(40, 0.5, 0.1), -9, -10, -9) },
        onset: 40,
      },
    ],
    holding: [
      {
        what: 'a task that is understood',
        series: { reward: make(100, (row) => 1 / (1 + Math.exp(-(row - 50) / 4)) + 0.05 * by.normal()) },
      },
    ],
  },
  'monitor/length-spike': {
    breaking: [
      {
        what: 'they run on',
        series: { completion_length: followed(noisy(40, 50, 0.1), 2000, ...flat(11, 2048)) },
        onset: 40,
        within: 12,
      },
    ],
    holding: [
      {
        what: 'they grow',
        series: { completion_length: make(300, (row) => (50 + row * 5) * Math.exp(0.15 * by.normal())) },
      },
    ],
  },
};
