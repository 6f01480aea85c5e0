import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pairBatch, pairBatchLabels, pairLabels, pairNumbers } from '../../../src/generators/rows/pairs.ts';

describe('pairBatch', () => {
  it('has as many prompts as completions, none of them empty', () => {
    fc.assert(
      fc.property(pairBatch(undefined), ({ prompts, chosen, rejected }) => {
        expect([chosen.length, rejected.length]).toEqual([prompts.length, prompts.length]);
        for (const row of [...prompts, ...chosen, ...rejected]) expect(row.length).toBeGreaterThan(0);
      }),
    );
  });

  it('is where the bugs live often enough', () => {
    const seen = fc.sample(pairBatch(undefined), { seed: 1, numRuns: 400 }).flatMap(pairBatchLabels);
    for (const label of [
      'pad is a stop token',
      'stop inside a prompt',
      'halves of unequal length',
      'one token',
      'one half begins the other',
    ])
      expect(seen.filter((each) => each === label).length, label).toBeGreaterThan(100);
  });

  it('keeps to the ids of a trainer that is fixed to them', () => {
    const tokens = { vocab_size: 12, pad_token_id: 3, eos_token_ids: [3, 4] };
    fc.assert(
      fc.property(pairBatch(tokens), ({ prompts, chosen, rejected, pad, stops }) => {
        expect([pad, stops]).toEqual([3, [3, 4]]);
        for (const id of [...prompts, ...chosen, ...rejected].flat()) expect(id).toBeLessThan(12);
      }),
    );
  });
});

describe('pairNumbers', () => {
  it('are log-probabilities of at most -1/64, in steps of 1/64', () => {
    fc.assert(
      fc.property(pairNumbers({ extremes: true }), ({ rows }) => {
        for (const { logprob, ref } of rows.flatMap(({ chosen, rejected }) => [...chosen, ...rejected])) {
          expect(Math.max(logprob, ref)).toBeLessThanOrEqual(-1 / 64);
          expect([logprob * 64, ref * 64].every(Number.isInteger)).toBe(true);
        }
      }),
    );
  });

  it('are extreme only when asked', () => {
    const labels = (extremes: boolean): string[] =>
      fc.sample(pairNumbers({ extremes }), { seed: 1, numRuns: 200 }).flatMap(pairLabels);
    expect(labels(false)).not.toContain('an extreme margin');
    expect(labels(true).filter((label) => label === 'an extreme margin').length).toBeGreaterThan(50);
  });
});
