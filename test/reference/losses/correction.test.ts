// Weights of a correction for an inference engine, by hand.
import { expect, test } from 'vitest';
import { correctionFactors, correctionOf, decisive, denominatorsOfKept } from '../../../src/index.ts';

const LN2 = Math.log(2);
const token = { level: 'token', low: 0.4, high: 3 } as const;

test('a truncated ratio is held, a masked one is 0, a filtered one has no weight of its own', () => {
  const logRatios = [LN2, 2 * LN2, -LN2, -2 * LN2];
  expect(correctionFactors(logRatios, { ...token, kind: 'truncated' })).toEqual([2, 3, 0.5, 0.4]);
  expect(correctionFactors(logRatios, { ...token, kind: 'masked' })).toEqual([2, 0, 0.5, 0]);
  expect(correctionFactors(logRatios, { ...token, kind: 'filtered' })).toEqual([1, 0, 1, 0]);
  expect(correctionFactors(logRatios, { ...token, kind: 'none' })).toEqual([1, 1, 1, 1]);
});

test('a ratio of a row is the product of its tokens, or their geometric mean', () => {
  expect(decisive([3, -1], 'token')).toEqual([3, -1]);
  expect(decisive([3, -1], 'sequence')).toEqual([2, 2]);
  expect(decisive([3, -1], 'sequence-mean')).toEqual([1, 1]);
});

test('tokens that are left out may leave the denominators of the batch, of their row, and of the rows', () => {
  const factors = [[1, 0], [0, 0], [], [1, 1]];
  const shares = denominatorsOfKept(factors).map((share) => factors.map((_, row) => share(row)));
  expect(shares).toEqual([
    [1, 1, 1, 1],
    [2, 2, 2, 2],
    [2, 1, 1, 1],
    [1.5, 1.5, 1.5, 1.5],
    [3, 1.5, 1.5, 1.5],
  ]);
});

test('a correction needs its level and both caps, unless there is none', () => {
  expect(correctionOf({ sampling_correction: 'none' })?.kind).toBe('none');
  expect(correctionOf({ sampling_correction: 'truncated', sampling_correction_high: 2 })).toBeUndefined();
  expect(
    correctionOf({
      sampling_correction: 'masked',
      sampling_correction_level: 'sequence',
      sampling_correction_low: null,
      sampling_correction_high: 2,
    }),
  ).toEqual({ kind: 'masked', level: 'sequence', low: 0, high: 2 });
});
