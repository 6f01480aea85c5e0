import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Processor,
  samplingLabels,
  samplingStep,
} from '../../../src/generators/rollouts/sampling-step.ts';

const ALL: readonly Processor[] = ['temperature', 'top_k', 'top_p', 'min_new_tokens', 'banned_sequences'];

describe('samplingStep', () => {
  it('has no two equal logits in a row, exact in float32, and rows that generate in step', () => {
    fc.assert(
      fc.property(samplingStep(ALL), ({ rows }) => {
        expect(new Set(rows.map(({ generated }) => generated.length)).size).toBe(1);
        for (const { logits } of rows) {
          expect(new Set(logits).size).toBe(logits.length);
          expect(logits.map(Math.fround)).toEqual(logits);
        }
      }),
    );
  });

  it('switches on nothing that is not offered', () => {
    fc.assert(
      fc.property(samplingStep([]), ({ temperature, topK, topP, minNewTokens, banned }) => {
        expect([temperature, topK, topP, minNewTokens, banned]).toEqual([1, 0, 1, 0, []]);
      }),
    );
  });

  it('holds stops back, and just not, often enough', () => {
    const seen = fc.sample(samplingStep(ALL), { seed: 1, numRuns: 400 }).flatMap(samplingLabels);
    for (const label of [
      'stops held back',
      'just enough new tokens',
      'all but the last of a banned sequence',
      'top-k',
      'top-p',
      'several stop ids',
    ])
      expect(seen.filter((each) => each === label).length, label).toBeGreaterThan(40);
  });
});
