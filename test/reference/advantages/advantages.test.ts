import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  advantageVariants,
  describeAdvantage,
  groupAdvantages,
  withImpliedEpsilon,
} from '../../../src/reference/index.ts';
import { rewardGroups } from '../cases.ts';

const variant = fc.constantFrom(...advantageVariants({}));

describe('groupAdvantages', () => {
  it('agrees with the closed form for a pair', () => {
    const settings = { epsilon: 0, scaling: 'group' as const };
    expect(groupAdvantages([3, 1], [0, 0], { ddof: 0, ...settings })).toEqual([1, -1]);
    const bessel = groupAdvantages([3, 1], [0, 0], { ddof: 1, ...settings });
    expect(bessel[0]).toBeCloseTo(Math.SQRT1_2, 15);
  });

  it('adds epsilon to the standard deviation, outside the root', () => {
    const [first] = groupAdvantages([2, 0], [0, 0], { ddof: 0, epsilon: 1, scaling: 'group' });
    expect(first).toBe(0.5);
  });

  it('has mean 0 in every group, and variance 1 with its own scaling', () => {
    fc.assert(
      fc.property(rewardGroups, variant, ({ rewards, groupIds }, settings) => {
        const advantages = groupAdvantages(rewards, groupIds, settings);
        for (const id of new Set(groupIds)) {
          const own = advantages.filter((_, row) => groupIds[row] === id);
          const size = Math.max(...own.map(Math.abs), 1e-300);
          expect(Math.abs(own.reduce((sum, a) => sum + a, 0)) / size).toBeLessThan(1e-6);
        }
      }),
    );
    const unit = groupAdvantages([1, 5, 6, 2], [0, 0, 0, 0], { ddof: 1, epsilon: 0, scaling: 'group' });
    expect(unit.reduce((sum, a) => sum + a * a, 0) / 3).toBeCloseTo(1, 14);
  });

  it('is exactly 0 for equal rewards at any size and for a group of one, in every variant', () => {
    fc.assert(
      fc.property(fc.constantFrom(0, 0.1, 1e8, -0.3), fc.integer({ min: 1, max: 7 }), variant, (r, n, v) => {
        // Another group keeps the batch's deviation above 0.
        const ids = [...new Array<number>(n).fill(4), 9, 9, 2];
        const rewards = [...new Array<number>(n).fill(r), 0, 1, 77];
        const advantages = groupAdvantages(rewards, ids, v);
        expect(advantages.slice(0, n)).toEqual(new Array<number>(n).fill(0));
        expect(advantages.at(-1)).toBe(0);
      }),
    );
    expect(groupAdvantages([5], [0], { ddof: 1, epsilon: 0, scaling: 'batch' })).toEqual([0]);
  });

  it('moves with its rows when rows and group ids are permuted together', () => {
    fc.assert(
      fc.property(rewardGroups, variant, ({ rewards, groupIds }, settings) => {
        const straight = groupAdvantages(rewards, groupIds, settings);
        const reversed = groupAdvantages(rewards.toReversed(), groupIds.toReversed(), settings).reverse();
        reversed.forEach((a, row) => {
          const expected = straight[row] ?? Number.NaN;
          expect(Math.abs(a - expected)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(expected)));
        });
      }),
    );
  });

  it('lets one group feel another only under batch scaling', () => {
    const of = (scaling: 'group' | 'batch' | 'none', factor: number) =>
      groupAdvantages([0, 1, 0, factor], [0, 0, 1, 1], { ddof: 0, epsilon: 0, scaling }).slice(0, 2);
    expect(of('group', 1)).toEqual(of('group', 50));
    expect(of('none', 1)).toEqual([-0.5, 0.5]);
    expect(of('none', 50)).toEqual([-0.5, 0.5]);
    expect(of('batch', 1)).toEqual([-1, 1]);
    expect(of('batch', 50)).not.toEqual([-1, 1]);
  });

  it('refuses rewards without a group', () => {
    expect(() => groupAdvantages([1, 2], [0], { ddof: 0, epsilon: 0, scaling: 'group' })).toThrow(
      '2 rewards, but 1 group ids',
    );
  });
});

describe('the relatives of the group mean', () => {
  const plain = { ddof: 1, epsilon: 0, scaling: 'none' } as const;

  it('leave-one-out is the difference to the mean of the others', () => {
    const advantages = groupAdvantages([4, 1, 1, 0, 8], [0, 0, 0, 3, 3], {
      ...plain,
      baseline: 'leave-one-out',
    });
    [3, -1.5, -1.5, -8, 8].forEach((expected, row) => {
      expect(advantages[row]).toBeCloseTo(expected, 14);
    });
  });

  it('length-weighted is the difference to the mean over the tokens of the group', () => {
    const weighted = { ...plain, baseline: 'length-weighted' } as const;
    const ids = [0, 0, 1, 1, 1];
    // (3 * 4 + 1 * 0) / 4 = 3; (1 + 1 + 4 * 7) / 6 = 5.
    expect(groupAdvantages([4, 0, 1, 1, 7], ids, weighted, [3, 1, 1, 1, 4])).toEqual([1, -3, -4, -4, 2]);
    expect(() => groupAdvantages([4, 0], [0, 0], weighted, [3])).toThrow('2 rewards, but 1 lengths');
  });

  it('the leave-one-out maximum gives the best row its lead over the second, and the others nothing', () => {
    const best = { ...plain, baseline: 'leave-one-out-max' } as const;
    expect(groupAdvantages([4, 0, 1, 7, 7], [0, 0, 0, 1, 1], best)).toEqual([3, 0, 0, 0, 0]);
    expect(groupAdvantages([5, 2, 5], [0, 0, 0], best)).toEqual([0, 0, 0]);
  });

  it('the batch mean and no baseline leave the groups out', () => {
    const [rewards, ids] = [
      [1, 1, 4, 2],
      [0, 0, 1, 1],
    ] as const;
    expect(groupAdvantages(rewards, ids, { ...plain, baseline: 'batch-mean' })).toEqual([-1, -1, 2, 0]);
    expect(groupAdvantages(rewards, ids, { ...plain, baseline: 'none' })).toEqual([1, 1, 4, 2]);
  });

  it('adds epsilon under the root where it is placed there', () => {
    const rooted = { ddof: 0, epsilon: 3, scaling: 'group', placement: 'variance' } as const;
    expect(groupAdvantages([2, 0], [0, 0], rooted)).toEqual([0.5, -0.5]);
  });

  it('takes the batch deviation of raw or of centred rewards', () => {
    const of = (batchOf: 'rewards' | 'centred') =>
      groupAdvantages([1, -1, 9, 7], [0, 0, 1, 1], { ddof: 0, epsilon: 0, scaling: 'batch', batchOf });
    expect(of('centred')).toEqual([1, -1, 1, -1]);
    expect(of('rewards')[0]).toBeCloseTo(1 / Math.sqrt(17), 14);
  });

  it('the epsilon that the advantages imply is the one that made them', () => {
    for (const placement of ['std', 'variance'] as const) {
      const form = { ddof: 1, epsilon: 0.03, scaling: 'group', placement } as const;
      const [rewards, ids] = [
        [0, 0.01, 5, 3],
        [0, 0, 1, 1],
      ] as const;
      const observed = groupAdvantages(rewards, ids, form);
      const known = { ...form, epsilon: 0 };
      expect(withImpliedEpsilon(rewards, ids, observed, known, 0.1).epsilon).toBeCloseTo(0.03, 12);
      expect(withImpliedEpsilon(rewards, ids, observed, known, 0.02).epsilon).toBe(0.02);
      expect(withImpliedEpsilon(rewards, ids, [0, 0, 0, 0], known, 0.1)).toEqual(known);
    }
  });
});

describe('advantageVariants', () => {
  it('is one variant where all is declared', () => {
    const declared = {
      advantage_ddof: 1,
      advantage_epsilon: 1e-4,
      advantage_epsilon_placement: 'std',
      advantage_baseline: 'group-mean',
      advantage_scaling: 'group',
    } as const;
    expect(advantageVariants(declared)).toEqual([
      { ddof: 1, epsilon: 1e-4, scaling: 'group', placement: 'std', baseline: 'group-mean' },
    ]);
  });

  it('leaves where epsilon is placed and, without its own scaling, the baseline open', () => {
    const declared = { advantage_ddof: 1, advantage_epsilon: 1e-4 } as const;
    expect(advantageVariants({ ...declared, advantage_scaling: 'group' })).toHaveLength(2);
    expect(advantageVariants({ advantage_scaling: 'none' })).toHaveLength(3);
  });

  it('ranges over what is not declared, without duplicates', () => {
    const all = advantageVariants({}).map(describeAdvantage);
    // Two degrees of freedom; seven epsilons in two places and 0 in one; group, and two batches with three baselines.
    expect(all).toHaveLength(2 * (7 * 2 + 1) * (1 + 2 * 3) + 3);
    expect(new Set(all).size).toBe(all.length);
  });
});
