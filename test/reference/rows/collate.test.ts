import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockBatch, flushLeftBatch, padRows, positionIds } from '../../../src/reference/index.ts';
import { ragged } from '../cases.ts';

describe('padRows', () => {
  it('pads on the asked side and marks what is real by position, pad equal to a token or not', () => {
    expect(padRows([[7, 0], [0]], { side: 'left', pad: 0 })).toEqual({
      ids: [
        [7, 0],
        [0, 0],
      ],
      attention_mask: [
        [1, 1],
        [0, 1],
      ],
    });
    expect(padRows([[7, 0], [0]], { side: 'right', pad: 0, width: 3 })).toEqual({
      ids: [
        [7, 0, 0],
        [0, 0, 0],
      ],
      attention_mask: [
        [1, 1, 0],
        [1, 0, 0],
      ],
    });
  });

  it('on the left is the mirror image of the right', () => {
    fc.assert(
      fc.property(ragged, (rows) => {
        const mirrored = padRows(
          rows.map((row) => row.toReversed()),
          { side: 'right', pad: 9 },
        );
        const left = padRows(rows, { side: 'left', pad: 9 });
        expect(left.ids).toEqual(mirrored.ids.map((row) => row.reverse()));
        expect(left.attention_mask).toEqual(mirrored.attention_mask.map((row) => row.reverse()));
      }),
    );
  });

  it('gives the rows back where the mask is 1', () => {
    fc.assert(
      fc.property(ragged, fc.constantFrom('left' as const, 'right' as const), (rows, side) => {
        const { ids, attention_mask } = padRows(rows, { side, pad: 0, width: 9 });
        expect(ids.map((row, b) => row.filter((_, t) => attention_mask[b]?.[t] === 1))).toEqual(rows);
      }),
    );
  });

  it('refuses to truncate', () => {
    expect(() => padRows([[1, 2, 3]], { side: 'left', pad: 0, width: 2 })).toThrow(
      'width 2 is less than the longest row, 3 tokens',
    );
  });
});

describe('blockBatch', () => {
  it('begins every completion at the same column', () => {
    expect(blockBatch([[1, 2], [3]], [[4], [5, 6]], 0, { extraPrompt: 1, extraCompletion: 1 })).toEqual({
      sequences: [
        [0, 1, 2, 4, 0, 0],
        [0, 0, 3, 5, 6, 0],
      ],
      attention_mask: [
        [0, 1, 1, 1, 0, 0],
        [0, 0, 1, 1, 1, 0],
      ],
      promptWidth: 3,
    });
  });

  it('has a column for each block even when all prompts and completions are empty', () => {
    expect(blockBatch([[]], [[]], 5)).toEqual({
      sequences: [[5, 5]],
      attention_mask: [[0, 0]],
      promptWidth: 1,
    });
  });

  it('refuses prompts without completions', () => {
    expect(() => blockBatch([[1], [2]], [[3]], 0)).toThrow('2 prompts, but 1 completions');
  });
});

it('flushLeftBatch lets each completion follow its own prompt', () => {
  expect(flushLeftBatch([[1, 2], [3]], [[4], [5, 6, 0]], 0)).toEqual({
    sequences: [
      [1, 2, 4, 0],
      [3, 5, 6, 0],
    ],
    attention_mask: [
      [1, 1, 1, 0],
      [1, 1, 1, 1],
    ],
    starts: [2, 1],
  });
});

describe('positionIds', () => {
  it('count real tokens from 0 and stand still on padding', () => {
    expect(
      positionIds([
        [0, 0, 1, 1, 0],
        [1, 1, 1, 0, 1],
      ]),
    ).toEqual([
      [0, 0, 0, 1, 1],
      [0, 1, 2, 2, 3],
    ]);
  });

  it('of real tokens do not move with the padding', () => {
    fc.assert(
      fc.property(ragged, fc.constantFrom('left' as const, 'right' as const), (rows, side) => {
        const { attention_mask } = padRows(rows, { side, pad: 0, width: 8 });
        const positions = positionIds(attention_mask).map((row, b) =>
          row.filter((_, t) => attention_mask[b]?.[t] === 1),
        );
        expect(positions).toEqual(rows.map((row) => row.map((_, i) => i)));
      }),
    );
  });
});
