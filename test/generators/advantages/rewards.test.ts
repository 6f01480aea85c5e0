import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { graded } from '../../../src/generators/advantages/graded.ts';
import { grouped, groupedLabels } from '../../../src/generators/advantages/rewards.ts';

describe('grouped rewards', () => {
  it.each([undefined, 4, 8])('have as many groups as rows in one often enough, with a size of %s', (size) => {
    const drawn = fc.sample(grouped({ size }), { seed: 1, numRuns: 400 });
    const square = drawn.filter((each) => groupedLabels(each).includes('as many groups as rows in one'));
    expect(square.length).toBeGreaterThan(60);
    for (const { groups } of drawn) if (size !== undefined) expect(groups[0]).toHaveLength(size);
  });

  it('are no square of groups of one, nor of groups too large to read', () => {
    for (const size of [1, 16])
      for (const { groups } of fc.sample(grouped({ size, minGroups: 2 }), { seed: 1, numRuns: 100 }))
        expect([2, 3]).toContain(groups.length);
  });
});

describe('graded answers', () => {
  it('lie on both sides of a limit in one batch often enough, wherever it is', () => {
    const sample = { prompt: 'p', reference: 'r', right: 'yes', wrong: 'no' };
    const drawn = fc.sample(graded([sample]), { seed: 1, numRuns: 400 });
    for (const limit of [32, 512, 2048]) {
      const words = (text: string): number => text.split(' ').length;
      const both = drawn.filter(
        ({ rows }) =>
          rows.some(({ completion }) => words(completion) > limit) &&
          rows.some(({ completion }) => words(completion) <= limit),
      );
      expect(both.length, String(limit)).toBeGreaterThan(20);
    }
  });
});
