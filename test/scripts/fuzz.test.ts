import { describe, expect, test } from 'vitest';
import { coverageOf } from '../../scripts/fuzz/coverage.ts';
import { READERS } from '../../scripts/fuzz/readers.ts';
import { recorded } from '../../scripts/fuzz/record.ts';

test('the page has a line of numbers for every reader, and for no other', () => {
  const lines = recorded();
  expect([...lines.keys()].sort()).toEqual(Object.keys(READERS).sort());
  for (const [reader, told] of lines)
    for (const [name, value] of Object.entries(told))
      expect(value, `${reader}: ${name}`).toBeGreaterThanOrEqual(0);
});

describe('coverage', () => {
  const branch = (value: number): string => (value > 0 ? 'above' : 'below');

  test('tells a branch that runs for the first time from one that has run', () => {
    const coverage = coverageOf((url) => url.includes('fuzz.test'));
    coverage.add(coverage.take());
    branch(1);
    const first = coverage.take();
    expect(coverage.isNew(first)).toBe(true);
    coverage.add(first);
    branch(2);
    expect(coverage.isNew(coverage.take())).toBe(false);
    branch(-1);
    expect(coverage.isNew(coverage.take())).toBe(true);
  });
});
