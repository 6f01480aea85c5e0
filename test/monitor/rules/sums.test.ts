// Losses and rewards beside their logged parts, in the logs of several trainers: what does not add up is told, and what is incomplete is not.
import { describe, expect, test } from 'vitest';
import { drawn } from './cases/values.ts';
import { type Columns, FORMATS, verdictAs } from './formats.ts';
import { make } from './logs.ts';

const { by, noisy } = drawn(101);
const ROWS = 60;
const pg = make(ROWS, () => 0.02 * by.normal());
const kl = make(ROWS, (row) => (0.02 + 0.001 * row) * by.heavy(1, 0.2));
const entropy = noisy(ROWS, 0.8, 0.1);
const vf = noisy(ROWS, 0.5, 0.2);
const sum = (...terms: readonly (readonly [number, readonly number[]])[]): number[] =>
  make(ROWS, (row) => terms.reduce((all, [weight, values]) => all + weight * (values[row] as number), 0));
const reward = make(ROWS, () => 0.4 + 0.1 * by.normal());
const correct = make(ROWS, () => Math.round(64 * (0.3 + 0.2 * by.uniform())) / 64);
const format = make(ROWS, () => Math.round(64 * (0.7 + 0.2 * by.uniform())) / 64);
const decimals = (values: readonly number[]): number[] =>
  values.map((value) => Math.round(1e6 * value) / 1e6);

const chosen = noisy(ROWS, 0.6, 0.3);
const rejected = noisy(ROWS, -0.4, 0.3);
const halves = { loss: noisy(ROWS, 0.6, 0.05), 'rewards/chosen': chosen, 'rewards/rejected': rejected };
const penalty = make(ROWS, (row) => -0.05 * (kl[row] as number) * 120);
const scored = { 'objective/scores': correct, 'objective/non_score_reward': penalty };

const FAULTY: readonly (readonly [string, Columns])[] = [
  [
    'a KL that is subtracted',
    {
      series: { reward, loss: sum([1, pg], [-0.5, kl]), pg_loss: pg, kl_loss: kl },
      declared: { kl_coef: 0.5 },
    },
  ],
  [
    'ten times the declared coefficient, of verl',
    {
      series: {
        'critic/score/mean': reward,
        'actor/loss': sum([1, pg], [0.2, kl], [-0.01, entropy]),
        'actor/pg_loss': pg,
        'actor/kl_loss': kl,
        'actor/entropy': entropy,
      },
      declared: {
        'actor_rollout_ref/actor/kl_loss_coef': 0.02,
        'actor_rollout_ref/actor/entropy_coeff': 0.01,
      },
    },
  ],
  [
    'half of the coefficient, of PPO with a critic',
    {
      series: {
        reward,
        'loss/total': sum([1, pg], [0.5, vf], [0.05, kl]),
        'loss/policy': pg,
        'loss/value_loss': vf,
        'objective/kl': kl,
      },
      declared: { kl_coef: 0.1, vf_coef: 0.5 },
    },
  ],
  [
    'a KL that is divided by four micro-batches, in six decimals',
    {
      series: {
        reward,
        'train/loss': decimals(sum([1, pg], [0.25, kl])),
        'train/policy_loss': decimals(pg),
        'train/kl': decimals(kl),
      },
      declared: { beta: 1.2 },
    },
  ],
];

const HEALTHY: readonly (readonly [string, Columns])[] = [
  [
    'a sum with the declared weights',
    {
      series: { reward, loss: sum([1, pg], [0.5, kl], [-0.01, entropy]), pg_loss: pg, kl_loss: kl, entropy },
      declared: { kl_coef: 0.5, entropy_coef: 0.01 },
    },
  ],
  [
    'a KL that is logged with its coefficient',
    {
      series: { reward, loss: sum([1, pg], [1, kl]), pg_loss: pg, kl_loss: kl },
      declared: { kl_coef: 0.05 },
    },
  ],
  [
    'a coefficient that adapts',
    {
      series: {
        reward,
        loss: make(ROWS, (row) => (pg[row] as number) + (0.1 + 0.01 * row) * (kl[row] as number)),
        pg_loss: pg,
        kl_loss: kl,
      },
      declared: { kl_coef: 0.1 },
    },
  ],
  [
    'a term that is not logged',
    {
      series: { reward, loss: sum([1, pg], [0.2, kl], [0.5, noisy(ROWS, 1)]), pg_loss: pg, kl_loss: kl },
      declared: { kl_coef: 0.1 },
    },
  ],
  ['margins of preferences', { series: { ...halves, 'rewards/margins': sum([1, chosen], [-1, rejected]) } }],
  [
    'margins of preferences in six decimals',
    {
      series: {
        loss: halves.loss,
        'train/rewards/chosen': decimals(chosen),
        'train/rewards/rejected': decimals(rejected),
        'train/rewards/margins': decimals(sum([1, chosen], [-1, rejected])),
      },
    },
  ],
  // Means of other pairs than those of the halves.
  ['margins that were smoothed', { series: { ...halves, 'rewards/margins': noisy(ROWS, 1, 0.1) } }],
  ['a KL in the reward', { series: { reward, loss: pg, pg_loss: pg, kl }, declared: { kl_coef: 0.1 } }],
  [
    'a reward model less its KL, of PPO',
    { series: { ...scored, 'objective/rlhf_reward': sum([1, correct], [1, penalty]) } },
  ],
];

const ASKED: readonly (readonly [string, RegExp, Columns])[] = [
  [
    'an entropy that is penalised',
    /entropy has a weight of 0\.02, and -0\.02 is declared/,
    {
      series: { reward, loss: sum([1, pg], [0.02, entropy]), pg_loss: pg, entropy },
      declared: { entropy_coef: 0.02 },
    },
  ],
  [
    'a reward with one of its weights',
    /rewards\/format\/mean has a weight of 1, and 0\.5 is declared/,
    {
      series: {
        reward: sum([1, correct], [1, format]),
        'rewards/correct/mean': correct,
        'rewards/format/mean': format,
      },
      declared: { reward_weights: '[1.0, 0.5]' },
    },
  ],
  [
    'a part that is left out',
    /rewards\/format is not in it/,
    { series: { reward: correct, 'rewards/correct': correct, 'rewards/format': format } },
  ],
  [
    'margins that are sums',
    /rewards\/rejected has a weight of 1, and -1 is what a difference has/,
    { series: { ...halves, 'rewards/margins': sum([1, chosen], [1, rejected]) } },
  ],
  [
    'margins of which the rejected half is missing',
    /rewards\/rejected is not in it/,
    { series: { ...halves, 'rewards/margins': chosen } },
  ],
  [
    'margins that are divided by two',
    /0\.5 times rewards\/chosen - rewards\/rejected at each step/,
    { series: { ...halves, 'rewards/margins': sum([0.5, chosen], [-0.5, rejected]) } },
  ],
  [
    'a KL that is added to what a reward model gives',
    /objective\/non_score_reward has a weight of -1, and 1 is what a plain sum has/,
    { series: { ...scored, 'objective/rlhf_reward': sum([1, correct], [-1, penalty]) } },
  ],
  [
    'a KL that is left out of it',
    /objective\/non_score_reward is not in it/,
    { series: { ...scored, 'objective/rlhf_reward': correct } },
  ],
  [
    'a KL that is taken away twice',
    /objective\/non_score_reward has a weight of 2, and 1 is/,
    { series: { ...scored, 'objective/rlhf_reward': sum([1, correct], [2, penalty]) } },
  ],
  [
    'a sum that does not hold at some steps',
    /at 54 of 60 steps, and not at step 8, 18, 28 and 3 more/,
    {
      series: {
        reward: sum([1, correct], [1, format]).map((value, row) => (row % 10 === 7 ? value - 0.3 : value)),
        'rewards/correct': correct,
        'rewards/format': format,
      },
    },
  ],
];

describe('a loss and its parts', () => {
  test.each(FAULTY)('are blamed: %s', async (_what, columns) => {
    for (const format of FORMATS)
      expect((await verdictAs(format, columns)).failed['loss-adds-up'], format).toMatch(
        /at each step: .* the run declares/,
      );
  });

  test.each(HEALTHY)('are neither blamed nor asked about: %s', async (_what, columns) => {
    for (const format of FORMATS) {
      const { failed, remarks } = await verdictAs(format, columns);
      expect(failed, format).not.toHaveProperty('loss-adds-up');
      expect(remarks, format).not.toMatch(/step/);
    }
  });

  test.each(ASKED)('are asked about: %s', async (_what, words, columns) => {
    const { failed, remarks } = await verdictAs('CSV', columns);
    expect(failed).not.toHaveProperty('loss-adds-up');
    expect(remarks).toMatch(words);
  });

  test('of weights that change over time are not asked about', async () => {
    const changing = make(
      ROWS,
      (row) => (correct[row] as number) + (1 - row / ROWS) * (format[row] as number),
    );
    const { remarks } = await verdictAs('CSV', {
      series: { reward: changing, 'rewards/correct': correct, 'rewards/format': format },
    });
    expect(remarks).toBe('');
  });
});
