import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  logSoftmax,
  SAMPLING_VARIANTS,
  type SamplingSettings,
  type SamplingVariant,
  samplingClearance,
  samplingLogprobs,
} from '../../../src/reference/index.ts';

const OFF: SamplingSettings = { temperature: 1, topK: 0, topP: 1, never: [] };
const USUAL: SamplingVariant = { temperature: 'first', topP: 'after top-k' };
const rows = fc
  .uniqueArray(fc.integer({ min: -60, max: 60 }), { minLength: 2, maxLength: 6 })
  .map((row) => row.map((n) => n / 16));
const kept = (logprobs: readonly number[]): number[] =>
  logprobs.flatMap((value, id) => (value > -Infinity ? [id] : []));
const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** All sets of ids. */
function subsets(size: number): number[][] {
  return Array.from({ length: 2 ** size }, (_, bits) =>
    Array.from({ length: size }, (_, id) => id).filter((id) => (bits >> id) % 2 === 1),
  );
}

describe('samplingLogprobs', () => {
  it('is log_softmax with everything off, in every variant', () => {
    for (const variant of SAMPLING_VARIANTS)
      expect(samplingLogprobs([1, 2, 3], OFF, variant)).toEqual(logSoftmax([1, 2, 3]));
  });

  it('keeps what the tests of transformers say of two rows at top-p 0.8', () => {
    const first = [0.3, 0.1, 0.1, 0.5].map(Math.log);
    const second = [0.15, 0.3, 0.3, 0.25].map(Math.log);
    // A hair less than 0.8, which 0.3 + 0.5 may miss by its last bit.
    const settings = { ...OFF, topP: 0.8 - 1e-9 };
    expect(kept(samplingLogprobs(first, settings, USUAL))).toEqual([0, 3]);
    expect(kept(samplingLogprobs(second, settings, USUAL))).toEqual([1, 2, 3]);
    expect(samplingLogprobs(first, settings, USUAL)[3]).toBeCloseTo(Math.log(0.5 / 0.8), 12);
  });

  it('the nucleus is the smallest set of that mass, found among all sets', () => {
    fc.assert(
      fc.property(rows, fc.constantFrom(0.3, 0.5, 0.7, 0.9), (logits, topP) => {
        const settings = { ...OFF, topP };
        fc.pre(samplingClearance(logits, settings, USUAL) > 1e-9);
        const p = logSoftmax(logits).map(Math.exp);
        const enough = subsets(logits.length).filter((ids) => total(ids.map((id) => p[id] ?? 0)) >= topP);
        const fewest = Math.min(...enough.map(({ length }) => length));
        const [best] = enough
          .filter(({ length }) => length === fewest)
          .sort((a, b) => total(b.map((id) => p[id] ?? 0)) - total(a.map((id) => p[id] ?? 0)));
        expect(kept(samplingLogprobs(logits, settings, USUAL))).toEqual(best);
      }),
    );
  });

  it('top-k is the set of k with the most mass, found among all sets', () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 6 }), (logits, topK) => {
        const size = Math.min(topK, logits.length);
        const sum = (ids: readonly number[]): number => total(ids.map((id) => logits[id] ?? 0));
        const [best] = subsets(logits.length)
          .filter(({ length }) => length === size)
          .sort((a, b) => sum(b) - sum(a));
        expect(kept(samplingLogprobs(logits, { ...OFF, topK }, USUAL))).toEqual(best);
      }),
    );
  });

  it('is a distribution in every variant, without what can never be drawn', () => {
    const settings = fc.record({
      temperature: fc.constantFrom(0.5, 1, 2),
      topK: fc.nat(4),
      topP: fc.constantFrom(0.4, 0.8, 1),
      never: fc.constantFrom([], [0], [1]),
    });
    fc.assert(
      fc.property(rows, settings, fc.constantFrom(...SAMPLING_VARIANTS), (logits, each, variant) => {
        const logprobs = samplingLogprobs(logits, each, variant);
        expect(total(logprobs.map(Math.exp))).toBeCloseTo(1, 12);
        for (const id of each.never) expect(logprobs[id]).toBe(-Infinity);
      }),
    );
  });

  it('the orders differ where they should: the nucleus of a hot distribution, and of the top two alone', () => {
    const logits = [0.5, 0.3, 0.2].map(Math.log);
    const hot = { ...OFF, temperature: 100, topP: 0.6 };
    expect(kept(samplingLogprobs(logits, hot, USUAL))).toEqual([0, 1]);
    expect(
      kept(samplingLogprobs([0.61, 0.2, 0.19].map(Math.log), hot, { ...USUAL, temperature: 'last' })),
    ).toEqual([0]);
    const both = { ...OFF, topK: 2, topP: 0.6 };
    // Of the top two the first has 0.5 / 0.8 = 0.625; of all three it has 0.5.
    expect(kept(samplingLogprobs(logits, both, USUAL))).toEqual([0]);
    expect(kept(samplingLogprobs(logits, both, { ...USUAL, topP: 'before top-k' }))).toEqual([0, 1]);
  });
});

describe('samplingClearance', () => {
  it('is the distance of the mass to p, or of the logits at the k-th place', () => {
    const logits = [0.5, 0.3, 0.2].map(Math.log);
    expect(samplingClearance(logits, { ...OFF, topP: 0.79 }, USUAL)).toBeCloseTo(0.01, 12);
    expect(samplingClearance([3, 2.75, 1], { ...OFF, topK: 1 }, USUAL)).toBe(0.25);
    expect(samplingClearance([1, 1, 0], { ...OFF, topK: 1 }, USUAL)).toBe(0);
    expect(samplingClearance(logits, OFF, USUAL)).toBe(Infinity);
    // Two are held back, so that the third place and the one behind it are empty: top-k decides nothing, top-p does.
    const held = { ...OFF, topK: 3, topP: 0.79, never: [0, 3] };
    expect(samplingClearance([9, Math.log(0.8), Math.log(0.2), 9], held, USUAL)).toBeCloseTo(0.01, 12);
  });
});
