// Losses that are 0, missing, stand still, or have the wrong sign.
import { make } from '../logs.ts';
import type { Cases } from './case.ts';
import { drawn, flat, followed } from './values.ts';

const { around0, falling, grpo, noisy } = drawn(8);
const NAN = Number.NaN;

export const ZERO_LOSS: Readonly<Record<string, Cases>> = {
  'monitor/zero-loss': {
    breaking: [
      {
        what: 'a batch without labels',
        series: { loss: followed(falling(9), 0, 2), grad_norm: followed(noisy(9, 1), 0, 1) },
        onset: 9,
      },
      {
        what: 'nothing trained from the start',
        series: { loss: flat(5, 0), grad_norm: flat(5, 0) },
        onset: 0,
      },
      {
        what: 'a NaN that was logged as 0',
        series: { loss: followed(falling(9), 0, 0), grad_norm: followed(noisy(9, 1), NAN, NAN) },
        onset: 9,
      },
      { what: 'no gradient norm, and 0 for ever', series: { loss: flat(5, 0) }, onset: 0 },
      {
        what: 'GRPO with everything masked',
        series: grpo(12, { loss: followed(around0(9), 0, 0, 0), grad_norm: followed(noisy(9, 1), 0, 0, 0) }),
        onset: 9,
      },
      {
        what: 'GRPO with everything masked from the start',
        series: grpo(5, { loss: flat(5, 0), grad_norm: flat(5, 0) }),
        onset: 0,
      },
      {
        what: 'groups with a spread by their deviation',
        series: { loss: flat(5, 0), grad_norm: flat(5, 0), reward: noisy(5, 1), reward_std: noisy(5, 0.2) },
        onset: 0,
      },
      {
        what: 'the name of verl',
        series: {
          'actor/pg_loss': flat(5, 0),
          'actor/grad_norm': flat(5, NAN),
          'critic/score/mean': noisy(5, 1),
        },
        onset: 0,
      },
    ],
    holding: [
      {
        what: 'a hinge of which every pair is apart',
        series: {
          loss: followed(
            make(20, (row) => 1 - row * 0.04),
            0,
            0,
            0.1,
            ...flat(9, 0),
          ),
          grad_norm: followed(flat(20, 3), 0, 0, 2, ...flat(9, 0)),
          'rewards/margins': make(32, (row) => row / 10),
        },
      },
      { what: 'GRPO, whose loss is 0 while its gradient is not', series: grpo(20, { loss: flat(20, 0) }) },
      {
        what: 'steps whose groups are all dead',
        series: grpo(12, {
          loss: followed(around0(9), 0, 0, 0),
          grad_norm: followed(noisy(9, 1), 0, 0, 0),
          frac_reward_zero_std: followed(flat(9, 0.5), 1, 1, 1),
        }),
      },
      {
        what: 'slices of one generation, some of them dead',
        series: grpo(12, {
          loss: make(12, (row) => (row % 4 === 2 ? 0 : 0.01)),
          grad_norm: make(12, (row) => (row % 4 === 2 ? 0 : 1)),
          frac_reward_zero_std: make(12, (row) => (row % 4 === 0 ? 0.75 : undefined) as number),
        }),
      },
      {
        what: 'a data set learnt by heart, rounded',
        series: {
          loss: followed(
            make(9, (row) => 10 ** -row),
            0,
            0,
            0,
            0,
          ),
          grad_norm: flat(13, 1e-7),
        },
      },
      { what: 'one point', series: { loss: [2.3], grad_norm: [1] } },
    ],
  },
  'monitor/idle-loss': {
    breaking: [
      {
        what: 'a branch that never runs',
        series: { num_sft_samples: flat(6, 32), llm_sft_loss_avg: flat(6, 0), wm_loss_avg: noisy(6, 1) },
        onset: 0,
      },
      {
        what: 'a branch that stops',
        series: {
          num_sft_samples: flat(12, 4),
          'learner_step/llm_sft_loss_avg': followed(noisy(8, 2), 0, 0, 0, 0),
        },
        onset: 8,
      },
      {
        what: 'a total that is always 0',
        series: { llm_total_loss_avg: flat(6, 0), wm_loss_avg: noisy(6, 1) },
        onset: 0,
      },
    ],
    holding: [
      {
        what: 'a buffer that fills first',
        series: { num_sft_samples: followed(flat(9, 0), 4, 4), llm_sft_loss_avg: followed(flat(9, 0), 2, 2) },
      },
      {
        what: 'a policy gradient of a group',
        series: {
          num_rft_samples: flat(9, 4),
          llm_rft_loss_avg: make(9, (row) => (row % 2 === 0 ? 0 : 1e-3)),
        },
      },
      {
        what: 'a part that is switched off',
        series: { perceptual_loss: flat(20, 0), wm_loss: noisy(20, 1) },
        silent: true,
      },
    ],
  },
  'monitor/expected-losses': {
    breaking: [
      {
        what: 'a loss that is not logged',
        series: { wm_loss: noisy(9, 1) },
        settings: { expect: 'llm_sft_loss,wm_loss' },
        onset: 0,
        within: 6,
      },
      {
        what: 'a loss that is 0',
        series: { wm_loss: noisy(9, 1), llm_sft_loss_avg: flat(9, 0) },
        settings: { expect: 'llm_sft' },
        onset: 0,
        within: 6,
      },
    ],
    holding: [
      {
        what: 'both are there',
        series: { wm_loss: noisy(9, 1), llm_sft_loss_avg: noisy(9, 1) },
        settings: { expect: 'llm_sft_loss, wm_loss' },
      },
      { what: 'nobody expects anything', series: { wm_loss: noisy(9, 1) }, silent: true },
    ],
  },
  'monitor/counted-losses': {
    breaking: [
      {
        what: 'samples of a loss that is not there',
        series: { wm_loss: noisy(9, 1), num_sft_samples: flat(9, 4) },
        onset: 0,
        within: 5,
      },
    ],
    holding: [
      {
        what: 'samples of a loss that is there',
        series: { llm_sft_loss: noisy(9, 1), num_sft_samples: flat(9, 4) },
      },
      {
        what: 'a count of something else',
        series: { wm_loss: noisy(9, 1), num_filtered_samples: flat(9, 4) },
        silent: true,
      },
      { what: 'one loss without a name', series: { loss: noisy(9, 1), num_sft_samples: flat(9, 4) } },
    ],
  },
  'monitor/loss-stays': {
    breaking: [
      {
        what: 'a part that ends',
        series: {
          wm_loss: noisy(120, 1),
          llm_sft_loss: make(120, (row) => (row < 40 ? 2 + row / 100 : undefined) as number),
        },
        onset: 40,
        within: 51,
      },
    ],
    holding: [
      {
        what: 'a part that is logged now and then',
        series: {
          wm_loss: noisy(300, 1),
          llm_sft_loss: make(300, (row) => (row % 10 === 0 ? 2 : undefined) as number),
        },
      },
      {
        what: 'one phase after another',
        series: {
          sft_loss: make(200, (row) => (row < 60 ? 1 : undefined) as number),
          policy_loss: make(200, (row) => (row >= 60 ? 1 : undefined) as number),
        },
      },
      { what: 'one loss', series: { loss: noisy(90, 1) }, silent: true },
    ],
  },
  'monitor/loss-moves': {
    breaking: [
      {
        what: 'one value for ever',
        series: { loss: flat(9, 3.1073040492110966), learning_rate: flat(9, 1e-4) },
        onset: 0,
        within: 6,
      },
      {
        what: 'one value from the middle on',
        series: {
          loss: [...falling(40), ...flat(110, 0.9731040492110966)],
          learning_rate: flat(150, 1e-4),
        },
        onset: 40,
        within: 101,
      },
    ],
    holding: [
      {
        what: 'a table whose gaps are filled with what stood before them',
        series: {
          loss: [...falling(9), ...make(291, (row) => 0.9731040492110966 * 0.99 ** Math.floor(row / 30))],
          learning_rate: flat(300, 1e-4),
        },
      },
      {
        what: 'a rate of 0 at the end',
        series: {
          loss: [...falling(40), ...flat(130, 0.9731040492110966)],
          learning_rate: [...flat(40, 1e-4), ...flat(130, 0)],
        },
      },
      {
        what: 'a preference loss during warm-up',
        series: { loss: followed(flat(7, Math.LN2), 0.6, 0.5), learning_rate: make(9, (row) => row * 1e-7) },
        declared: { learning_rate: 1e-4 },
      },
      { what: 'a loss in bfloat16', series: { loss: flat(30, 0.69140625) }, silent: true },
      { what: 'a loss of four decimals', series: { loss: flat(30, 0.7093) }, silent: true },
      { what: 'a loss that moves', series: { loss: falling(9) } },
    ],
  },
  'monitor/supervised-loss-not-negative': {
    breaking: [
      {
        what: 'a sign that is turned',
        series: { loss: followed(flat(3, 1), -0.5, -1), mean_token_accuracy: noisy(5, 0.5) },
        onset: 3,
      },
      { what: 'a supervised part', series: { llm_sft_loss: [1.1, -0.2] }, onset: 1 },
    ],
    holding: [
      { what: 'a density', series: { nll: make(40, (row) => 1 - row * 0.1) }, silent: true },
      { what: 'a policy gradient', series: grpo(9, { loss: flat(9, -0.1) }), silent: true },
      { what: 'an objective that nobody named', series: { loss: flat(9, -0.1) }, silent: true },
      { what: 'a cross-entropy', series: { loss: falling(9), mean_token_accuracy: noisy(9, 0.5) } },
    ],
  },
};
