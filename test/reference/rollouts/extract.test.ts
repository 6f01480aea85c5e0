import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completionVariants } from '../../../src/reference/index.ts';

const variants = (sampled: number[], pad: number, stops: readonly number[]) =>
  Object.fromEntries(completionVariants(sampled, { pad, stops: new Set(stops) }).map((v) => [v.name, v.ids]));

describe('completionVariants', () => {
  it('cuts behind or before the first stop token, or keeps the width', () => {
    expect(variants([5, 1, 6, 2, 0, 0], 0, [1, 2])).toEqual({
      'stop kept': [5, 1],
      'stop cut': [5],
      'whole width': [5, 1, 6, 2, 0, 0],
      'padding cut': [5, 1, 6, 2],
    });
  });

  it('keeps the stop token when it looks like padding', () => {
    expect(variants([5, 1, 1, 1], 1, [1])).toEqual({
      'stop kept': [5, 1],
      'stop cut': [5],
      'whole width': [5, 1, 1, 1],
      'padding cut': [5, 1],
    });
  });

  it('leaves a row without stop token whole, pad ids included', () => {
    for (const ids of Object.values(variants([5, 0, 6, 0], 0, [1]))) expect(ids).toEqual([5, 0, 6, 0]);
  });

  it('only ever returns a beginning of what was sampled', () => {
    const row = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 8 });
    fc.assert(
      fc.property(row, fc.constantFrom(0, 1), fc.constantFrom([1], [1, 2]), (sampled, pad, stops) => {
        for (const ids of Object.values(variants(sampled, pad, stops))) {
          expect(sampled.slice(0, ids.length)).toEqual(ids);
        }
      }),
    );
  });
});
