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

  it('begin with BOS where it is a stop token, as GPT-2 has it', () => {
    const begins = sample(batch({ tokens: undefined })).map(batchLabels);
    expect(share(begins, 'prompts begin with a stop')).toBeGreaterThan(0.2);
    const tokens = { vocab_size: 32, pad_token_id: 9, eos_token_ids: [9], bos_token_id: 9 };
    for (const { prompts } of sample(batch({ tokens })))
      for (const prompt of prompts) {
        expect(prompt[0]).toBe(9);
        expect(prompt.length).toBeGreaterThan(1);
      }
    const apart = sample(batch({ tokens: { ...tokens, bos_token_id: 1 } }));
    expect(apart.flatMap(({ prompts }) => prompts).some(([first]) => first === 9)).toBe(true);
    expect(apart.flatMap(({ prompts }) => prompts).some(([first]) => first !== 9)).toBe(true);
  });

  it('repeat conversations with other completions', () => {
    const drawn = sample(rollouts(undefined));
    expect(
      share(
        drawn.map((each) => rolloutLabels(each)),
        'repeated prompt',
      ),
    ).toBeGreaterThan(0.25);
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
