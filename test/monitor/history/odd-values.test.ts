// How values were logged, told by the values themselves; and runs that look alike, of which nothing is told.
import { describe, expect, test } from 'vitest';
import { seriesRules } from '../../../properties/monitor/index.ts';
import { ledgerOf } from '../logged.ts';
import { dice, make } from '../rules/logs.ts';

const by = dice(11);
const ROWS = 120;
const noisy = (level: number, spread = 0.1): number[] => make(ROWS, () => level * by.heavy(1, spread));
const loss = make(ROWS, (row) => 1 + 2 * Math.exp(-row / 20) + 0.02 * by.normal());
const reward = make(ROWS, (row) => 0.3 + row / 400 + 0.03 * by.normal());
const lengths = noisy(250);
const summed = (values: readonly number[]): number[] => {
  let sum = 0;
  return values.map((value) => {
    sum += value;
    return sum;
  });
};
const warm = (row: number): number => 1e-4 * Math.min(1, (row + 1) / 10) * (1 - row / ROWS);

const accuracy = make(ROWS, (row) => 0.75 - 0.25 * Math.exp(-row / 20) + 0.01 * by.normal());
const costs = accuracy.map((right) => 3.2 * (1 - right) + 0.1 * right);

type Columns = Readonly<Record<string, readonly number[]>>;

function remarks(columns: Columns, stepOf = (row: number): number => row + 1): readonly string[] {
  const history = ledgerOf(seriesRules);
  for (let row = 0; row < ROWS; row++)
    for (const [name, values] of Object.entries(columns))
      history.point(history.series('a', name), stepOf(row), values[row] as number, Number.NaN);
  history.end();
  return history.remarks();
}

const FAULTY: readonly (readonly [what: string, columns: Columns, says: RegExp])[] = [
  [
    'a reward without its mean',
    { reward: make(ROWS, () => 1e-8 * by.normal()), reward_std: noisy(0.3) },
    /reward is 0 at each step, while reward_std is not: .* only they show/,
  ],
  [
    'the same under another name',
    { 'critic/score/mean': make(ROWS, () => 0), 'rewards/std': noisy(2) },
    /critic\/score\/mean is 0 at each step, while rewards\/std is not/,
  ],
  [
    'a spread that was divided by itself',
    { reward, reward_std: make(ROWS, () => 0.9998) },
    /reward_std is 1/,
  ],
  [
    'a norm after clipping to 1',
    { loss, grad_norm: noisy(2.5, 0.5).map((value) => Math.min(value, 1 - 1e-7 * by.uniform())) },
    /grad_norm is 1 at most of its steps and never above/,
  ],
  [
    'a norm after clipping to 0.3',
    { loss, 'actor/grad_norm': noisy(0.5, 0.5).map((value) => Math.min(value, 0.3)) },
    /actor\/grad_norm is 0\.3 at most/,
  ],
  [
    'tokens that are counted anew',
    { loss, num_tokens: [...summed(noisy(9000)).slice(0, 70), ...summed(noisy(9000)).slice(0, 50)] },
    /num_tokens falls from \d+ at step 70 to \d+ at step 71/,
  ],
  [
    'passes that are counted anew',
    { loss, epoch: make(ROWS, (row) => (row < 60 ? row : row - 60) / 50) },
    /epoch falls from 1\.18 at step 60 to 0 at step 61/,
  ],
  [
    'a second warm-up, to the first peak',
    { loss, learning_rate: make(ROWS, (row) => warm(row < 60 ? row : row - 60)) },
    /learning_rate falls from .* at step 60 to .* at step 61 and climbs again/,
  ],
  [
    'a second warm-up, to a lower peak',
    { loss, lr: make(ROWS, (row) => (row < 40 ? warm(row) : 0.3 * warm(row - 40))) },
    /lr falls from .* at step 40 to .* at step 41 and climbs again/,
  ],
  [
    'columns that are counted as tokens',
    { loss, 'completions/mean_length': lengths, num_tokens: make(ROWS, (row) => (row + 1) * 65_536) },
    /num_tokens grows by the same number at each step/,
  ],
  [
    'a loss that is added up over 8 micro-batches',
    { loss: costs.map((value) => 8 * value), mean_token_accuracy: accuracy },
    /loss at step 5 is \S+, and \S+ of the tokens are not the likeliest .* Is it a sum over tokens or micro-batches\?/,
  ],
  [
    'single losses of 0',
    {
      loss: loss.map((value, row) => (row % 40 === 20 ? 0 : value)),
      grad_norm: noisy(1),
    },
    /loss is exactly 0 at 3 steps, first at step 21, and never below/,
  ],
];

describe('is remarked', () => {
  test.each(FAULTY)('%s', (_what, columns, says) => {
    expect(remarks(columns)).toEqual([expect.stringMatching(says)]);
  });

  test('a part of the log that is missing', () => {
    const lost = (row: number): number => (row < 50 ? row + 1 : row + 26);
    expect(remarks({ loss }, lost)).toEqual([
      'a: 25 logged steps are missing between 50 and 76: a part of the log is lost, or the count went on without steps.',
    ]);
    expect(remarks({ loss }, (row) => 10 * lost(row))).toEqual([
      expect.stringMatching('25 logged steps are missing between 500 and 760'),
    ]);
  });
});

const HEALTHY: readonly (readonly [what: string, columns: Columns])[] = [
  ['rewards that were not normalised', { reward, reward_std: noisy(0.3) }],
  ['rewards around 0', { reward: make(ROWS, () => 0.02 * by.normal()), reward_std: noisy(0.3) }],
  ['rewards that are all 0', { reward: make(ROWS, () => 0), reward_std: make(ROWS, () => 0) }],
  ['a spread near 1', { reward, reward_std: noisy(1, 0.02) }],
  ['a norm that is clipped, logged before', { loss, grad_norm: noisy(2.5, 0.5) }],
  ['norms that hardly differ', { loss, grad_norm: noisy(0.3, 0.0001) }],
  ['tokens of each step', { loss, num_tokens: noisy(9000) }],
  ['tokens that are counted on', { loss, num_tokens: summed(noisy(9000)) }],
  ['a fraction of each pass', { loss, epoch: make(ROWS, (row) => (row % 30) / 30) }],
  ['a loss that fits its accuracy', { loss: costs, mean_token_accuracy: accuracy }],
  [
    'a model before anything is learnt',
    {
      loss: make(ROWS, (row) => 11.9 * Math.exp(-row / 60)),
      mean_token_accuracy: make(ROWS, (row) => 0.4 - 0.4 * Math.exp(-row / 60)),
    },
  ],
  ['one warm-up', { loss, learning_rate: make(ROWS, warm) }],
  [
    'a cosine with warm restarts',
    { loss, learning_rate: make(ROWS, (row) => 5e-5 * (1.05 + Math.cos((Math.PI * (row % 40)) / 40))) },
  ],
  ['a decay in steps', { loss, learning_rate: make(ROWS, (row) => 1e-4 * 0.2 ** Math.floor(row / 40)) }],
  ['packed rows, which have one length each', { loss, num_tokens: make(ROWS, (row) => (row + 1) * 65_536) }],
  [
    'losses that came down to 0',
    { loss: make(ROWS, (row) => (row < 90 ? Math.exp(-row / 8) : row % 2 ? 0 : 1e-6)), grad_norm: noisy(1) },
  ],
];

describe('nothing is remarked of', () => {
  test.each(HEALTHY)('%s', (_what, columns) => {
    expect(remarks(columns)).toEqual([]);
  });

  test.each([
    ['each tenth step', (row: number) => 10 * row],
    ['steps of uneven counts', (row: number) => row + 12 * Math.floor(row / 9)],
    ['a few that are missing', (row: number) => (row < 50 ? row : row + 5)],
  ])('a log of %s', (_what, stepOf) => {
    expect(remarks({ loss }, stepOf)).toEqual([]);
  });
});
