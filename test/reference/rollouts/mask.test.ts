import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockBatch, expectedMask, locateRow, rolesOf } from '../../../src/reference/index.ts';

const PAD = 0;
const ids = (minLength: number) => fc.array(fc.integer({ min: 0, max: 3 }), { minLength, maxLength: 4 });
const padding = fc.integer({ min: 0, max: 3 });
const stops = new Set([2, 3]);

describe('locateRow', () => {
  it('finds prompt and completion under any padding when the attention mask tells them apart', () => {
    fc.assert(
      fc.property(ids(1), ids(0), padding, padding, padding, (prompt, completion, left, gap, right) => {
        const fill = (n: number) => new Array<number>(n).fill(PAD);
        const row = [...fill(left), ...prompt, ...fill(gap), ...completion, ...fill(right)];
        const zeros = (n: number) => new Array<number>(n).fill(0);
        const attention = [
          ...zeros(left),
          ...prompt.map(() => 1),
          ...zeros(gap),
          ...completion.map(() => 1),
          ...zeros(right),
        ];
        const plan = locateRow(row, attention, prompt, completion, PAD);
        expect(plan?.promptStart).toBe(left);
        // An empty completion stands anywhere; the plainest place is right behind the prompt.
        const expected = left + prompt.length + (completion.length === 0 ? 0 : gap);
        expect(plan?.completionStart).toBe(expected);
        expect(plan?.completionLength).toBe(completion.length);
      }),
    );
  });

  it('looks for rows of one token near the ends of a very long row, not at every pair of places', () => {
    const row = new Array<number>(300_000).fill(PAD);
    expect(locateRow(row, undefined, [PAD], [], PAD)?.promptStart).toBe(row.length - 1);
    expect(locateRow(row, undefined, [PAD], [PAD], PAD)?.completionStart).toBe(row.length - 1);
  });

  it('prefers the smallest gap, then the padding on the left, when nothing else decides', () => {
    expect(locateRow([1, 0, 0], undefined, [1], [0], PAD)?.completionStart).toBe(1);
    expect(locateRow([0, 0, 0], undefined, [0], [0], PAD)?.promptStart).toBe(1);
    expect(locateRow([1, 0, 0], [1, 0, 1], [1], [0], PAD)?.completionStart).toBe(2);
    expect(locateRow([0, 0, 0], [1, 1, 0], [0], [0], PAD)?.promptStart).toBe(0);
  });

  it('says where several columns fit and no attention mask tells which', () => {
    expect(locateRow([0, 2, 2], undefined, [0], [2], 2)?.ambiguous).toBe(true);
    expect(locateRow([0, 0, 6], undefined, [0, 0], [6], 2)?.ambiguous).toBeUndefined();
    expect(locateRow([1, 6, 2, 2], undefined, [1], [6, 2], 2)?.ambiguous).toBeUndefined();
    expect(locateRow([1, 2, 2], undefined, [1], [], 2)?.ambiguous).toBeUndefined();
    expect(locateRow([0, 2, 2], [1, 0, 1], [0], [2], 2)).toMatchObject({ completionStart: 2 });
    expect(locateRow([0, 2, 2], [1, 0, 1], [0], [2], 2)?.ambiguous).toBeUndefined();
  });

  it('falls back to the plainest arrangement when the attention mask fits none', () => {
    expect(locateRow([0, 1, 2, 0], [1, 1, 1, 1], [1], [2], PAD)?.completionStart).toBe(2);
    expect(locateRow([0, 1, 2, 0], [1, 1], [1], [2], PAD)?.completionStart).toBe(2);
  });

  it('finds nothing when a token is lost, added, changed or out of order', () => {
    expect(locateRow([1, 2], undefined, [1], [2, 3], PAD)).toBeUndefined();
    expect(locateRow([1, 2, 3], undefined, [1], [2], PAD)).toBeUndefined();
    expect(locateRow([1, 1, 2], undefined, [1], [2], PAD)).toBeUndefined();
    expect(locateRow([2, 1], undefined, [1], [2], PAD)).toBeUndefined();
    expect(locateRow([1, 0, 2], undefined, [1, 2], [], PAD)).toBeUndefined();
    expect(locateRow([1, 9, 2], undefined, [1], [2], PAD)).toBeUndefined();
    expect(locateRow([], undefined, [], [2], PAD)).toBeUndefined();
  });

  it('names the column of the first stop token when given the stop ids', () => {
    expect(locateRow([0, 2, 1, 3, 2, 0], undefined, [2], [1, 3, 2], PAD, stops)?.stop).toBe(3);
    expect(locateRow([2, 1], undefined, [2], [1], PAD, stops)?.stop).toBeUndefined();
  });
});

describe('rolesOf', () => {
  it('names every column, a gap included', () => {
    const row = [0, 3, 1, 0, 1, 2, 1, 0];
    const completion = [1, 2, 1];
    const plan = locateRow(row, [0, 1, 1, 0, 1, 1, 1, 0], [3, 1], completion, PAD);
    expect(plan && rolesOf(plan, row.length, [2, 3], completion)).toEqual([
      'padding',
      'prompt',
      'prompt',
      'padding',
      'completion',
      'stop',
      'after stop',
      'padding',
    ]);
  });

  it('takes the prompt up to the completion when the plan does not say where it ends', () => {
    const plan = { promptStart: 1, completionStart: 3, completionLength: 1, stop: undefined };
    expect(rolesOf(plan, 4, [9], [1])).toEqual(['padding', 'prompt', 'prompt', 'completion']);
  });
});

describe('expectedMask', () => {
  const mask = (completion: number[], stopInMask: boolean) => {
    const { sequences, attention_mask } = blockBatch([[2, 1]], [completion], PAD, { extraPrompt: 1 });
    const row = sequences[0] ?? [];
    const plan = locateRow(row, attention_mask[0], [2, 1], completion, PAD);
    return plan && expectedMask(plan, row.length, { stopInMask, stops, completion });
  };

  it('is 1 from the first completion token to the first stop token, stops in the prompt notwithstanding', () => {
    expect(mask([1, 3, 1, 2], true)).toEqual([0, 0, 0, 1, 1, 0, 0]);
    expect(mask([1, 3, 1, 2], false)).toEqual([0, 0, 0, 1, 0, 0, 0]);
  });

  it('is 1 throughout a completion that never stopped', () => {
    expect(mask([1, 0, 1], true)).toEqual([0, 0, 0, 1, 1, 1]);
    expect(mask([1, 0, 1], false)).toEqual([0, 0, 0, 1, 1, 1]);
  });

  it('is 0 throughout a row without completion', () => {
    expect(mask([], true)).toEqual([0, 0, 0, 0]);
  });
});
