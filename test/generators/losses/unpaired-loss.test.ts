import fc from 'fast-check';
import { expect, test } from 'vitest';
import { labelledRowLabels, labelledRows } from '../../../src/index.ts';

const RUNS = { numRuns: 300, seed: 5 };

test('log-probabilities are below 0, and a completion has a token', () => {
  fc.assert(
    fc.property(labelledRows({ extremes: true }), ({ rows }) => {
      for (const { tokens, kl } of rows) {
        expect(Math.min(tokens.length, kl.length)).toBeGreaterThan(0);
        for (const { logprob, ref } of [...tokens, ...kl]) expect(Math.max(logprob, ref)).toBeLessThan(0);
      }
    }),
    RUNS,
  );
});

test('batches have one kind and both, and KLs on either side of 0', () => {
  const labels = fc.sample(labelledRows(), RUNS).map(labelledRowLabels);
  const having = (label: string): number => labels.filter((all) => all.includes(label)).length;
  for (const label of ['both kinds of rows', 'one kind of rows', 'a KL above 0', 'a KL below 0'])
    expect(having(label)).toBeGreaterThan(RUNS.numRuns / 4);
});

test('log-ratios are extreme only where that is asked for', () => {
  const labels = (extremes: boolean): string[] =>
    fc.sample(labelledRows({ extremes }), RUNS).flatMap(labelledRowLabels);
  expect(labels(false)).not.toContain('an extreme log-ratio');
  expect(labels(true)).toContain('an extreme log-ratio');
});
