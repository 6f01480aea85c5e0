import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batch, batchLabels, ordinaryIds, rolloutLabels, rollouts } from '../../../src/index.ts';

const SAMPLES = 300;
const sample = <T>(arbitrary: fc.Arbitrary<T>): T[] => fc.sample(arbitrary, { seed: 1, numRuns: SAMPLES });
const share = (labels: readonly (readonly string[])[], label: string): number =>
  labels.filter((found) => found.includes(label)).length / labels.length;

describe('batches', () => {
  it('often hold several samples of one prompt, as real ones do', () => {
    const labels = sample(batch({ tokens: undefined })).map(batchLabels);
    expect(share(labels, 'repeated prompt')).toBeGreaterThan(0.25);
    expect(share(labels, 'unequal prompts')).toBeGreaterThan(0.4);
  });

  it('repeat conversations with other completions', () => {
    const drawn = sample(rollouts(undefined));
    expect(share(drawn.map(rolloutLabels), 'repeated prompt')).toBeGreaterThan(0.25);
    const [first] = drawn.filter(
      ({ rows: [left, right] }) =>
        left?.messages === right?.messages && `${left?.sampled}` !== `${right?.sampled}`,
    );
    expect(first).toBeDefined();
  });
});

describe('ordinaryIds', () => {
  it('leaves out every special id', () => {
    const tokens = { vocab_size: 8, pad_token_id: 0, eos_token_ids: [2, 3], bos_token_id: 1 };
    expect(ordinaryIds(tokens, new Set([7]))).toEqual([4, 5, 6]);
  });
});
