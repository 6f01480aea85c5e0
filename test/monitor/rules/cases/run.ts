// Learning rates, paces and checkpoints: logs that break a rule about them, and logs that look alike and do not.
import { make } from '../logs.ts';
import type { Cases } from './case.ts';
import { drawn, flat } from './values.ts';

const { by, noisy } = drawn(11);
const PEAK = 1e-4;
const linear = (count: number, from = 0): number[] => make(count, (row) => PEAK * (1 - (row + from) / count));
const cosine = (count: number): number[] =>
  make(count, (row) => PEAK * 0.5 * (1 + Math.cos((Math.PI * row) / count)));
const warm = (count: number, of = count): number[] => make(count, (row) => (PEAK * (row + 1)) / of);
const warmed = (count: number, of: number): number[] => [...warm(of), ...linear(count - of)];
const odd = (values: readonly number[], row: number, value: number): number[] =>
  values.map((each, at) => (at === row ? value : each));
const upTo = (from: number, to: number): number[] => make(to - from + 1, (row) => from + row);
/** Evaluated at every tenth of so many steps. */
const evaluated = (values: readonly number[], every = 10): (number | undefined)[] =>
  make(values.length * every, (row) => row).map((row) =>
    row % every === every - 1 ? values[(row - every + 1) / every] : undefined,
  );

export const RUN: Readonly<Record<string, Cases>> = {
  'monitor/learning-rate-not-negative': {
    breaking: [
      {
        what: 'a decay that is stepped beyond its end',
        series: { learning_rate: make(60, (row) => PEAK * (1 - row / 39.5)) },
        onset: 40,
      },
    ],
    holding: [
      { what: 'a decay to 0 that stays there', series: { learning_rate: [...linear(40), ...flat(20, 0)] } },
      {
        what: 'a decay by factors, whose last is 0 but for rounding',
        series: { lr: [...linear(40), -4e-21, -4e-21] },
      },
      { what: 'a rate that is no number once', series: { lr: odd(cosine(40), 12, Number.NaN) } },
    ],
  },
  'monitor/tokens-go-on': {
    breaking: [
      {
        what: 'a data set that goes on empty',
        series: {
          mean_token_accuracy: flat(60, 0.5),
          num_tokens: make(60, (row) => 8_191 * Math.min(row + 1, 30)),
        },
        onset: 30,
        within: 5,
      },
      {
        what: 'a long run',
        series: { num_input_tokens_seen: make(60, (row) => 4_123_456_789 + 8_191 * Math.min(row, 30)) },
        onset: 31,
        within: 5,
      },
    ],
    holding: [
      {
        what: 'a count that grows',
        series: { mean_token_accuracy: flat(60, 0.5), num_tokens: make(60, (row) => 8_192 * (row + 1)) },
      },
      {
        what: 'a step without tokens',
        series: {
          mean_token_accuracy: flat(60, 0.5),
          num_tokens: make(60, (row) => 8_192 * (row + (row > 30 ? 0 : 1))),
        },
      },
      {
        what: 'the tokens of each step, all rows full',
        series: { mean_token_accuracy: flat(60, 0.5), num_tokens: flat(60, 8_192) },
        silent: true,
      },
      {
        what: 'the tokens of each step, which grow until rows are full',
        series: {
          num_tokens: make(60, (row) => (row % 20 === 19 ? 100 : Math.min(1_000 * (row + 1), 8_192))),
        },
        silent: true,
      },
      {
        what: 'four digits of a long run',
        series: {
          mean_token_accuracy: flat(60, 0.5),
          num_tokens: make(60, (row) => 1_234_000_000 + 100_000 * Math.floor(row / 12)),
        },
        silent: true,
      },
      {
        what: 'a run that was resumed and counts anew',
        series: {
          mean_token_accuracy: flat(60, 0.5),
          num_tokens: [...make(30, (row) => 8_191 * (row + 1)), ...make(30, (row) => 8_191 * (row + 11))],
        },
        steps: [...make(30, (row) => row + 1), ...make(30, (row) => row + 11)],
      },
    ],
  },
  'monitor/warm-up-ends': {
    breaking: [
      {
        what: 'a warm-up as long as the run, which declares its steps',
        series: { learning_rate: warm(60) },
        declared: { max_steps: 60 },
        onset: 0,
        within: 60,
      },
      {
        what: 'a warm-up ten times as long as the run, which logs its summary',
        series: { 'train/lr': warm(60, 600), train_runtime: make(60, () => 12) },
        onset: 0,
        within: 60,
      },
      {
        what: 'one that a loss scaler holds back now and then',
        series: { learning_rate: warm(60).map((_, row) => (PEAK * (row - Math.floor(row / 20))) / 60) },
        declared: { max_steps: 600 },
        every: 10,
        first: 10,
        onset: 0,
        within: 60,
      },
    ],
    holding: [
      {
        what: 'a warm-up of half of the run',
        series: { learning_rate: warmed(60, 30) },
        declared: { max_steps: 60 },
      },
      {
        what: 'a rate that stays where it warmed up to',
        series: { learning_rate: [...warm(50), ...flat(10, PEAK)] },
        declared: { max_steps: 60 },
      },
      {
        what: 'a run that broke off while it warmed up',
        series: { learning_rate: warm(60, 100) },
        declared: { max_steps: 1000 },
        silent: true,
      },
      { what: 'a run that nobody declares', series: { learning_rate: warm(60, 100) }, silent: true },
      {
        what: 'cycles that end at their height',
        series: {
          learning_rate: make(60, (row) => PEAK * (0.1 + 0.9 * Math.abs(((row / 12 + 1) % 2) - 1))),
        },
        declared: { max_steps: 60 },
      },
    ],
  },
  'monitor/learning-rate-jumps': {
    breaking: [
      {
        what: 'a rate ten times its peak, in the middle of a decay',
        series: { learning_rate: [...linear(60).slice(0, 30), ...flat(30, 10 * PEAK)] },
        onset: 30,
      },
      {
        what: 'a constant that is a hundredfold from the middle on',
        series: { learning_rate: [...flat(40, PEAK), ...flat(40, 100 * PEAK)] },
        onset: 40,
        within: 40,
      },
      {
        what: 'one step at a tenth',
        series: { learning_rate: odd(cosine(60), 30, PEAK / 20) },
        onset: 30,
      },
      {
        what: 'one step at a hundredfold',
        series: { learning_rate: odd(flat(60, PEAK), 20, 100 * PEAK) },
        onset: 20,
      },
    ],
    holding: [
      {
        what: 'a cosine that restarts',
        series: { learning_rate: [...cosine(20), ...cosine(20), ...cosine(20)] },
      },
      {
        what: 'a decay by steps',
        series: { learning_rate: [...flat(20, PEAK), ...flat(20, PEAK / 10), ...flat(20, PEAK / 100)] },
      },
      { what: 'a short warm-up', series: { learning_rate: [0, PEAK / 100, PEAK, ...linear(57)] } },
      {
        what: 'a warm-up in stairs of epochs',
        series: {
          learning_rate: [1, 20, 40, 60, 80, 100, 100, 100].flatMap((stair) =>
            flat(30, (PEAK * stair) / 100),
          ),
        },
      },
      {
        what: 'triangles that are as narrow as the log is coarse',
        series: { learning_rate: make(60, (row) => (row % 2 === 0 ? PEAK : PEAK / 100)) },
      },
      {
        what: 'a peak that is doubled on purpose',
        series: { learning_rate: [...linear(60).slice(0, 30), ...flat(30, 2 * PEAK)] },
      },
      { what: 'four rates', series: { learning_rate: [PEAK, PEAK, 10 * PEAK, PEAK] }, silent: true },
    ],
  },
  'monitor/learning-rate-as-declared': {
    breaking: [
      {
        what: 'a hundred times what is declared',
        series: { learning_rate: cosine(60).map((rate) => 100 * rate) },
        declared: { learning_rate: PEAK },
        onset: 0,
      },
    ],
    holding: [
      { what: 'the declared one', series: { lr: cosine(60) }, declared: { lr: PEAK } },
      {
        what: 'one scaled by sixteen devices',
        series: { lr: cosine(60).map((rate) => 16 * rate) },
        declared: { lr: PEAK },
      },
      {
        what: 'an optimiser that was handed over, beside the default of the trainer',
        series: { learning_rate: flat(60, 5e-3) },
        declared: { learning_rate: 5e-5 },
        silent: true,
      },
      { what: 'nothing declared', series: { learning_rate: flat(60, 5e-3) }, silent: true },
    ],
  },
  'monitor/schedule-resumes': {
    breaking: [
      {
        what: 'a warm-up that is done again',
        series: { learning_rate: [...warmed(100, 10).slice(0, 60), ...warmed(100, 10).slice(0, 40)] },
        steps: [...upTo(1, 60), ...upTo(51, 90)],
        onset: 50,
        within: 14,
      },
      {
        what: 'a peak that is begun at again',
        series: { learning_rate: [...linear(100).slice(0, 60), ...linear(100).slice(0, 40)] },
        steps: [...upTo(1, 60), ...upTo(60, 99).map((step) => step - 1)],
        onset: 58,
        within: 5,
      },
    ],
    holding: [
      {
        what: 'a schedule that goes on',
        series: { learning_rate: [...linear(100).slice(0, 60), ...linear(100).slice(40)] },
        steps: [...upTo(1, 60), ...upTo(41, 100)],
      },
      {
        what: 'another rate, on purpose',
        series: { learning_rate: [...linear(100).slice(0, 60), ...flat(40, PEAK / 10)] },
        steps: [...upTo(1, 60), ...upTo(41, 80)],
      },
      {
        what: 'a constant',
        series: { learning_rate: flat(120, PEAK) },
        steps: [...upTo(1, 60), ...upTo(31, 90)],
      },
      { what: 'a run that was never resumed', series: { learning_rate: linear(100) }, silent: true },
    ],
  },
  'monitor/pace-of-one-span': {
    breaking: [
      {
        what: 'tokens since the start over the time of one step',
        series: { tokens_per_second: make(60, (row) => 8_192 * (row + 1) * by.heavy(1, 0.1)) },
        onset: 0,
        within: 60,
      },
      {
        what: 'the samples of one step over the time since the start',
        series: { samples_per_second: make(60, (row) => 64 / (3 + 2 * (row + 1))) },
        onset: 0,
        within: 60,
      },
    ],
    holding: [
      {
        what: 'a compilation before the first steps',
        series: { tokens_per_second: make(60, (row) => 8_192 * (1 - 0.9 * 0.8 ** row) * by.heavy(1, 0.1)) },
      },
      {
        what: 'a pace that warms up from nothing',
        series: { tokens_per_second: make(90, (row) => 8_192 * (1.001 - Math.exp(-row / 15))) },
      },
      { what: 'a pace that falls by half', series: { throughput: make(60, (row) => 64 / (1 + row / 60)) } },
    ],
  },
  'monitor/throughput-stalls': {
    breaking: [
      {
        what: 'a pace',
        series: { 'perf/throughput': [...noisy(30, 2000), ...flat(12, 50)] },
        onset: 30,
        within: 9,
      },
      { what: 'a time', series: { step_time: [...noisy(30, 1), ...flat(12, 60)] }, onset: 30, within: 9 },
      {
        what: 'a fifth of the pace from some step on',
        series: { throughput: [...noisy(60, 2000, 0.3), ...noisy(60, 400, 0.3)] },
        onset: 60,
        within: 40,
      },
      {
        what: 'five times as long from some step on, with pauses before and behind',
        series: {
          step_time: [...noisy(60, 1), ...noisy(60, 5)].map((time, row) =>
            row % 15 === 14 ? 12 * time : time,
          ),
        },
        onset: 60,
        within: 40,
      },
    ],
    holding: [
      {
        what: 'a checkpoint now and then',
        series: { step_time: make(200, (row) => (row % 20 === 19 ? 60 : by.heavy(1, 0.4))) },
      },
      {
        what: 'first steps that compile',
        series: { step_time: [90, 60, 20, ...noisy(60, 1)], throughput: [10, 15, 40, ...noisy(60, 2000)] },
      },
      {
        what: 'completions that grow',
        series: { step_time: make(200, (row) => (1 + row / 20) * by.heavy(1, 0.1)) },
      },
      {
        what: 'longer rows from some step on',
        series: {
          step_time: [...noisy(60, 1), ...noisy(60, 6)],
          'train/seq_len': [...flat(60, 4096), ...flat(60, 16_384)],
        },
      },
      {
        what: 'a shared machine that is slower for a while',
        series: { step_time: [...noisy(60, 1), ...noisy(20, 5), ...noisy(90, 1)] },
      },
      { what: 'twelve steps', series: { step_time: noisy(12, 1) }, silent: true },
    ],
  },
  'monitor/data-stalls': {
    breaking: [
      {
        what: 'a loader that lost its workers',
        series: {
          data_time: [...noisy(50, 0.02, 0.4), ...noisy(50, 0.9, 0.4)],
          step_time: [...noisy(50, 1), ...noisy(50, 1.9)],
        },
        onset: 50,
        within: 40,
      },
      {
        what: 'the same without times of steps',
        series: { 'train/data_time': [...noisy(50, 0.02, 0.4), ...noisy(50, 3, 0.4)] },
        onset: 50,
        within: 40,
      },
    ],
    holding: [
      {
        what: 'waiting that is always long',
        series: { data_time: noisy(100, 2, 0.5), step_time: noisy(100, 3) },
      },
      {
        what: 'five times nothing',
        series: { data_time: [...noisy(50, 0.001), ...noisy(50, 0.01)], step_time: noisy(100, 1) },
      },
      {
        what: 'a shuffle at each pass',
        series: {
          data_time: make(100, (row) => (row % 25 === 0 ? 30 : 0.02 * by.heavy(1, 0.5))),
          step_time: noisy(100, 1),
        },
      },
      { what: 'twelve steps', series: { data_time: noisy(12, 1) }, silent: true },
    ],
  },
  'monitor/best-checkpoint': {
    breaking: [
      {
        what: 'the last of a loss that turned, called the best',
        series: { loss: noisy(60, 1), eval_loss: evaluated([1.5, 1.2, 1.1, 1.3, 1.6, 1.9]) },
        declared: { best_metric: 1.9, best_model_checkpoint: 'out/checkpoint-60', save_steps: 10 },
        onset: 29,
        within: 31,
      },
      {
        what: 'an accuracy that was higher',
        series: { loss: noisy(60, 1), 'eval/accuracy': evaluated([0.5, 0.8, 0.7, 0.6, 0.6, 0.6]) },
        declared: { best_metric: 0.5, best_global_step: 10, save_steps: 500 },
        onset: 19,
        within: 41,
      },
    ],
    holding: [
      {
        what: 'the best',
        series: { loss: noisy(60, 1), eval_loss: evaluated([1.5, 1.2, 1.1, 1.3, 1.6, 1.9]) },
        declared: { best_metric: 1.1, best_global_step: 30 },
      },
      {
        what: 'a better one that was not saved',
        series: { loss: noisy(60, 1), eval_loss: evaluated([1.5, 1.2, 1.1, 1.15, 1.6, 1.9]) },
        declared: { best_metric: 1.15, best_model_checkpoint: '/out/checkpoint-40', save_steps: 20 },
      },
      {
        what: 'a better one behind the checkpoint that declares it',
        series: { loss: noisy(60, 1), eval_loss: evaluated([1.5, 1.4, 1.3, 1.2, 1.1, 1.05]) },
        declared: { best_metric: 1.1, best_global_step: 50, global_step: 50 },
      },
      {
        what: 'a metric whose direction nobody knows',
        series: { loss: noisy(60, 1), 'eval/drift': evaluated([3, 2, 1, 2, 3, 4]) },
        declared: { best_metric: 4, best_global_step: 60 },
        silent: true,
      },
      {
        what: 'a metric that is not logged',
        series: { loss: noisy(60, 1), eval_loss: evaluated([1.5, 1.4, 1.3]) },
        declared: { best_metric: 0.93, best_global_step: 20 },
        silent: true,
      },
      { what: 'nothing declared', series: { loss: noisy(60, 1) }, silent: true },
    ],
  },
};
