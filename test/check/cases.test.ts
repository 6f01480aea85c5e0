import fc from 'fast-check';
import { expect, test } from 'vitest';
import { drawCases } from '../../src/check/cases.ts';

test('drawing in chunks gives the very values that fast-check draws at once, and any of them again', () => {
  const arbitrary = fc.record({ a: fc.array(fc.integer()), b: fc.string() });
  const count = 700;
  const expected = fc.sample(arbitrary, { seed: 42, numRuns: count });
  const cases = drawCases(arbitrary, 42, count);
  const drawn = Array.from({ length: count }, () => cases.next());
  expect(drawn).toEqual(expected);
  for (const index of [0, 1, 63, 64, 191, 192, 699]) expect(cases.at(index)).toEqual(expected[index]);
});
