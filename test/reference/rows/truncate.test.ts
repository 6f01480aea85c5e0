import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutSides, isSubsequence } from '../../../src/reference/index.ts';

const ids = fc.array(fc.nat(2), { maxLength: 6 });

describe('isSubsequence', () => {
  it('is true of exactly what taking items out can leave', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(2), { maxLength: 5 }), ids, (whole, part) => {
        const left = Array.from({ length: 2 ** whole.length }, (_, bits) =>
          whole.filter((_item, at) => (bits >> at) & 1).join(),
        );
        expect(isSubsequence(part, whole)).toBe(left.includes(part.join()) && part.length <= whole.length);
      }),
    );
  });

  it('counts repeats', () => {
    expect(isSubsequence([1, 1], [1, 2, 1])).toBe(true);
    expect(isSubsequence([1, 1], [1, 2])).toBe(false);
    expect(isSubsequence([2, 1], [1, 2])).toBe(false);
  });
});

describe('cutSides', () => {
  it('names the side on which tokens are missing', () => {
    expect(cutSides([2, 3], [1, 2, 3])).toEqual(['left']);
    expect(cutSides([1, 2], [1, 2, 3])).toEqual(['right']);
    expect(cutSides([1, 3], [1, 2, 3])).toEqual([]);
    expect(cutSides([1, 2, 3, 4], [1, 2, 3])).toEqual([]);
  });

  it('cannot tell where nothing is missing, or where both ends are alike', () => {
    expect(cutSides([1, 2], [1, 2])).toEqual(['left', 'right']);
    expect(cutSides([1, 1], [1, 1, 1])).toEqual(['left', 'right']);
  });

  it('agrees with slicing', () => {
    fc.assert(
      fc.property(ids, fc.nat(6), (whole, n) => {
        expect(cutSides(whole.slice(0, n), whole)).toContain('right');
        expect(cutSides(whole.slice(Math.max(0, whole.length - n)), whole)).toContain('left');
      }),
    );
  });
});
