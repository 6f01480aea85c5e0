// For every rule, logs that break it and logs that look alike and do not. A rule without both fails the test.
import type { Cases } from './cases/case.ts';
import { GRADIENTS } from './cases/gradients.ts';
import { LOSSES } from './cases/losses.ts';
import { MORE_POLICY_CASES, POLICY_CASES } from './cases/policy.ts';
import { RUN } from './cases/run.ts';
import { TRAINED_CASES } from './cases/trained.ts';
import { dice, type Log, make } from './logs.ts';

const by = dice(7);
const flat = (count: number, value: number): number[] => make(count, () => value);
const noisy = (count: number, level: number, noise = 0.1): number[] =>
  make(count, () => level * Math.exp(noise * by.normal()));
const then = (before: readonly number[], ...after: readonly number[]): number[] => [...before, ...after];
/** Group-relative losses: around 0, and sometimes exactly 0. */
const around0 = (count: number): number[] => make(count, (row) => (row % 4 === 0 ? 0 : 0.01 * by.normal()));
/** A loss that falls. */
const falling = (count: number, from = 3): number[] =>
  make(count, (row) => 0.5 + from * Math.exp(-row / 10) + 0.05 * by.normal());

const grpo = (count: number, over: Log['series'] = {}): Log['series'] => ({
  loss: around0(count),
  grad_norm: noisy(count, 1),
  reward: make(count, () => 0.4 + 0.1 * by.normal()),
  reward_std: noisy(count, 0.3),
  frac_reward_zero_std: flat(count, 0.25),
  ...over,
});

const NAN = Number.NaN;
const INF = Number.POSITIVE_INFINITY;
/** Linear, but where a step is skipped: the scheduler is held back with the optimiser. */
const heldRates = (count: number, skipped: readonly number[]): number[] => {
  let steps = 0;
  return make(count, (row) => 1e-3 * (1 - (skipped.includes(row) ? steps : ++steps) / count));
};
/** These norms, but for one row. */
const withOdd = (values: readonly number[], row: number, ...odd: readonly number[]): number[] => [
  ...values.slice(0, row),
  ...odd,
  ...values.slice(row + odd.length),
];

const OWN: Readonly<Record<string, Cases>> = {
  ...LOSSES,
  ...GRADIENTS,
  'monitor/finite-training': {
    breaking: [
      { what: 'a loss that becomes NaN', series: { loss: then(falling(20), NAN, NAN) }, onset: 20 },
      {
        what: 'a KL that becomes infinite',
        series: { kl: then(noisy(9, 0.1), ...flat(4, Number.POSITIVE_INFINITY)) },
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
        series: { loss: falling(30), grad_norm: then(flat(12, Number.POSITIVE_INFINITY), ...noisy(18, 1)) },
      },
      {
        what: 'a trainer that logs its scale',
        series: {
          loss: falling(30),
          loss_scale: flat(30, 1024),
          grad_norm: then(noisy(10, 1), ...flat(4, Number.POSITIVE_INFINITY), ...noisy(16, 1)),
        },
      },

      { what: 'a healthy loss', series: { loss: falling(20) } },
      {
        what: 'steps that a loss scaler skips',
        series: { loss: falling(20), grad_norm: then(flat(8, Number.POSITIVE_INFINITY), ...noisy(12, 1)) },
        declared: { fp16: true },
      },
      {
        what: 'a single overflow, undeclared',
        series: { grad_norm: then(noisy(9, 1), Number.POSITIVE_INFINITY, 1, 1) },
      },
      { what: 'a step without any reward', series: { reward: then(noisy(9, 1), NAN, 1, 1) } },
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
        series: { loss: falling(10), grad_norm: then(noisy(9, 1), NAN) },
        onset: 9,
      },
      {
        what: 'one infinity beside a loss that has left what it was, with which the log ends',
        series: { loss: then(falling(9), 4e5), grad_norm: then(noisy(9, 1), INF) },
        onset: 9,
      },
      {
        what: 'one infinity, after which a loss of NaN was logged as 0',
        series: { loss: then(falling(10), 0, 0), grad_norm: then(noisy(9, 1), INF, 1, 1) },
        onset: 9,
      },
      {
        what: 'one infinity, after which the loss is another',
        series: {
          loss: then(falling(10), ...noisy(10, 40)),
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
          loss: then(falling(9), 4e6, 0),
          grad_norm: then(noisy(9, 1), NAN, NAN),
          learning_rate: then(flat(8, 3e-3), 1e3, 1e3, 1e3),
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
        series: { loss: falling(20), grad_norm: then([NAN], ...noisy(19, 1)) },
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
        series: { loss: falling(30), grad_norm: withOdd(then([NAN, INF], ...noisy(28, 1)), 15, NAN, NAN) },
        declared: { fp16: true },
      },
      {
        what: 'a trainer that logs its scale',
        series: { loss: falling(30), loss_scale: flat(30, 1024), grad_norm: withOdd(noisy(30, 1), 15, NAN) },
      },
      {
        what: 'a loss scaler that nobody declares, finding its scale and skipping a step later',
        series: { loss: falling(30), grad_norm: withOdd(then([NAN, NAN], ...noisy(28, 1)), 15, NAN) },
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
        series: { loss: falling(30), grad_norm: then(noisy(29, 1), INF) },
      },
      {
        what: 'a loss that is NaN as well, which is said of the loss',
        series: { loss: then(falling(9), NAN, NAN), grad_norm: then(noisy(9, 1), NAN, NAN) },
      },
    ],
  },
  'monitor/finite-metrics': {
    breaking: [
      {
        what: 'a metric that turns NaN',
        series: { 'my/metric': then(noisy(5, 1), NAN, NAN, NAN) },
        onset: 5,
      },
    ],
    holding: [
      {
        what: 'a perplexity that overflows',
        series: { ppl: then(flat(3, 3000), ...flat(5, Number.POSITIVE_INFINITY), 2000) },
      },
      { what: 'a metric that was never a number', series: { 'my/metric': flat(9, NAN) } },
      {
        what: 'a metric over nothing now and then',
        series: { 'my/metric': make(20, (row) => (row % 3 === 0 ? NAN : 1)) },
      },
    ],
  },
  'monitor/zero-loss': {
    breaking: [
      {
        what: 'a batch without labels',
        series: { loss: then(falling(9), 0, 2), grad_norm: then(noisy(9, 1), 0, 1) },
        onset: 9,
      },
      {
        what: 'nothing trained from the start',
        series: { loss: flat(5, 0), grad_norm: flat(5, 0) },
        onset: 0,
      },
      {
        what: 'a NaN that was logged as 0',
        series: { loss: then(falling(9), 0, 0), grad_norm: then(noisy(9, 1), NAN, NAN) },
        onset: 9,
      },
      { what: 'no gradient norm, and 0 for ever', series: { loss: flat(5, 0) }, onset: 0 },
      {
        what: 'GRPO with everything masked',
        series: grpo(12, { loss: then(around0(9), 0, 0, 0), grad_norm: then(noisy(9, 1), 0, 0, 0) }),
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
          loss: then(
            make(20, (row) => 1 - row * 0.04),
            0,
            0,
            0.1,
            ...flat(9, 0),
          ),
          grad_norm: then(flat(20, 3), 0, 0, 2, ...flat(9, 0)),
          'rewards/margins': make(32, (row) => row / 10),
        },
      },

      { what: 'GRPO, whose loss is 0 while its gradient is not', series: grpo(20, { loss: flat(20, 0) }) },
      {
        what: 'steps whose groups are all dead',
        series: grpo(12, {
          loss: then(around0(9), 0, 0, 0),
          grad_norm: then(noisy(9, 1), 0, 0, 0),
          frac_reward_zero_std: then(flat(9, 0.5), 1, 1, 1),
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
          loss: then(
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
          'learner_step/llm_sft_loss_avg': then(noisy(8, 2), 0, 0, 0, 0),
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
        series: { num_sft_samples: then(flat(9, 0), 4, 4), llm_sft_loss_avg: then(flat(9, 0), 2, 2) },
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
        series: { loss: falling(15), grad_norm: then(noisy(10, 1), ...flat(5, 0)) },
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
  'monitor/loss-moves': {
    breaking: [
      {
        what: 'one value for ever',
        series: { loss: flat(9, 3.1073040492110966), learning_rate: flat(9, 1e-4) },
        onset: 0,
        within: 6,
      },
    ],
    holding: [
      {
        what: 'a preference loss during warm-up',
        series: { loss: then(flat(7, Math.LN2), 0.6, 0.5), learning_rate: make(9, (row) => row * 1e-7) },
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
        series: { loss: then(flat(3, 1), -0.5, -1), mean_token_accuracy: noisy(5, 0.5) },
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
  'monitor/learning-rate-size': {
    breaking: [
      { what: '1e3 from the start', series: { learning_rate: [1000] }, onset: 0 },
      { what: '1e3 later', series: { 'train/learning_rate': then(flat(9, 1e-3), 1000, 1000) }, onset: 9 },
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
      { what: 'a schedule that ended', series: { lr: then(flat(9, 1e-4), 0, 0, 0, 0) }, onset: 9 },
      { what: 'a scheduler that is never stepped', series: { lr: flat(60, 0) }, onset: 0, within: 19 },
      { what: 'the same in a short log', series: { lr: flat(12, 0) }, onset: 0, within: 12 },
    ],
    holding: [
      {
        what: 'a rate that is logged with four digits',
        series: { lr: [6e-4, 6e-4, 5e-4, 4e-4, 3e-4, 2e-4, 2e-4, 1e-4, 1e-4, 1e-4, 0, 0, 0, 0] },
      },

      { what: 'warm-up from 0 and a last step at 0', series: { lr: then([0, 1e-4], ...flat(9, 1e-4), 0) } },
      {
        what: 'steps that a loss scaler skips',
        series: { lr: then(flat(9, 0), 1e-4, 1e-4) },
        declared: { fp16: true },
      },
    ],
  },
  'monitor/k3-kl-negative': {
    breaking: [
      { what: 'the name says k3', series: { 'rollout_corr/k3_kl': [0, 0.01, -0.2] }, onset: 2 },
      {
        what: 'the run says k3',
        series: { 'actor/kl_loss': [0, 0.01, -0.2] },
        declared: { 'actor_rollout_ref/actor/kl_loss_type': 'low_var_kl' },
        onset: 2,
      },
      {
        what: "TRL's GRPO",
        series: { 'train/kl': [0, -0.4] },
        declared: { scale_rewards: 'group' },
        onset: 1,
      },
      { what: 'the user says k3', series: { kl: [0, -0.4] }, settings: { estimator: 'k3' }, onset: 1 },
    ],
    holding: [
      { what: 'an estimator that nobody named', series: { kl: [0, -0.4, 0.1] }, silent: true },
      {
        what: 'another estimator',
        series: { 'actor/kl_loss': [0, -0.4] },
        declared: { kl_loss_type: 'kl' },
        silent: true,
      },
      { what: 'rounding', series: { 'train/kl': [-1e-8, -1e-5, 0.1] }, declared: { scale_rewards: 'group' } },
      {
        what: 'the KL of a reward',
        series: { 'actor/reward_kl_penalty': [0.1, -0.1] },
        declared: { kl_loss_type: 'low_var_kl' },
        silent: true,
      },
    ],
  },
  'monitor/kl-leaves-zero': {
    breaking: [
      {
        what: 'an optimiser of other parameters',
        series: { kl: flat(20, 0), grad_norm: noisy(20, 2), learning_rate: flat(20, 1e-3) },
        declared: { beta: 0.04 },
        onset: 0,
        within: 12,
      },
    ],
    holding: [
      { what: 'a KL that is not used', series: { kl: flat(20, 0), grad_norm: noisy(20, 2) }, silent: true },
      {
        what: 'a KL that leaves 0',
        series: { kl: then([0], ...noisy(19, 1e-4)), grad_norm: noisy(20, 2) },
        declared: { beta: 0.04 },
      },
    ],
  },
  'monitor/kl-size': {
    breaking: [{ what: 'policies with nothing in common', series: { kl: [0, 0.1, 50, 80, 90] }, onset: 2 }],
    holding: [
      {
        what: 'a KL of latent codes',
        series: { loss: flat(40, 300), recon_loss: flat(40, 280), kl: make(40, (row) => row) },
        silent: true,
      },
      {
        what: 'a student beside its teacher, summed',
        series: { loss: falling(30), kl_loss: flat(30, 290), distill_loss: flat(30, 290) },
        silent: true,
      },
      {
        what: 'preferences, of whole completions',
        series: { loss: flat(30, 0.4), kl: flat(30, 30), 'rewards/chosen': flat(30, 1) },
        silent: true,
      },

      { what: 'one token of a rare kind', series: { kl: then(noisy(9, 0.01), 30, 0.01) } },
      { what: 'whole completions', series: { 'objective/kl': noisy(20, 60) }, silent: true },
    ],
  },
  'monitor/entropy-collapse': {
    breaking: [
      { what: 'at once', series: grpo(6, { entropy: [2.4, 0, 0, 0, 0, 0], reward: flat(6, 0.1) }), onset: 1 },
      {
        what: 'in a few steps',
        series: grpo(9, { entropy: [2.4, 1.7, 0.9, 0.3, 0.1, 0.08, 0.05, 0.02, 0.01], reward: flat(9, 0.1) }),
        onset: 4,
      },
    ],
    holding: [
      {
        what: 'a policy that learnt',
        series: grpo(60, {
          entropy: make(60, (row) => 2 * Math.exp(-row / 8)),
          reward: make(60, (row) => row / 60),
        }),
      },
      { what: 'a slow fall', series: grpo(200, { entropy: make(200, (row) => 0.3 + Math.exp(-row / 50)) }) },
      { what: 'a low one', series: grpo(30, { entropy: noisy(30, 0.05) }) },
      {
        what: 'supervised training',
        series: { loss: falling(60), entropy: make(60, (row) => 2 * Math.exp(-row / 8)) },
        silent: true,
      },
    ],
  },
  'monitor/entropy-in-bounds': {
    breaking: [
      {
        what: 'a sum over tokens',
        series: { entropy: [40, 41] },
        declared: { 'model_config/vocab_size': 32_000 },
        onset: 0,
      },
    ],
    holding: [
      {
        what: 'a blind guess',
        series: { entropy: flat(3, Math.log(32_000)) },
        declared: { vocab_size: 32_000 },
      },
      { what: 'an unknown vocabulary', series: { entropy: [40] }, silent: true },
    ],
  },
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
          reward: then(noisy(9, 0.4), 0, 0, 0, 0),
          reward_std: then(noisy(9, 0.3), 0, 0, 0, 0),
          frac_reward_zero_std: then(flat(9, 0.25), 1, 1, 1, 1),
        }),
        onset: 9,
      },
      {
        what: 'a constant above what was earned',
        series: grpo(13, {
          reward: then(flat(9, 0.4), 0.7, 0.7, 0.7, 0.7),
          reward_std: then(noisy(9, 0.3), 0, 0, 0, 0),
          frac_reward_zero_std: then(flat(9, 0.25), 1, 1, 1, 1),
        }),
        onset: 9,
      },
    ],
    holding: [
      {
        what: 'one group a step, of which some are dead by chance',
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
  'monitor/first-ratio-is-one': {
    breaking: [
      {
        what: 'a ratio of another pass',
        series: { 'ratio/mean': flat(5, 1.2) },
        settings: { on_policy: true },
        onset: 0,
      },
      {
        what: 'clipping where each batch is used once',
        series: { 'train/clip_ratio/region_mean': then(flat(5, 0), 0.2, 0.3, 0.2) },
        declared: { num_iterations: 1, steps_per_generation: 4, gradient_accumulation_steps: 4 },
        onset: 5,
      },
    ],
    holding: [
      {
        what: 'rounding',
        series: { ratio: make(9, () => 1 + 1e-3 * by.normal()) },
        settings: { on_policy: true },
      },
      {
        what: 'two updates a batch',
        series: { 'train/clip_ratio/region_mean': flat(9, 0.2) },
        declared: { num_iterations: 2 },
        silent: true,
      },
      {
        what: 'one update of several',
        series: { 'train/clip_ratio/region_mean': flat(9, 0.2) },
        declared: { num_iterations: 1, steps_per_generation: 8, gradient_accumulation_steps: 1 },
        silent: true,
      },
    ],
  },
  'monitor/mean-ratio': {
    breaking: [
      { what: 'other rows', series: { ratio_mean: then(noisy(5, 1, 0.02), 3.8, 4, 3.5, 4) }, onset: 5 },
    ],
    holding: [
      {
        what: 'heavy tails',
        series: { ratio_mean: make(60, (row) => (row % 9 === 8 ? 1.8 : 1 + 0.1 * by.normal())) },
      },
    ],
  },
  'monitor/clip-fraction': {
    breaking: [
      {
        what: 'most of it',
        series: { 'actor/pg_clipfrac': then(flat(5, 0.1), ...flat(6, 0.7)) },
        onset: 5,
        within: 4,
      },
    ],
    holding: [
      {
        what: 'gradients that are clipped in a supervised run',
        series: { loss: falling(20), clip_frac: flat(20, 1) },
        silent: true,
      },

      {
        what: 'two updates a batch',
        series: { 'actor/pg_clipfrac': make(60, (row) => (row % 2 === 0 ? 0 : 0.3)) },
      },
    ],
  },
  'monitor/sampling-gap': {
    breaking: [
      {
        what: 'another temperature',
        series: { 'sampling/sampling_logp_difference/mean': flat(5, 0.9) },
        onset: 0,
      },
      { what: 'as a factor', series: { 'train/token_mult_prob_error': flat(5, 2.5) }, onset: 0 },
    ],
    holding: [
      { what: 'kernels', series: { 'sampling/sampling_logp_difference/mean': noisy(30, 0.02) } },
      { what: 'as a factor', series: { token_mult_prob_error: noisy(30, 1.02, 0.01) } },
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
  'monitor/length-stuck-at-one': {
    breaking: [
      { what: 'one token', series: { 'completions/mean_length': then(noisy(9, 40), 1, 1, 1, 1) }, onset: 9 },
    ],
    holding: [
      {
        what: 'one token is the task',
        series: { 'completions/mean_length': flat(9, 1) },
        declared: { max_completion_length: 2 },
        silent: true,
      },
      { what: 'short answers', series: { 'response_length/mean': noisy(30, 3) } },
    ],
  },
  'monitor/length-stuck-at-limit': {
    breaking: [
      {
        what: 'nothing stops',
        series: { 'completions/mean_length': flat(20, 256) },
        declared: { max_completion_length: 256 },
        onset: 0,
        within: 10,
      },
    ],
    holding: [
      {
        what: 'some do',
        series: { 'completions/mean_length': noisy(30, 200) },
        declared: { max_completion_length: 1024 },
      },
      { what: 'no limit is known', series: { 'completions/mean_length': flat(30, 256) }, silent: true },
    ],
  },
  'monitor/length-in-range': {
    breaking: [
      {
        what: 'too short',
        series: { response_length: then(flat(5, 50), 10, 10, 10) },
        settings: { low: 15, high: 96 },
        onset: 5,
      },
      {
        what: 'too long',
        series: { response_length: then(flat(5, 50), 200, 200) },
        settings: { low: 15, high: 96 },
        onset: 5,
      },
    ],
    holding: [
      { what: 'inside', series: { response_length: noisy(20, 50, 0.05) }, settings: { low: 15, high: 96 } },
      { what: 'no range', series: { response_length: flat(20, 1) }, silent: true },
    ],
  },
  'monitor/truncated-share': {
    breaking: [
      { what: 'nothing stops', series: { 'completions/clipped_ratio': flat(12, 1) }, onset: 0, within: 10 },
    ],
    holding: [{ what: 'a reasoning model', series: { 'response_length/clip_ratio': flat(30, 0.9) } }],
  },
  'monitor/stopped-share': {
    breaking: [{ what: 'nothing stops', series: { 'val/stop_rate': flat(12, 0) }, onset: 0, within: 10 }],
    holding: [{ what: 'some do', series: { 'val/stop_rate': flat(30, 0.3) } }],
  },
  'monitor/tool-failures': {
    breaking: [
      { what: 'every call', series: { 'tools/failure_frequency': flat(12, 1) }, onset: 0, within: 10 },
    ],
    holding: [
      {
        what: 'a policy that learns to call',
        series: { 'tools/failure_frequency': make(30, (row) => Math.max(0.05, 1 - row / 8)) },
      },
    ],
  },
  'monitor/grad-norm-spike': {
    breaking: [
      { what: 'it stays', series: { grad_norm: then(noisy(40, 1, 0.5), 300, 500, 900) }, onset: 40 },
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
    breaking: [{ what: 'it stays', series: { kl: then(noisy(40, 0.02, 0.5), 3, 4, 5) }, onset: 40 }],
    holding: [
      {
        what: 'a weight of latent codes that is switched on late',
        series: {
          loss: flat(60, 300),
          recon_loss: flat(60, 280),
          kl_loss: then(flat(30, 0.001), ...flat(30, 90)),
        },
      },
      { what: 'it grows', series: { kl: make(300, (row) => by.heavy(row * 0.005, 0.5)) } },
    ],
  },
  'monitor/reward-spike': {
    breaking: [
      { what: 'a hole in the reward', series: { reward: then(noisy(40, 0.5, 0.1), 9, 10, 11) }, onset: 40 },
      { what: 'a judge that breaks', series: { reward: then(noisy(40, 0.5, 0.1), -9, -10, -9) }, onset: 40 },
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
        series: { completion_length: then(noisy(40, 50, 0.1), 2000, ...flat(11, 2048)) },
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
  ...RUN,
};

const FILES = [OWN, POLICY_CASES, MORE_POLICY_CASES, TRAINED_CASES];

/** The cases of one rule may stand in several files. */
export const TABLE: Readonly<Record<string, Cases>> = Object.fromEntries(
  [...new Set(FILES.flatMap(Object.keys))].map((id) => {
    const all = FILES.flatMap((file) => file[id] ?? []);
    return [
      id,
      { breaking: all.flatMap(({ breaking }) => breaking), holding: all.flatMap(({ holding }) => holding) },
    ];
  }),
);
