// The fits of `npm run bench:scaling`, on points whose exponent is known.
import { expect, test } from 'vitest';
import {
  exponentOf,
  median,
  medianOfPairs,
  mediansOf,
  type Point,
} from '../../scripts/bench/scaling/exponents.ts';

const law = (exponent: number, factor = 3): Point[] =>
  [1, 2, 4, 8].map((size) => [size, factor * size ** exponent]);

test.each([0, 0.5, 1, 2])('an exact power law has its exponent: %s', (exponent) => {
  expect(exponentOf(law(exponent))).toBeCloseTo(exponent, 10);
  expect(medianOfPairs([law(exponent), law(exponent, 7)])).toBeCloseTo(exponent, 10);
});

test('one bad point moves least squares, and the median of pairs hardly', () => {
  const bent = law(1).map(([size, taken], at): Point => [size, at === 3 ? taken * 4 : taken]);
  expect(exponentOf(bent)).toBeGreaterThan(1.3);
  expect(medianOfPairs([law(1), bent, law(1)])).toBeCloseTo(1, 10);
});

test('medians, of each size over the rounds', () => {
  expect(mediansOf([law(1), law(1, 9), law(1, 5)])).toEqual(law(1, 5));
  expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5]);
  expect(median([])).toBeNaN();
});
