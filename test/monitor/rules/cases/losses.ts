// The shape of a loss and of its evaluations: fine-tunes of 60 points, healthy and with something planted, and a few others.
import { dice, make } from '../logs.ts';
import type { Cases } from './case.ts';
import { towards, tune } from './tunes.ts';

const by = dice(23);
const noisy = (count: number, level: number, noise = 0.05): number[] =>
  make(count, () => by.heavy(level, noise));
const falling = (count: number, start = 1.52, end = 0.94, noise = 0.05): number[] =>
  make(count, (row) => (end + (start - end) * Math.exp((-4 * row) / count)) * by.heavy(1, noise));

/** What no rule about a level may blame. */
const HEALTHY = [
  { what: 'a fine-tune', series: tune() },
  { what: 'one-row batches', series: tune({ noise: 0.35 }) },
  {
    what: 'a spike that comes back',
    series: tune({ loss: (value, row) => (row === 25 ? 6 : row === 26 ? 3 : value) }),
  },
  {
    what: 'a spike that comes back slowly',
    series: tune({ loss: (value, row) => (row < 25 ? value : value + 4 * Math.exp(-(row - 25) / 5)) }),
  },
  {
    what: 'harder data, from which it falls again',
    series: tune({ loss: (value, row) => (row < 25 ? value : value + 0.9 * Math.exp(-(row - 25) / 30)) }),
  },
  {
    what: 'easy data first',
    series: tune({
      loss: (value, row) => (row < 25 ? value * 0.5 : value + 0.5 * Math.exp(-(row - 25) / 30)),
    }),
  },
  {
    what: 'restarts of the learning rate',
    series: tune({
      rate: (row) => 0.5 * (1 + Math.cos(Math.PI * ((row / 20) % 1))),
      loss: (value, row) => (row < 20 ? value : value * (1 + 0.2 * Math.exp(-(((row % 20) - 4) ** 2) / 8))),
    }),
  },
  { what: 'several passes', series: tune({ passes: 3, stair: 0.2 }) },
  {
    what: 'preferences, from chance on',
    series: {
      loss: make(80, (row) =>
        Math.max(0.1, Math.LN2 - 0.004 * row + 0.004 * Math.min(row, 30) * by.normal()),
      ),
      'rewards/margins': make(80, (row) => 0.02 * row),
    },
  },
] as const;

/** What a token costs whose accuracy is this, where half of the wrong ones are nearly right. */
const costOf = (accuracy: number): number => (1 - accuracy) * 2 + accuracy * 0.15;
const accurate = dice(91);
const accuracies = make(60, (row) => 0.75 - 0.2 * Math.exp(-row / 10) + 0.01 * accurate.normal());
/** Shares of pairs in the right order, and what the pairs cost. */
const orders = make(60, (row) => 0.75 - 0.25 * Math.exp(-row / 15) + 0.02 * accurate.normal());
const pairCost = (right: number): number => (1 - right) * 1 + right * 0.35;

export const LOSSES: Readonly<Record<string, Cases>> = {
  'monitor/loss-fits-accuracy': {
    breaking: [
      {
        what: 'a loss that is divided by 32 steps of accumulation twice',
        series: { loss: accuracies.map((each) => costOf(each) / 32), mean_token_accuracy: accuracies },
        onset: 0,
        within: 5,
      },
      {
        what: 'a loss over all columns, most of which are padding, from a step on',
        series: {
          loss: accuracies.map((each, row) => costOf(each) / (row < 30 ? 1 : 20)),
          mean_token_accuracy: accuracies,
        },
        onset: 30,
        within: 5,
      },
      {
        what: 'pairs whose loss is divided by 4 micro-batches twice',
        series: {
          loss: orders.map((each) => pairCost(each) / 4),
          'rewards/accuracies': orders,
          'rewards/margins': orders,
        },
        onset: 0,
        within: 5,
      },
    ],
    holding: [
      {
        what: 'pairs',
        series: { loss: orders.map(pairCost), 'rewards/accuracies': orders, 'rewards/margins': orders },
      },
      {
        what: 'pairs with a loss of sorted margins',
        series: {
          loss: orders.map((each) => pairCost(each) / 4),
          'rewards/accuracies': orders,
          'rewards/margins': orders,
        },
        declared: { loss_type: 'aot' },
        silent: true,
      },
      {
        what: 'a policy whose rewards are called accuracies',
        series: {
          loss: make(60, () => 0.01 * accurate.normal()),
          reward: orders,
          'rewards/accuracies': orders,
          'completions/mean_length': make(60, () => 200),
        },
        silent: true,
      },
      {
        what: 'a fine-tune',
        series: { loss: accuracies.map(costOf), mean_token_accuracy: accuracies },
      },
      {
        what: 'rows learnt by heart',
        series: {
          loss: make(60, (row) => 1.2 * Math.exp(-row / 6)),
          mean_token_accuracy: make(60, (row) => 1 - 0.3 * Math.exp(-row / 6)),
        },
      },
      {
        what: 'a loss that weighs each token by its own probability',
        series: {
          loss: make(60, () => 0.22 + 0.02 * accurate.normal()),
          mean_token_accuracy: accuracies,
        },
      },
      {
        what: 'preferences, whose loss is another',
        series: {
          loss: make(60, (row) => 0.69 * Math.exp(-row / 8)),
          mean_token_accuracy: accuracies,
          'rewards/margins': make(60, (row) => 0.1 * row),
        },
        silent: true,
      },
      { what: 'a loss alone', series: { loss: accuracies.map(costOf) }, silent: true },
    ],
  },
  'monitor/loss-rises': {
    breaking: [
      {
        what: 'a rate a hundred times too large',
        series: tune({ loss: towards(4, 7.49, 12) }),
        onset: 4,
        within: 10,
      },
      { what: 'the same, slowly', series: tune({ loss: towards(8, 7.49, 30) }), onset: 8, within: 10 },
      {
        what: 'fp16 that overflows late',
        series: tune({ loss: towards(25, 7.21, 6) }),
        onset: 25,
        within: 10,
      },
      {
        what: 'a spike that does not come back',
        series: tune({ loss: (value, row) => (row < 25 ? value : 3.2) }),
        onset: 25,
        within: 10,
      },
      {
        what: 'a rate ten times too large',
        series: tune({ loss: towards(8, 2.2, 15) }),
        onset: 8,
        within: 40,
      },
      {
        what: 'a climb with which the log ends',
        series: tune({ loss: (value, row) => (row < 25 ? value : value + (0.7 * (row - 25)) / 35) }),
        onset: 25,
        within: 35,
      },
      {
        what: 'an untrained model that is lost',
        series: { loss: [...falling(60, 10.5, 2.5), ...noisy(40, 7.4)] },
        onset: 60,
        within: 10,
      },
      {
        what: 'a student that is lost, whose KL is no KL of a policy',
        series: { kl_loss: noisy(60, 0.3), loss: [...falling(40), ...noisy(20, 1e5)] },
        onset: 40,
        within: 11,
      },
      {
        what: 'pairs of which it becomes worse than chance',
        series: {
          loss: [...falling(40, 0.69, 0.4, 0.1), ...make(40, (row) => 0.45 + 0.12 * Math.min(row, 25))],
          'rewards/margins': make(80, () => 0.1),
        },
        onset: 40,
        within: 40,
      },
      {
        what: 'held-out data that say so as well',
        series: tune({ loss: towards(25, 7.21, 6), evaluate: 5, held: towards(25, 7, 6) }),
        onset: 25,
        within: 10,
      },
    ],
    holding: [
      ...HEALTHY,
      {
        what: 'a rise that the held-out data overrule',
        series: tune({
          loss: (value, row) => (row < 20 ? value : value + 0.1 * Math.min(row - 20, 12)),
          evaluate: 4,
        }),
      },
      { what: 'other data', series: { loss: [...noisy(40, 2, 0.02), ...noisy(40, 3.5, 0.02)] } },
      {
        what: 'a smoothed log, whose jump is a climb',
        series: {
          loss: [...falling(100, 2, 1.2, 0.01)].concat(
            make(60, (row) => 1.25 + 0.5 * (1 - Math.exp(-row / 9)) * Math.exp(-row / 60)),
          ),
        },
      },
      {
        what: 'micro-batches of one step, alike',
        series: {
          loss: make(160, (row) => (1.4 - 0.002 * row) * (1 + 0.15 * Math.sin(77 * Math.floor(row / 8)))),
        },
      },
      { what: 'a sum over a sequence', series: { loss: noisy(60, 400, 0.5) } },
      {
        what: 'a policy',
        series: { loss: make(60, (row) => 0.1 * row), reward: make(60, (row) => row) },
        silent: true,
      },
      {
        what: 'what goes below 0',
        series: { loss: make(60, (row) => -1 + 0.1 * row) },
        silent: true,
      },
    ],
  },
  'monitor/loss-diverges': {
    breaking: [
      {
        what: 'an explosion after the first step',
        series: { loss: [3.4, 1e7, 3e6, 5e5] },
        onset: 1,
        within: 0,
      },
      { what: 'a slow one', series: { loss: [...falling(9, 3.5, 0.5), 26, 27, 30] }, onset: 9 },
      {
        what: 'a small vocabulary',
        series: { loss: [...falling(9, 2.5, 0.5), 8, 8, 8] },
        declared: { vocab_size: 32 },
        onset: 9,
      },
      {
        what: 'weights that are lost, of which the frequency of words is left',
        series: tune({ loss: towards(4, 7.49, 12) }),
        onset: 4,
        within: 18,
      },
      { what: 'the same late, in fp16', series: tune({ loss: towards(25, 7.21, 6) }), onset: 25, within: 15 },
      {
        what: 'a peak from which it comes back to that only',
        series: tune({ loss: (value, row) => (row < 4 ? value : 7.3 + 4 * Math.exp(-(row - 4) / 8)) }),
        onset: 4,
        within: 22,
      },
    ],
    holding: [
      ...HEALTHY,
      {
        what: 'the loss of a value that grows with the returns',
        series: {
          loss: make(80, (row) => 0.02 * Math.exp(row / 10)),
          'rollout/ep_rew_mean': make(80, (row) => row),
        },
        silent: true,
      },
      { what: 'a sum over a sequence', series: { loss: noisy(20, 400, 0.5) } },
      { what: 'one batch of noise', series: { loss: [...falling(9, 3.5, 0.5), 26, 2, 2] } },
      {
        what: 'an untrained model that spikes',
        series: { loss: [...falling(60, 10.8, 3), ...noisy(12, 7), 3, 3, 3] },
      },
      {
        what: 'a spike of nine points',
        series: { loss: [...falling(40, 1.5, 1), ...noisy(9, 8), ...noisy(20, 1)] },
      },
      {
        what: 'a run with rollouts',
        series: { loss: [...noisy(6, 0.1), 60, 80, 90], reward: noisy(9, 1) },
        silent: true,
      },
    ],
  },
  'monitor/loss-improves': {
    breaking: [
      {
        what: 'a second pass that costs what the first did',
        series: tune({ rows: 200, passes: 2.5, stair: 0, start: 1.5, floor: 1.5, noise: 0.03 }),
        onset: 0,
        within: 199,
      },
      {
        what: 'an untrained model that stays one',
        series: { loss: noisy(60, 10.82, 0.002) },
        declared: { vocab_size: 50_257 },
        onset: 0,
        within: 40,
      },
      {
        what: 'preferences at chance, while the policy is its reference',
        series: {
          loss: make(60, () => Math.LN2 + 1e-4 * by.normal()),
          'rewards/margins': make(60, () => 1e-4 * by.normal()),
        },
        onset: 0,
        within: 40,
      },
    ],
    holding: [
      { what: 'several passes', series: tune({ rows: 100, passes: 3 }) },
      { what: 'an untrained model', series: { loss: falling(60, 10.8, 5) } },
      {
        what: 'preferences that are learnt slowly',
        series: {
          loss: make(60, (row) => Math.LN2 - 0.0006 * row),
          'rewards/margins': make(60, (row) => 0.001 * row),
        },
        silent: true,
      },
      { what: 'a run that goes on from another', series: { loss: noisy(100, 2.1, 0.01) }, silent: true },
      {
        what: 'an untrained model while the rate warms up',
        series: { loss: noisy(50, 10.8, 0.002), learning_rate: make(50, (row) => 1e-7 * row) },
        silent: true,
      },
    ],
  },
  'monitor/loss-plateau': {
    breaking: [
      { what: 'a rate that is too small', series: { loss: noisy(40, 2.1, 0.01) }, onset: 0, within: 40 },
    ],
    holding: [
      { what: 'a fine-tune', series: tune() },
      { what: 'too much noise to tell', series: { loss: noisy(60, 2, 0.3) } },
    ],
  },
  'monitor/loss-begins-below-a-guess': {
    breaking: [
      {
        what: 'labels that are shuffled',
        series: tune({ start: 15.3, floor: 5.6 }),
        onset: 0,
        within: 12,
      },
      {
        what: 'a sum over ten accumulated batches, of a small vocabulary',
        series: { loss: falling(30, 14, 9.2) },
        declared: { vocab_size: 32_000 },
        onset: 0,
        within: 30,
      },
    ],
    holding: [
      { what: 'a fine-tune', series: tune() },
      { what: 'an untrained model', series: { loss: falling(60, 10.9, 5) } },
      { what: 'a sum over a sequence', series: { loss: noisy(30, 400) }, silent: true },
      { what: 'another scale', series: { loss: noisy(30, 20) }, silent: true },
    ],
  },
  'monitor/loss-spikes': {
    breaking: [
      {
        what: 'three of them',
        series: { loss: make(120, (row) => by.heavy([40, 60, 90].includes(row) ? 5 : 2, 0.03)) },
        onset: 40,
        within: 51,
      },
    ],
    holding: [
      { what: 'one', series: { loss: make(120, (row) => by.heavy(row === 40 ? 9 : 2, 0.03)) } },
      { what: 'heavy tails', series: { loss: noisy(400, 1, 0.4) } },
    ],
  },
  'monitor/evaluation-turns': {
    breaking: [
      {
        what: '64 rows, learnt by heart',
        series: tune({
          passes: 30,
          stair: 0.12,
          start: 1.38,
          floor: 1,
          evaluate: 5,
          held: (_value, row) => (row < 10 ? 1.3 - 0.01 * row : 1.2 + (2.56 * (row - 10)) / 50),
        }),
        onset: 10,
        within: 15,
      },
      {
        what: 'other held-out data, which get worse while the loss stays',
        series: tune({ floor: 1.5, evaluate: 5, held: (_value, row) => 1.5 + 0.03 * Math.max(0, row - 10) }),
        onset: 10,
        within: 49,
      },
    ],
    holding: [
      { what: 'held-out data that improve', series: tune({ evaluate: 5 }) },
      {
        what: 'a few percent at the end of three passes',
        series: tune({
          passes: 3,
          evaluate: 5,
          held: (_value, row) => (row < 20 ? 1.2 - 0.01 * row : 1 + (0.15 * (row - 20)) / 40),
        }),
      },
      {
        what: 'one evaluation that is odd',
        series: tune({ passes: 3, stair: 0.3, evaluate: 5, held: (value, row) => (row === 34 ? 4 : value) }),
      },
      {
        what: 'an easy task near 0',
        series: tune({
          start: 1.5,
          floor: 0.01,
          evaluate: 5,
          held: (_value, row) => (row < 30 ? 0.02 : 0.04),
        }),
      },
      { what: 'no evaluation', series: tune(), silent: true },
    ],
  },
  'monitor/learnt-by-heart': {
    breaking: [
      {
        what: 'eight passes over a few rows',
        series: tune({ rows: 80, passes: 8, stair: 0.45, start: 1.38, floor: 1.1 }),
        onset: 10,
        within: 60,
      },
    ],
    holding: [
      { what: 'several passes', series: tune({ rows: 80, passes: 4, stair: 0.2 }) },
      {
        what: 'a task that is learnt within the passes',
        series: tune({ rows: 80, passes: 8, stair: 0, loss: (_value, row) => 1.4 * Math.exp(-row / 16) }),
      },
      {
        what: 'rows learnt by heart that the held-out data agree with',
        series: tune({ rows: 80, passes: 8, stair: 0.45, start: 1.38, floor: 1.1, evaluate: 5 }),
      },
      { what: 'one pass', series: tune(), silent: true },
    ],
  },
  'monitor/losses-part': {
    breaking: [
      {
        what: 'one source that is given up for another',
        series: {
          code_loss: make(80, (row) => by.heavy(2 - 0.016 * row, 0.05)),
          chat_loss: [...falling(30, 1.5, 1.2), ...make(50, (row) => by.heavy(1.2 + 0.05 * row, 0.05))],
        },
        onset: 30,
        within: 40,
      },
    ],
    holding: [
      { what: 'both fall', series: { code_loss: falling(80, 2, 0.8), chat_loss: falling(80) } },
      {
        what: 'a part that is computed now and then',
        series: {
          wm_loss: falling(80, 4, 1),
          llm_sft_loss: make(80, (row) => (row > 20 && row % 4 === 0 ? by.heavy(2, 0.1) : 0)),
        },
      },
      { what: 'one loss', series: { loss: falling(80) }, silent: true },
    ],
  },
};
