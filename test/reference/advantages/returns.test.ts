import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { discountedReturns, gaeAdvantages } from '../../../src/reference/index.ts';

describe('discountedReturns', () => {
  it('without discount are what is left of the rewards', () => {
    expect(discountedReturns([[1, 2, 4]], [[1, 1, 1]], 1)).toEqual([[7, 6, 4]]);
  });

  it('discount once a step: 1 + 2/2 + 4/4, 2 + 4/2, 4', () => {
    expect(discountedReturns([[1, 2, 4]], [[1, 1, 1]], 0.5)).toEqual([[3, 4, 4]]);
  });

  it('take masked tokens for no steps, wherever they stand', () => {
    const rewards = [[9, 1, 9, 2, 4, 9]];
    expect(discountedReturns(rewards, [[0, 1, 0, 1, 1, 0]], 0.5)).toEqual([[0, 3, 0, 4, 4, 0]]);
  });

  it('are the advantages with lambda 1 of a critic that expects nothing', () => {
    const row = fc.array(fc.tuple(fc.integer({ min: -8, max: 8 }), fc.constantFrom(0, 1)), { minLength: 1 });
    fc.assert(
      fc.property(row, fc.constantFrom(0, 0.5, 1), (steps, gamma) => {
        const [rewards, mask] = [[steps.map(([r]) => r)], [steps.map(([, on]) => on)]];
        const nothing = [steps.map(() => 0)];
        const expected = gaeAdvantages(rewards, nothing, mask, gamma, 1);
        for (const [at, value] of (discountedReturns(rewards, mask, gamma)[0] ?? []).entries())
          expect(value).toBeCloseTo(expected[0]?.[at] ?? Number.NaN, 12);
      }),
    );
  });
});
