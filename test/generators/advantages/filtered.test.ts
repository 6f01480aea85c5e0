import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filtered, filteredLabels, rolloutsOf } from '../../../src/generators/advantages/filtered.ts';

describe('filtered', () => {
  it('has the joint space: groups with and without spread, rows cut off, long and out of bounds', () => {
    const seen = new Map<string, number>();
    for (const each of fc.sample(filtered({ interleaved: true }), { numRuns: 500, seed: 1 }))
      for (const label of filteredLabels(each)) seen.set(label, (seen.get(label) ?? 0) + 1);
    for (const label of [
      'several groups',
      'interleaved groups',
      'equal rewards',
      'rewards that differ',
      'a mean of 0',
      'a truncated row',
      'a long row',
      'a reward out of bounds',
    ])
      expect(seen.get(label), label).toBeGreaterThan(50);
  });

  it('has groups of two rows at least, of the size that is asked for, and only plain rows where asked', () => {
    fc.assert(
      fc.property(filtered({ plain: true }), filtered({ size: 5, minGroups: 2 }), (plain, sized) => {
        expect(plain.groups.every((group) => group.length >= 2)).toBe(true);
        const own = ['a truncated row', 'a long row', 'a reward out of bounds'];
        expect(filteredLabels(plain).filter((label) => own.includes(label))).toEqual([]);
        expect(sized.groups.length).toBeGreaterThan(1);
        expect(sized.groups.every((group) => group.length === 5)).toBe(true);
      }),
    );
  });

  it('has no length and no mean of up to four rewards at a bound', () => {
    fc.assert(
      fc.property(filtered(), ({ groups, max_length, min_reward, max_reward }) => {
        for (const group of groups) {
          const mean = group.reduce((sum, { reward }) => sum + reward, 0) / group.length;
          for (const bound of [min_reward, max_reward])
            for (const value of [mean, ...group.map(({ reward }) => reward)])
              expect(Math.abs(value - bound)).toBeGreaterThan(0.001);
          expect(group.some(({ length }) => length === max_length)).toBe(false);
        }
      }),
    );
  });

  it('lays groups one after the other, or row by row', () => {
    const row = (reward: number) => ({ reward, length: 2, truncated: false });
    const drawn = {
      groups: [
        [row(1), row(2)],
        [row(3), row(4)],
      ],
      max_length: 8,
      min_reward: -64,
      max_reward: 64,
    };
    expect(rolloutsOf({ ...drawn, interleaved: false })).toMatchObject({
      rewards: [1, 2, 3, 4],
      group_ids: [0, 0, 1, 1],
    });
    expect(rolloutsOf({ ...drawn, interleaved: true })).toMatchObject({
      rewards: [1, 3, 2, 4],
      group_ids: [0, 1, 0, 1],
    });
  });
});
