import { describe, expect, it } from 'vitest';
import { impliedShrink, moments, underMask, whitened, whitenVariants } from '../../../src/reference/index.ts';

const VALUES = [
  [100, 1, 3],
  [5, 100, 100],
];
const MASK = [
  [0, 1, 1],
  [1, 0, 0],
];

describe('moments', () => {
  it('are those of what is under the mask', () => {
    expect(moments(VALUES, MASK, 0)).toEqual({ mean: 3, deviation: Math.sqrt(8 / 3), count: 3 });
    expect(moments(VALUES, MASK, 1).deviation).toBe(2);
  });

  it('have no deviation where ddof leaves nothing', () => {
    expect(moments([[7]], [[1]], 1).deviation).toBe(0);
  });
});

describe('whitened', () => {
  it('is (x - 3) / 2 here, and 0 outside the mask', () => {
    expect(whitened(VALUES, MASK, { mean: 'zero', ddof: 1 })).toEqual([
      [0, -1, 0],
      [1, 0, 0],
    ]);
  });

  it('keeps the mean, or scales it with everything else', () => {
    expect(underMask(whitened(VALUES, MASK, { mean: 'kept', ddof: 1 }), MASK)).toEqual([2, 3, 4]);
    expect(underMask(whitened(VALUES, MASK, { mean: 'scaled', ddof: 1 }), MASK)).toEqual([0.5, 1.5, 2.5]);
  });

  it('is the mean where all values are equal', () => {
    expect(whitened([[4, 4]], [[1, 1]], { mean: 'zero', ddof: 1 })).toEqual([[0, 0]]);
    expect(whitened([[4, 4]], [[1, 1]], { mean: 'kept', ddof: 1 })).toEqual([[4, 4]]);
  });
});

describe('impliedShrink', () => {
  const variant = { mean: 'zero', ddof: 1 } as const;
  const divided = (by: number): number[][] => VALUES.map((row) => row.map((value) => (value - 3) / by));

  it('finds a small epsilon again', () => {
    expect(impliedShrink(VALUES, MASK, divided(2 + 1e-4), variant)).toBeCloseTo(2 / (2 + 1e-4), 12);
  });

  it('does not take another scale for an epsilon', () => {
    expect(impliedShrink(VALUES, MASK, divided(3), variant)).toBeGreaterThan(0.999);
    expect(impliedShrink(VALUES, MASK, divided(1), variant)).toBe(1);
  });
});

describe('whitenVariants', () => {
  it('are all that are in use where nothing is declared, and the declared one otherwise', () => {
    expect(whitenVariants({})).toHaveLength(6);
    expect(whitenVariants({ whiten_mean: true, whiten_ddof: 0 })).toEqual([{ mean: 'zero', ddof: 0 }]);
    expect(whitenVariants({ whiten_mean: false, whiten_ddof: 1 }).map(({ mean }) => mean)).toEqual([
      'scaled',
      'kept',
    ]);
  });
});
