import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scoredPairLabels, scoredPairs } from '../../../src/index.ts';

const RUNS = { numRuns: 300, seed: 5 };
/** Whether the lower half of its float32 is empty. */
const isBfloat16 = (number: number): boolean =>
  Math.fround(number) === number && new Uint16Array(new Float32Array([number]).buffer)[0] === 0;

test('scores, margins and what is left of a difference are exact in bfloat16', () => {
  fc.assert(
    fc.property(scoredPairs(), ({ rows }) => {
      for (const { chosen, rejected, margin } of rows)
        for (const number of [chosen, rejected, margin, chosen - rejected, chosen - rejected - margin])
          expect(isBfloat16(number)).toBe(true);
    }),
    RUNS,
  );
});

test('half of the batches have margins, and most pairs that are right and pairs that are wrong', () => {
  const labels = fc.sample(scoredPairs(), RUNS).map(scoredPairLabels);
  const having = (label: string): number => labels.filter((all) => all.includes(label)).length;
  expect(having('a margin')).toBeGreaterThan(RUNS.numRuns / 3);
  expect(having('a margin')).toBeLessThan((2 * RUNS.numRuns) / 3);
  for (const label of ['a pair that is right', 'a pair that is wrong'])
    expect(having(label)).toBeGreaterThan(RUNS.numRuns / 2);
});

test('scores are far apart only where that is asked for', () => {
  const labels = (extremes: boolean): string[] =>
    fc.sample(scoredPairs({ extremes }), RUNS).flatMap(scoredPairLabels);
  expect(labels(false)).not.toContain('an extreme difference');
  expect(labels(true)).toContain('an extreme difference');
});
