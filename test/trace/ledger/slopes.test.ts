// Slopes of tensors: what is off is asked about, and named with how far.
import { expect, test } from 'vitest';
import { judged } from './judged.ts';

const ID = 'update/gradients-are-slopes';
const NAMES = ['embed.weight', 'norm.weight', 'mlp.weight', 'head.weight'];

const said = (ratios: readonly number[]): ReturnType<typeof judged> =>
  judged(ID, {
    events: [
      { what: 'slope', place: 'train.py:9', names: NAMES.slice(0, ratios.length), values: { ratios } },
    ],
  });

test.each<[ratios: readonly number[], words: string]>([
  [
    [0.5, 1, 1, 1],
    '1 of 4 tensors, the loss of step 0 at train.py:9 does not change by what they say, but by other times that: embed.weight (0.5)',
  ],
  [[0.95, 0.94, 1, 1], 'norm.weight (0.94), embed.weight (0.95)'],
  [[1, 1, 1, 2], 'head.weight (2)'],
  [[1, -1, 1, 1], 'norm.weight (-1)'],
])('%o is asked about', (ratios, words) => {
  const [notice] = said(ratios).notices ?? [];
  expect(notice?.asked).toBe(true);
  expect(notice?.sentence).toContain(words);
});

test.each([[[1, 1.001, 0.999, 1]], [[0.98, 1, 1.02, 1]], [[1]]])('%o is right', (ratios) => {
  expect(said(ratios)).toMatchObject({ judged: ratios.length, findings: [] });
  expect(said(ratios).notices).toBeUndefined();
});
