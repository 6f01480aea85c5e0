// What rules say is true of the log: the step of a jump, the sign of a KL, the factor of a rate.
import { expect, test } from 'vitest';
import { seriesRules } from '../../../properties/monitor/index.ts';
import { flat, followed } from './cases/values.ts';
import { dice, type Log, make, sayingsOf } from './logs.ts';

const said = (log: Log) =>
  sayingsOf(seriesRules, log).said.map(({ rule, violation }) => ({ rule, ...violation }));
const by = dice(5);
const noisy = (count: number, level: number): number[] =>
  make(count, () => level * Math.exp(0.1 * by.normal()));
const reward = (count: number): number[] => make(count, () => 0.4 + 0.05 * by.normal());

test.each([
  ['a length that rises', 'length-spike', 'completion_length', 100, 120, 512, 200],
  ['a length that falls', 'length-spike', 'response_length/mean', 37, 800, 60, 90],
  ['an entropy that rises', 'entropy-explodes', 'actor/entropy', 64, 0.4, 5, 120],
  ['a length that rises late in a long log', 'length-spike', 'completion_length', 271, 90, 700, 300],
  [
    'a length that rises in a log with two values a stretch',
    'length-spike',
    'completion_length',
    300,
    90,
    700,
    420,
  ],
] as const)('%s is named at its own step', (_what, rule, name, at, before, now, count) => {
  const values = make(count, (row) => (row < at ? before : now) * Math.exp(0.05 * by.normal()));
  const found = said({ first: 0, series: { reward: reward(count), [name]: values } });
  expect(found.filter((each) => each.rule === `monitor/${rule}`)).toMatchObject([{ step: at }]);
});

test.each([
  ['approx_kl', flat(12, -0.99886), 'Near -1 is the mean of -ratio', 'kl-stays-negative'],
  ['actor/ppo_kl', make(30, () => -1.002), 'Near -1 is the mean of -ratio', 'kl-stays-negative'],
  ['approx_kl', make(12, () => 1.0004), 'Near 1 is the mean of the ratio', 'kl-size'],
] as const)('%s is not called a KL that is too large', (name, values, words, rule) => {
  const found = said({ series: { reward: reward(values.length), [name]: values } });
  const own = found.find((each) => each.rule === `monitor/${rule}`);
  expect(own?.sentence).toContain(words);
  if ((values[0] ?? 0) < 0)
    for (const { sentence } of found) expect(sentence).not.toMatch(/above 0\.3|too large/);
});

test('a large KL is still called too large', () => {
  const found = said({
    series: { reward: reward(40), approx_kl: followed(noisy(20, 0.01), ...noisy(20, 0.7)) },
  });
  expect(found.find(({ rule }) => rule === 'monitor/kl-size')?.sentence).toContain('above 0.3 since step 21');
});

test('a wrong peak is named with its factor', () => {
  const found = said({
    series: { loss: noisy(60, 2), learning_rate: make(60, (row) => 2.2e-5 * (1 - row / 60)) },
    declared: { lr_scheduler_type: 'linear', learning_rate: 2e-5, max_steps: 60 },
  });
  expect(found).toMatchObject([{ rule: 'monitor/learning-rate-as-scheduled', kind: 'wrong peak' }]);
  expect(found[0]?.sentence).toContain('at 1.1 times its height');
});
