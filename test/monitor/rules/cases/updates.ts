// What an update is made with: gradients that are 0, and the learning rate.
import { make } from '../logs.ts';
import type { Cases } from './case.ts';
import { drawn, flat, followed } from './values.ts';

const { by, falling, grpo, noisy } = drawn(9);

export const UPDATES: Readonly<Record<string, Cases>> = {
  'monitor/gradient-flows': {
    breaking: [
      {
        what: 'a detached loss',
        series: { loss: falling(5), grad_norm: flat(5, 0) },
        declared: { gradient_accumulation_steps: 1 },
        onset: 0,
      },
      {
        what: 'a detached loss whose rate moves at each step',
        series: { loss: falling(9), grad_norm: flat(9, 0), lr: make(9, (row) => 1e-3 * (1 - row / 9)) },
        onset: 0,
        within: 4,
      },
      {
        what: 'a detached loss in a log that may be of micro-batches',
        series: { loss: falling(20), grad_norm: flat(20, 0) },
        onset: 0,
        within: 16,
      },
      {
        what: 'micro-batches, detached later',
        series: { loss: falling(120), grad_norm: make(120, (row) => (row < 80 && row % 8 === 7 ? 1 : 0)) },
        onset: 80,
        within: 30,
      },
      {
        what: 'a loss that is detached later',
        series: { loss: falling(15), grad_norm: followed(noisy(10, 1), ...flat(5, 0)) },
        onset: 10,
      },
      { what: 'GRPO, detached', series: grpo(6, { loss: noisy(6, 0.01), grad_norm: flat(6, 0) }), onset: 0 },
      {
        what: 'every tenth step logged, all groups alive',
        series: grpo(6, { loss: noisy(6, 0.01), grad_norm: flat(6, 0), frac_reward_zero_std: flat(6, 0) }),
        every: 10,
        onset: 0,
      },
    ],
    holding: [
      { what: 'gradients', series: { loss: falling(15), grad_norm: noisy(15, 1) } },
      {
        what: 'micro-batches, with a norm where the optimiser takes a step',
        series: {
          loss: falling(64),
          grad_norm: make(64, (row) => (row % 8 === 7 ? by.heavy(1, 0.3) : 0)),
          lr: make(64, (row) => 1e-3 * (1 - Math.floor(row / 8) / 8)),
        },
      },
      {
        what: 'a few micro-batches, before the first step',
        series: { loss: falling(7), grad_norm: flat(7, 0) },
        silent: true,
      },
      {
        what: 'a last step without spread in each logging interval',
        series: grpo(12, {
          loss: noisy(12, 0.01),
          grad_norm: make(12, (row) => (row % 4 === 0 ? 1 : 0)),
          frac_reward_zero_std: flat(12, 0.8),
        }),
        every: 10,
      },
      { what: 'no gradient norm', series: { loss: falling(15) }, silent: true },
    ],
  },
  'monitor/learning-rate-size': {
    breaking: [
      { what: '1e3 from the start', series: { learning_rate: [1000] }, onset: 0 },
      { what: '1e3 later', series: { 'train/learning_rate': followed(flat(9, 1e-3), 1000, 1000) }, onset: 9 },
    ],
    holding: [
      { what: 'an optimiser that scales by itself', series: { lr: flat(9, 1) } },
      { what: 'a rate in other units', series: { 'train/lr(1e-3)': flat(9, 1e3) }, silent: true },
    ],
  },
  'monitor/learning-rate-as-scheduled': {
    breaking: [
      {
        what: 'a scheduler that is stepped twice',
        series: { learning_rate: make(50, (row) => 1e-4 * Math.max(0, 1 - (2 * row) / 100)) },
        declared: { lr_scheduler_type: 'linear', learning_rate: 1e-4, max_steps: 100, warmup_steps: 0 },
        onset: 2,
        within: 4,
      },
      {
        what: 'a resumed run that begins anew',
        series: {
          learning_rate: make(
            80,
            (row) => 1e-4 * 0.5 * (1 + Math.cos(Math.PI * ((row < 50 ? row : row - 50) / 100))),
          ),
        },
        declared: { lr_scheduler_type: 'cosine', learning_rate: 1e-4, max_steps: 100, warmup_ratio: 0 },
        onset: 50,
      },
      {
        what: 'a constant that decays',
        series: { learning_rate: make(20, (row) => 1e-4 * 0.9 ** row) },
        declared: { lr_scheduler_type: 'constant', learning_rate: 1e-4 },
        onset: 1,
      },
    ],
    holding: [
      {
        what: 'warm-up and a cosine',
        series: {
          learning_rate: make(100, (row) =>
            row < 10 ? 1e-5 * row : 1e-4 * 0.5 * (1 + Math.cos((Math.PI * (row - 10)) / 90)),
          ),
        },
        declared: { lr_scheduler_type: 'cosine', learning_rate: 1e-4, max_steps: 100, warmup_steps: 0.1 },
      },
      {
        what: 'restarts as many as are declared',
        series: {
          learning_rate: make(100, (row) => 1e-4 * 0.5 * (1 + Math.cos(Math.PI * ((4 * (row / 100)) % 1)))),
        },
        declared: {
          lr_scheduler_type: 'cosine_with_restarts',
          learning_rate: 1e-4,
          max_steps: 100,
          'lr_scheduler_kwargs/num_cycles': 4,
        },
      },
      {
        what: 'an optimiser that was handed over',
        series: { learning_rate: make(50, (row) => 3e-3 * (1 - row / 50)) },
        declared: { lr_scheduler_type: 'linear', learning_rate: 5e-5, max_steps: 50 },
        silent: true,
      },
      {
        what: 'a schedule of somebody else',
        series: { learning_rate: noisy(20, 1e-4) },
        declared: { lr_scheduler_type: 'wsd', learning_rate: 1e-4 },
        silent: true,
      },
      {
        what: 'epochs without a number of steps',
        series: { learning_rate: noisy(20, 1e-4) },
        declared: { lr_scheduler_type: 'linear', learning_rate: 1e-4, max_steps: -1 },
        silent: true,
      },
    ],
  },
  'monitor/learning-rate-not-zero': {
    breaking: [
      { what: 'a schedule that ended', series: { lr: followed(flat(9, 1e-4), 0, 0, 0, 0) }, onset: 9 },
      { what: 'a scheduler that is never stepped', series: { lr: flat(60, 0) }, onset: 0, within: 19 },
      { what: 'the same in a short log', series: { lr: flat(12, 0) }, onset: 0, within: 12 },
    ],
    holding: [
      {
        what: 'a rate that is logged with four digits',
        series: { lr: [6e-4, 6e-4, 5e-4, 4e-4, 3e-4, 2e-4, 2e-4, 1e-4, 1e-4, 1e-4, 0, 0, 0, 0] },
      },
      {
        what: 'warm-up from 0 and a last step at 0',
        series: { lr: followed([0, 1e-4], ...flat(9, 1e-4), 0) },
      },
      {
        what: 'steps that a loss scaler skips',
        series: { lr: followed(flat(9, 0), 1e-4, 1e-4) },
        declared: { fp16: true },
      },
    ],
  },
};
