import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { layGaps } from '../../../src/check/rows/gaps.ts';
import { gaeCase, oneTokenCase } from '../../../src/generators/advantages/critic.ts';
import {
  gapLabels,
  gapped,
  inSteps,
  trainedTokens,
  withoutGaps,
} from '../../../src/generators/losses/gaps.ts';

const drawn = (gaps: boolean) => gapped({ value: inSteps(-1, 1, 4) }, { score: inSteps(0, 1, 2) }, { gaps });

describe('gapped', () => {
  it('has the joint space: gaps, masked tails, masked rows, unequal lengths, as many rows as columns', () => {
    const seen = new Map<string, number>();
    const sample = fc.sample(drawn(true), { numRuns: 500, seed: 1 });
    for (const each of sample)
      for (const label of gapLabels(each)) seen.set(label, (seen.get(label) ?? 0) + 1);
    for (const label of ['gap', 'ends in masked tokens', 'fully masked row', 'unequal completions'])
      expect(seen.get(label), label).toBeGreaterThan(100);
    expect(seen.get('as many rows as columns')).toBeGreaterThan(20);
  });

  it('has none of them inside a row where none are asked for, and something to train always', () => {
    fc.assert(
      fc.property(drawn(false), (each) => {
        expect(each.rows.every(({ tokens }) => tokens.every(({ trained }) => trained))).toBe(true);
        expect(trainedTokens(each)).toBeGreaterThan(0);
      }),
    );
  });

  it('shrinks to one token, of a row that may have empty ones beside it', () => {
    const failed = fc.check(
      fc.property(drawn(true), (each) => trainedTokens(each) === 0),
      { seed: 1 },
    );
    const rows = failed.counterexample?.[0].rows ?? [];
    expect(rows.map(({ prompt, score }) => [prompt, score])).toEqual(rows.map(() => [1, 0]));
    expect(rows.flatMap(({ tokens }) => tokens)).toEqual([{ trained: true, value: 0 }]);
  });
});

describe('withoutGaps', () => {
  it('keeps the trained tokens, in order, and everything else of the case', () => {
    fc.assert(
      fc.property(gaeCase({ gaps: true }), (each) => {
        const kept = withoutGaps(each);
        expect(kept.rows.flatMap(({ tokens }) => tokens)).toEqual(
          each.rows.flatMap(({ tokens }) => tokens.filter(({ trained }) => trained)),
        );
        expect([kept.gamma, kept.lam]).toEqual([each.gamma, each.lam]);
      }),
    );
  });
});

describe('oneTokenCase', () => {
  it('trains one token', () => {
    fc.assert(
      fc.property(oneTokenCase(), (each) => {
        expect(trainedTokens(each)).toBe(1);
      }),
    );
  });
});

describe('layGaps', () => {
  const laid = layGaps<'value'>({
    rows: [
      { prompt: 2, tokens: [{ trained: true, value: 1 }] },
      {
        prompt: 1,
        tokens: [
          { trained: true, value: 2 },
          { trained: false, value: 3 },
          { trained: true, value: 4 },
        ],
      },
    ],
  });

  it('puts completions at one column, and numbers under the mask stay', () => {
    expect(laid.prompt_width).toBe(2);
    expect(laid.completion_mask).toEqual([
      [0, 0, 1, 0, 0],
      [0, 0, 1, 0, 1],
    ]);
    expect(laid.track('value')[1]).toEqual([0, 0, 2, 3, 4]);
    expect(laid.last).toEqual([2, 4]);
    expect(laid.roles[1]).toEqual(['padding', 'prompt', 'completion', 'tool', 'completion']);
  });

  it('spares the slot behind a row when it writes on the padding', () => {
    expect(laid.track('value', { behind: 7 })[0]).toEqual([0, 0, 1, 0, 7]);
  });
});
