import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resumeArgs, resumed, resumedLabels } from '../../../src/generators/rollouts/resumed.ts';

describe('resumed', () => {
  it('has rows that just began, of several policies, that stop in time and that are cut', () => {
    const seen = new Map<string, number>();
    for (const each of fc.sample(resumed(undefined, false), { numRuns: 500, seed: 1 }))
      for (const label of resumedLabels(each)) seen.set(label, (seen.get(label) ?? 0) + 1);
    for (const label of [
      'several rows',
      'nothing so far',
      'several policies so far',
      'more than is left',
      'stops in time',
    ])
      expect(seen.get(label), label).toBeGreaterThan(50);
  });

  it('has no finished row, and the oldest policies first, none of them the one that goes on', () => {
    fc.assert(
      fc.property(resumed(undefined, true), ({ rows, version, limit, stops }) => {
        for (const { partial, sampled } of rows) {
          expect(partial.length).toBeLessThan(limit);
          expect(partial.some(({ id }) => stops.includes(id))).toBe(false);
          const versions = partial.map((token) => token.version);
          expect(versions).toEqual(versions.toSorted((a, b) => a - b));
          expect(versions.every((each) => each < version)).toBe(true);
          expect(partial.some((token) => token.logprob === token.rescored)).toBe(false);
          expect(sampled.slice(0, -1).some(({ id }) => stops.includes(id))).toBe(false);
        }
      }),
    );
  });

  it('is laid out row by row, each list in step with its ids', () => {
    fc.assert(
      fc.property(resumed(undefined, false), (drawn) => {
        const args = resumeArgs(drawn);
        const lengths = (rows: readonly (readonly number[])[]) => rows.map((row) => row.length);
        expect(lengths(args.partial_logprobs)).toEqual(lengths(args.partial_ids));
        expect(lengths(args.partial_versions)).toEqual(lengths(args.partial_ids));
        expect(lengths(args.rescored_logprobs)).toEqual(lengths(args.partial_ids));
        expect(lengths(args.sampled_logprobs)).toEqual(lengths(args.sampled_ids));
      }),
    );
  });
});
