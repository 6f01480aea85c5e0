// Plain text in which one id is trained nowhere, and everything else is.
import { describe, expect, test } from 'vitest';
import type { Origin } from '../../../../src/trace/ledger.ts';
import type { LedgerSketch } from '../../traced.ts';
import { holds, judged, silent } from '../judged.ts';
import { tokenizer } from './rows.ts';

const ID = 'trace/no-id-is-left-out';

/** 1 opens a text, 2 ends one, 3 stands for a picture. */
const numbers = tokenizer({ specialIds: new Set([1, 2, 3]), padTokenId: 2 });

interface Text {
  readonly ids: readonly number[];
  readonly positions?: readonly number[];
  readonly attention?: null;
  readonly origin?: Origin;
}

/** Rows of which these ids are not trained. */
const texts = (
  left: readonly number[],
  rows: readonly Text[],
  more: Partial<LedgerSketch> = {},
): LedgerSketch => ({
  rows: rows.map(({ ids, positions, attention, origin = { kind: 'text' } }, row) => ({
    ids,
    row,
    ...(positions === undefined ? {} : { positions }),
    ...(attention === undefined ? {} : { attention }),
    trained: [undefined, ...ids.slice(1).map((id) => (left.includes(id) ? undefined : 0.1))],
    spans: { origin },
  })),
  tokenizer: numbers,
  ...more,
});
const SHORT: readonly Text[] = [{ ids: [7, 8, 2, 9, 10] }, { ids: [11, 2, 12, 2, 13] }];
const sentencesOf = (sketch: LedgerSketch): string[] =>
  (judged(ID, sketch).notices ?? []).map(({ sentence }) => sentence);

describe('asked about', () => {
  test('the end of a text that is masked with the pad', () => {
    const [said, ...more] = judged(ID, texts([2], SHORT)).notices ?? [];
    expect(said?.sentence).toContain("'n2' (id 2) is left out of the loss at all of its 3 places");
    expect(said?.sentence).toContain('the model does not learn to end one');
    expect(said?.asked).toBe(true);
    expect(more).toEqual([]);
  });

  test('the end of each row, where an attention mask says that it is one', () => {
    expect(
      sentencesOf(texts([2], [{ ids: [7, 8, 2] }, { ids: [9, 12, 2] }, { ids: [10, 11, 2] }])),
    ).toHaveLength(1);
  });

  test('a word whose id is the number that the loss ignores', () => {
    const rows: Text[] = [{ ids: [7, 40, 8, 40, 9] }, { ids: [10, 40, 11] }, { ids: [12, 13] }];
    expect(sentencesOf(texts([40], rows))[0]).toContain('a token like any other');
  });

  test('the same where no tokenizer is known: a notice, since it may be a placeholder', () => {
    const rows: Text[] = [
      { ids: [7, 0, 8, 9], origin: { kind: 'unknown', why: 'no tokenizer' } },
      { ids: [10, 0, 11, 0, 12], origin: { kind: 'unknown', why: 'no tokenizer' } },
    ];
    const [said] = judged(ID, texts([0], rows, { tokenizer: undefined })).notices ?? [];
    expect(said?.sentence).toContain('id 0 is left out');
    expect(said?.asked).toBeUndefined();
  });
});

describe('not asked about', () => {
  test.each<[string, LedgerSketch]>([
    ['everything is trained', texts([], SHORT)],
    ['few places, which chance may bring', texts([2], [{ ids: [7, 2, 8, 9] }, { ids: [10, 11, 2, 12] }])],
    ['several ids: a mask of another kind', texts([2, 9], SHORT)],
    ['what opens each packed text', texts([1], [{ ids: [1, 7, 1, 8, 1, 9, 1, 10] }])],
    ['placeholders of a picture', texts([3], [{ ids: [7, 3, 3, 3, 8, 9, 10] }])],
    ['pads behind a row without a mask', texts([2], [{ ids: [7, 8, 9, 2, 2, 2], attention: null }])],
    [
      'the first token of each packed text, as its positions say',
      texts([40], [{ ids: [40, 7, 40, 8, 40, 9, 40, 10], positions: [0, 1, 0, 1, 0, 1, 0, 1] }]),
    ],
  ])('%s', (_, sketch) => {
    expect(sentencesOf(sketch)).toEqual([]);
    holds(ID, sketch);
  });

  test('an id that is trained at another place', () => {
    const sketch = texts([2], SHORT);
    const rows = [
      ...(sketch.rows ?? []),
      { ...sketch.rows?.[0], ids: [7, 2], row: 2, trained: [undefined, 0.1] },
    ];
    expect(sentencesOf({ ...sketch, rows })).toEqual([]);
  });

  test('rows of which it is known what should be trained', () => {
    silent(
      ID,
      texts(
        [2],
        SHORT.map((row) => ({ ...row, origin: { kind: 'generation', generations: [] } })),
      ),
    );
  });
});
