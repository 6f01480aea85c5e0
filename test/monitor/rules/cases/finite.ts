// Numbers that are none: losses, gradient norms and other metrics.
import { make } from '../logs.ts';
import type { Cases } from './case.ts';
import { drawn, flat, followed } from './values.ts';

const { around0, falling, grpo, noisy } = drawn(7);
const NAN = Number.NaN;
const INF = Number.POSITIVE_INFINITY;
/** Linear, but where a step is skipped: the scheduler is held back with the optimiser. */
const heldRates = (count: number, skipped: readonly number[]): number[] => {
  let steps = 0;
  return make(count, (row) => 1e-3 * (1 - (skipped.includes(row) ? steps : ++steps) / count));
};
/** At every fifth row. */
const evaluated = (count: number, at: (row: number) => number): (number | undefined)[] =>
  Array.from({ length: count }, (_, row) => (row % 5 === 4 ? at(row) : undefined));
/** These norms, but for one row. */
const withOdd = (values: readonly number[], row: number, ...odd: readonly number[]): number[] => [
  ...values.slice(0, row),
  ...odd,
  ...values.slice(row + odd.length),
];

export const FINITE: Readonly<Record<string, Cases>> = {
  'monitor/finite-training': {
    breaking: [
      { what: 'a loss that becomes NaN', series: { loss: followed(falling(20), NAN, NAN) }, onset: 20 },
      {
        what: 'a KL that becomes infinite',
        series: { kl: followed(noisy(9, 0.1), ...flat(4, Number.POSITIVE_INFINITY)) },
        onset: 9,
      },
      {
        what: 'a gradient norm that is NaN from the start',
        series: { 'actor/grad_norm': flat(5, NAN) },
        onset: 0,
      },
      {
        what: 'a gradient norm that never recovers under a loss scaler',
        series: { grad_norm: flat(30, Number.POSITIVE_INFINITY) },
        declared: { fp16: true },
        onset: 0,
        within: 17,
      },
    ],
    holding: [
      {
        what: 'norms that overflow while an undeclared loss scaler finds its scale',
        series: {
          loss: falling(30),
          grad_norm: followed(flat(12, Number.POSITIVE_INFINITY), ...noisy(18, 1)),
        },
      },
      {
        what: 'a trainer that logs its scale',
        series: {
          loss: falling(30),
          loss_scale: flat(30, 1024),
          grad_norm: followed(noisy(10, 1), ...flat(4, Number.POSITIVE_INFINITY), ...noisy(16, 1)),
        },
      },
      { what: 'a healthy loss', series: { loss: falling(20) } },
      {
        what: 'steps that a loss scaler skips',
        series: {
          loss: falling(20),
          grad_norm: followed(flat(8, Number.POSITIVE_INFINITY), ...noisy(12, 1)),
        },
        declared: { fp16: true },
      },
      {
        what: 'a single overflow, undeclared',
        series: { grad_norm: followed(noisy(9, 1), Number.POSITIVE_INFINITY, 1, 1) },
      },
      { what: 'a step without any reward', series: { reward: followed(noisy(9, 1), NAN, 1, 1) } },
      { what: 'a deviation of one value', series: { loss: falling(5), reward_std: flat(5, NAN) } },
    ],
  },
  'monitor/grad-norm-finite': {
    breaking: [
      {
        what: 'one NaN, and a number again, where nothing declares fp16',
        series: { loss: falling(20), grad_norm: withOdd(noisy(20, 1), 9, NAN) },
        onset: 9,
      },
      {
        what: 'one NaN in a run of GRPO',
        series: grpo(20, { grad_norm: withOdd(noisy(20, 1), 9, NAN) }),
        onset: 9,
      },
      {
        what: 'one NaN with which the log ends',
        series: { loss: falling(10), grad_norm: followed(noisy(9, 1), NAN) },
        onset: 9,
      },
      {
        what: 'one infinity beside a loss that has left what it was, with which the log ends',
        series: { loss: followed(falling(9), 4e5), grad_norm: followed(noisy(9, 1), INF) },
        onset: 9,
      },
      {
        what: 'one infinity, after which a loss of NaN was logged as 0',
        series: { loss: followed(falling(10), 0, 0), grad_norm: followed(noisy(9, 1), INF, 1, 1) },
        onset: 9,
      },
      {
        what: 'one infinity, after which the loss is another',
        series: {
          loss: followed(falling(10), ...noisy(10, 40)),
          grad_norm: withOdd(noisy(20, 1), 9, INF),
        },
        onset: 9,
      },
      {
        what: 'an explosion that is NaN at once, with losses that a filter of NaN logs as 0',
        series: { loss: [2.3, 0, 0], grad_norm: [2, NAN, NAN] },
        onset: 1,
      },
      {
        what: 'an explosion by a rate that moved once and then stands still',
        series: {
          loss: followed(falling(9), 4e6, 0),
          grad_norm: followed(noisy(9, 1), NAN, NAN),
          learning_rate: followed(flat(8, 3e-3), 1e3, 1e3, 1e3),
        },
        onset: 9,
      },
      {
        what: 'an explosion that is a huge number first',
        series: { loss: [2.3, 4e5, 0, 0], grad_norm: [2, 5e8, NAN, NAN] },
        onset: 2,
      },
      {
        what: 'an explosion that is infinite first',
        series: { loss: [2.3, 4e5, 0, 0], grad_norm: [2, INF, NAN, NAN] },
        onset: 1,
      },
      {
        what: 'the first of all norms, in a run in bfloat16',
        series: { loss: falling(20), grad_norm: followed([NAN], ...noisy(19, 1)) },
        declared: { bf16: true },
        onset: 0,
      },
      {
        what: 'one infinity in a run in bfloat16',
        series: { loss: falling(20), grad_norm: withOdd(noisy(20, 1), 9, INF) },
        declared: { mixed_precision: 'bf16' },
        onset: 9,
      },
      {
        what: 'one NaN while the learning rate goes on',
        series: {
          loss: falling(20),
          grad_norm: withOdd(noisy(20, 1), 9, NAN),
          learning_rate: heldRates(20, []),
        },
        onset: 9,
      },
      {
        what: 'one NaN where the warm-up ends',
        series: {
          loss: falling(20),
          grad_norm: withOdd(noisy(20, 1), 9, NAN),
          learning_rate: make(20, (row) => 1e-4 * Math.min(1, (row + 1) / 9)),
        },
        onset: 9,
      },
      {
        what: 'one NaN of the critic',
        series: {
          'actor/pg_loss': around0(20),
          'actor/grad_norm': noisy(20, 1),
          'critic/grad_norm': withOdd(noisy(20, 1), 9, NAN),
        },
        onset: 9,
      },
    ],
    holding: [
      { what: 'numbers', series: { loss: falling(20), grad_norm: noisy(20, 1) } },
      {
        what: 'first steps and a later one that a declared loss scaler skips',
        series: {
          loss: falling(30),
          grad_norm: withOdd(followed([NAN, INF], ...noisy(28, 1)), 15, NAN, NAN),
        },
        declared: { fp16: true },
      },
      {
        what: 'a trainer that logs its scale',
        series: { loss: falling(30), loss_scale: flat(30, 1024), grad_norm: withOdd(noisy(30, 1), 15, NAN) },
      },
      {
        what: 'a loss scaler that nobody declares, finding its scale and skipping a step later',
        series: { loss: falling(30), grad_norm: withOdd(followed([NAN, NAN], ...noisy(28, 1)), 15, NAN) },
      },
      {
        what: 'a scheduler that is held back with the skipped steps',
        series: {
          loss: falling(30),
          grad_norm: withOdd(noisy(30, 1), 18, NAN, NAN),
          learning_rate: heldRates(30, [18, 19]),
        },
      },
      {
        what: 'overflows that nobody declares, after which the run goes on',
        series: { loss: falling(30), grad_norm: withOdd(noisy(30, 1), 15, INF, INF) },
      },
      {
        what: 'an overflow that nobody declares, in the step that was logged last',
        series: { loss: falling(30), grad_norm: followed(noisy(29, 1), INF) },
      },
      {
        what: 'a loss that is NaN as well, which is said of the loss',
        series: { loss: followed(falling(9), NAN, NAN), grad_norm: followed(noisy(9, 1), NAN, NAN) },
      },
    ],
  },
  'monitor/finite-evaluations': {
    breaking: [
      {
        what: 'a held-out loss that becomes NaN',
        series: { loss: falling(20), eval_loss: followed(falling(9), ...flat(11, NAN)) },
        onset: 9,
      },
      {
        what: 'one that was never a number',
        series: { loss: falling(20), 'val/loss': evaluated(20, () => NAN) },
        onset: 4,
        within: 20,
      },
      {
        what: 'one that was never anything but 0',
        series: { loss: falling(20), eval_loss: evaluated(20, () => 0) },
        onset: 4,
        within: 20,
      },
    ],
    holding: [
      { what: 'held-out losses that are numbers', series: { loss: falling(20), eval_loss: falling(20) } },
      {
        what: 'a batch of nothing, once',
        series: { loss: falling(20), eval_loss: followed(falling(9), NAN, ...falling(10)) },
      },
      {
        what: 'NaN in each line of training until the next evaluation',
        series: { loss: falling(30), eval_loss: make(30, (row) => (row % 10 === 9 ? 2 - row / 30 : NAN)) },
      },
      {
        what: 'the same before the first, of which nothing is known',
        series: { loss: falling(20), eval_loss: flat(20, NAN) },
        silent: true,
      },
      {
        what: 'the loss of a policy, which is 0',
        series: { ...grpo(20), eval_loss: evaluated(20, () => 0) },
        silent: true,
      },
      {
        what: 'what is learnt to the last digit',
        series: { loss: falling(20), eval_loss: evaluated(20, (row) => Math.max(0, 1 - row / 10)) },
      },
      {
        what: 'a training loss that is NaN, which has a rule of its own',
        series: { loss: followed(falling(9), NAN, NAN), eval_loss: falling(11) },
      },
    ],
  },
  'monitor/finite-metrics': {
    breaking: [
      {
        what: 'a metric that turns NaN',
        series: { 'my/metric': followed(noisy(5, 1), NAN, NAN, NAN) },
        onset: 5,
      },
    ],
    holding: [
      {
        what: 'a perplexity that overflows',
        series: { ppl: followed(flat(3, 3000), ...flat(5, Number.POSITIVE_INFINITY), 2000) },
      },
      { what: 'a metric that was never a number', series: { 'my/metric': flat(9, NAN) } },
      {
        what: 'a metric over nothing now and then',
        series: { 'my/metric': make(20, (row) => (row % 3 === 0 ? NAN : 1)) },
      },
    ],
  },
};
