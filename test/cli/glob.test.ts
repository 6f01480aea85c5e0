import { expect, test } from 'vitest';
import { fitsGlob } from '../../src/cli/glob.ts';

test.each([
  ['mask/adds-nothing', 'mask/*', true],
  ['mask/adds-nothing', '*nothing', true],
  ['mask/adds-nothing', '*adds*', true],
  ['mask/adds-nothing', 'm*s*n*g', true],
  ['mask/adds-nothing', '*', true],
  ['mask/adds-nothing', '**', true],
  ['mask/adds-nothing', 'mask/adds-nothing*', true],
  ['mask/adds-nothing', 'mask', false],
  ['mask/adds-nothing', 'ask/*', false],
  ['mask/adds-nothing', '*adds', false],
  // No letter is used twice.
  ['aba', 'ab*ba', false],
  ['abba', 'ab*ba', true],
  // What a regular expression reads otherwise.
  ['a.b(c', 'a.*(c', true],
  ['axb(c', 'a.*(c', false],
])('%s, %s: %s', (name, glob, fits) => {
  expect(fitsGlob(name, glob)).toBe(fits);
});

test('many stars are answered', () => {
  expect(fitsGlob('a'.repeat(100_000), `${'*a'.repeat(1_000)}*b`)).toBe(false);
});
