// Series in the shapes that small real trainings left, healthy and with one fault: TRL's SFT, DPO and GRPO, 100 logged steps.
import { dice, make } from '../logs.ts';
import type { Cases } from './case.ts';

const by = dice(41);
const ROWS = 100;
const noisy = (level: (row: number) => number, noise = 0.05): number[] =>
  make(ROWS, (row) => level(row) * by.heavy(1, noise));
/** Shares of 16 pairs. */
const shares = (chance: (row: number) => number): number[] =>
  make(
    ROWS,
    (row) => make(16, () => Number(by.uniform() < chance(row))).reduce((all, each) => all + each, 0) / 16,
  );
/** Evaluations at every tenth row. */
const evaluated = (value: (row: number) => number): (number | undefined)[] =>
  Array.from({ length: ROWS }, (_, row) => (row % 10 === 9 ? value(row) : undefined));

/** Destroyed by the first steps, and learnt anew. */
const destroyed = (row: number): number =>
  row < 2
    ? 1.4
    : row < 6
      ? 1.4 + 0.9 * (row - 1)
      : 1.5 + 3.5 * Math.exp(-(row - 5) / 6) + 0.4 * Math.exp(-row / 60);
const learnt = (row: number): number => 0.3 + 0.4 * Math.exp(-row / 20);
const chance = make(ROWS, (row) => Math.LN2 + (row === 0 ? 0 : 0.02 + 0.05 * by.normal()));
const kl = noisy(() => 0.004, 1);
const rewards = make(ROWS, () => 0.4 + 0.08 * by.normal());

export const TRAINED_CASES: Readonly<Record<string, Cases>> = {
  'monitor/loss-rises': {
    breaking: [
      {
        what: 'a model that its first steps destroy, whose first evaluation stands behind that',
        series: {
          loss: noisy(destroyed),
          grad_norm: noisy((row) => (row > 1 && row < 7 ? 12 : 1), 0.3),
          eval_loss: evaluated((row) => 1.6 + Math.exp(-row / 30)),
        },
        onset: 2,
        within: 45,
      },
    ],
    holding: [
      {
        what: 'harder data, ever more of them, while held-out data get better',
        series: {
          loss: noisy((row) => (row < 30 ? 2 - row / 30 : 1 + (row - 30) / 50)),
          eval_loss: evaluated((row) => 1.6 - row / 200),
        },
        every: 10,
      },
      {
        what: 'a first batch that is easy',
        series: { loss: noisy((row) => (row < 3 ? 0.8 : 1.9 - 0.004 * row)), grad_norm: noisy(() => 1) },
      },
      {
        what: 'a rate that is too large for a few steps, and a model that comes back',
        series: {
          loss: noisy((row) =>
            row < 12 ? Math.min(destroyed(row), 3.2) : 0.6 + 2 * Math.exp(-(row - 12) / 8),
          ),
          grad_norm: noisy((row) => (row > 1 && row < 12 ? 12 : 1), 0.3),
        },
      },
    ],
  },
  'monitor/evaluations-move': {
    breaking: [
      {
        what: 'an optimiser that changes nothing',
        series: { loss: noisy(() => 1.4), eval_loss: evaluated(() => 1.328377604484558) },
        onset: 9,
        within: 20,
      },
    ],
    holding: [
      {
        what: 'an evaluation that each line of training repeats until the next',
        series: {
          loss: noisy(() => 1.4),
          eval_loss: make(ROWS, (row) => 1.328377604484558 - Math.floor(row / 20) / 97),
        },
      },
      {
        what: 'a rate that is next to nothing',
        series: { loss: noisy(() => 1.4), eval_loss: evaluated((row) => 1.328377 - 1e-6 * row) },
      },
      {
        what: 'evaluations that are rounded to four digits',
        series: { loss: noisy(() => 1.4), eval_loss: evaluated(() => 1.328) },
        silent: true,
      },
      {
        what: 'evaluations of 0',
        series: { loss: noisy(() => 1.4), eval_loss: evaluated(() => 0) },
        silent: true,
      },
    ],
  },
  'monitor/preferences-are-learnt': {
    breaking: [
      {
        what: 'a loss of the wrong sign',
        series: { loss: noisy((row) => -0.7 - 0.08 * row), 'rewards/accuracies': shares(() => 0.06) },
        onset: 0,
        within: 25,
      },
      {
        what: 'pairs that are swapped at random',
        series: { loss: chance, 'rewards/accuracies': shares(() => 0.48) },
        onset: 0,
        within: 70,
      },
    ],
    holding: [
      { what: 'preferences', series: { loss: noisy(learnt, 0.4), 'rewards/accuracies': shares(() => 0.9) } },
      {
        what: 'preferences that are hardly learnt',
        series: {
          loss: make(ROWS, (row) => Math.LN2 - 0.0006 * row + 0.03 * by.normal()),
          'rewards/accuracies': shares((row) => 0.5 + 0.0015 * row),
        },
      },
      {
        what: 'a warm-up in which no weight has moved yet',
        series: { loss: make(ROWS, () => Math.LN2), 'rewards/accuracies': make(ROWS, () => 0) },
      },
      {
        what: 'an objective with a likelihood in it, over pairs that are as likely',
        series: { loss: noisy(() => 1.7), 'rewards/accuracies': shares(() => 0.5) },
      },
      { what: 'a fine-tune', series: { loss: noisy(learnt) }, silent: true },
    ],
  },
  'monitor/evaluation-turns': {
    breaking: [
      {
        what: 'preferences over 64 rows, whose training loss is next to nothing',
        series: {
          loss: noisy((row) => Math.LN2 * Math.exp(-row / 8), 0.2),
          eval_loss: evaluated((row) => (row < 30 ? 0.4 - 0.004 * row : 0.28 + 0.0012 * (row - 30))),
        },
        onset: 49,
        within: 50,
      },
    ],
    holding: [
      {
        what: 'preferences that are learnt well, with a held-out loss that rises by a tenth',
        series: {
          loss: noisy((row) => Math.LN2 * Math.exp(-row / 8), 0.2),
          eval_loss: evaluated((row) => (row < 30 ? 0.4 - 0.004 * row : 0.28 + 0.0004 * (row - 30))),
        },
      },
    ],
  },
  'monitor/entropy-explodes': {
    breaking: [
      {
        what: 'preferences at a rate a hundred times too large, which are learnt all the same',
        series: {
          loss: noisy(learnt, 0.4),
          'rewards/accuracies': shares(() => 0.9),
          'rewards/margins': noisy((row) => 0.02 * row + 0.1),
          entropy: noisy((row) => (row < 3 ? 0.42 : Math.min(2.5, 0.5 + 0.1 * row))),
        },
        onset: 9,
        within: 20,
      },
    ],
    holding: [
      {
        what: 'preferences whose answers become a little more diverse',
        series: {
          loss: noisy(learnt, 0.4),
          'rewards/accuracies': shares(() => 0.9),
          entropy: noisy((row) => 0.42 + 0.0015 * row),
        },
      },
    ],
  },
  'monitor/kl-leaves-zero': {
    breaking: [
      {
        what: 'an optimiser that changes nothing, under TRL, which logs a KL only where it has a coefficient',
        series: {
          kl: make(ROWS, () => 0),
          grad_norm: noisy(() => 0.5),
          learning_rate: noisy(() => 1e-5),
          frac_reward_zero_std: make(ROWS, () => 0),
        },
        onset: 0,
        within: 12,
      },
    ],
    holding: [],
  },
  'monitor/kl-coefficient': {
    breaking: [
      {
        what: 'a coefficient of 100 that nobody declares, beside a loss of the policy',
        series: { reward: rewards, kl, loss: kl.map((each) => 100 * each + 0.03 * by.normal()) },
        onset: 0,
        within: 20,
      },
    ],
    holding: [
      {
        what: 'a usual coefficient, which is next to nothing of the loss',
        series: { reward: rewards, kl, loss: kl.map((each) => 0.04 * each + 0.03 * by.normal()) },
        silent: true,
      },
    ],
  },
};
