// Two numbers that differ are shown with as many digits as tell them apart.
import { expect, test } from 'vitest';
import { apart, numberLines } from '../../../src/report/text/numbers.ts';

test.each<[one: number, other: number, shown: readonly [string, string]]>([
  [0.25, 0.5, ['0.25', '0.5']],
  [13.59062, 13.59063, ['13.59062', '13.59063']],
  [13.5906201, 13.5906201001, ['13.5906201', '13.5906201001']],
  [1, 1 + Number.EPSILON, ['1', '1.0000000000000002']],
  [2, 2, ['2', '2']],
  [Number.NaN, 1, ['NaN', '1']],
  [0, -0, ['0', '-0']],
])('%s and %s', (one, other, shown) => {
  expect(apart(one, other)).toEqual(shown);
});

test('a table of numbers has them so', () => {
  const [, row] = numberLines([
    { where: 'a', expected: 13.5906201, observed: 13.5906201001, allowed: 1e-12 },
  ]);
  expect(row).toContain('13.5906201  13.5906201001');
});
