// "There is no ratio" is said where neither good nor bad answers show one; a bound that always binds hides it in rows of one sign.
import { describe, expect, test } from 'vitest';
import type { Args, Ok } from '../../../src/index.ts';
import { cell, legal, sum } from '../../conformance/legal.ts';
import { judgedBy } from './judged.ts';

const ID = 'loss/old-logprobs-count';

/** The loss of a token and its slope in the log-probability. */
type OfToken = (ratio: number, advantage: number, logprob: number) => readonly [number, number];

const lossOf =
  (token: OfToken) =>
  ({ logprobs, old_logprobs, completion_mask: mask, advantages }: Args<'loss'>): Ok<'loss'> => {
    const count = Math.max(1, sum(mask.flat()));
    const parts = mask.map((row, b) =>
      row.map((on, t) => {
        const logprob = cell(logprobs, b, t);
        return on === 1
          ? token(Math.exp(logprob - cell(old_logprobs, b, t)), advantages[b] ?? 0, logprob)
          : ([0, 0] as const);
      }),
    );
    return {
      loss: sum(parts.flat().map(([value]) => value)) / count,
      loss_weights: parts.map((row) => row.map(([, slope]) => slope / count)),
    };
  };
const clipped: OfToken = (ratio, advantage) => {
  const bound = Math.min(1.2, Math.max(0.8, ratio));
  return -advantage * ratio >= -advantage * bound
    ? [-advantage * ratio, -advantage * ratio]
    : [-advantage * bound, 0];
};
const plain: OfToken = (_, advantage, logprob) => [-advantage * logprob, -advantage];

async function verdictOf(token: OfToken) {
  const [result] = await judgedBy([ID], legal('x', { loss: lossOf(token) }).trainer);
  return [result?.verdict, result?.failure?.finding?.sentence] as const;
}

describe('a ratio that shows in rows of one sign alone', () => {
  test.each<[string, OfToken]>([
    [
      'a second bound that good answers get as well',
      (ratio, advantage, logprob) => {
        const [value, slope] = clipped(ratio, advantage, logprob);
        return value <= -3 * advantage ? [value, slope] : [-3 * advantage, 0];
      },
    ],
    [
      'only bad answers are trained with it',
      (ratio, advantage, logprob) =>
        advantage > 0 ? plain(ratio, advantage, logprob) : clipped(ratio, advantage, logprob),
    ],
    [
      'only good answers are trained',
      (ratio, advantage, logprob) => (advantage > 0 ? clipped(ratio, advantage, logprob) : [0, 0]),
    ],
  ])('%s: there is one', async (_, token) => {
    expect(await verdictOf(token)).toEqual(['pass', undefined]);
  });

  test('the clipped objective has one', async () => {
    expect(await verdictOf(clipped)).toEqual(['pass', undefined]);
  });
});

test.each<[string, OfToken]>([
  ['the policy gradient', plain],
  ['a ratio of the policy to itself', (_, advantage) => [-advantage, -advantage]],
  [
    'only good answers, without a ratio',
    (_, advantage) => (advantage > 0 ? [-advantage, -advantage] : [0, 0]),
  ],
])('%s has none, and is asked about', async (_, token) => {
  const [verdict, sentence] = await verdictOf(token);
  expect(verdict).toBe('ask');
  expect(sentence).toContain('nor do they with advantages of the other sign: there is no ratio.');
});
