// Ids that are trained, and that the tokenizer has no token for.
import { describe, expect, test } from 'vitest';
import type { LedgerSketch, TrainedRowSketch } from '../../traced.ts';
import { holds, judged, silent } from '../judged.ts';
import { tokenizer } from './rows.ts';

const ID = 'trace/trained-ids-are-tokens';

/** Fifty tokens, but for a hole at 40. */
const numbers = tokenizer({
  vocabSize: 49,
  token: (id) => (id < 50 && id !== 40 ? `n${id}` : undefined),
});
const of = (rows: readonly TrainedRowSketch[], more: Partial<LedgerSketch> = {}): LedgerSketch => ({
  rows: rows.map((row, at) => ({ row: at, ...row })),
  tokenizer: numbers,
  ...more,
});
const sentencesOf = (sketch: LedgerSketch): string[] =>
  (judged(ID, sketch).notices ?? []).map(({ sentence }) => sentence);

describe('noticed', () => {
  test.each<[string, readonly TrainedRowSketch[], string]>([
    ['an id behind the last token', [{ ids: [5, 6, 60, 2] }], '1 row trains ids'],
    ['an id in a hole', [{ ids: [5, 40, 2] }, { ids: [5, 7, 2] }], ': 40.'],
    ['ids in several rows', [{ ids: [5, 50, 51] }, { ids: [5, 52, 53, 54] }], '50, 51, 52, 53 and 1 more'],
    [
      'a label that does not stand in the row',
      [{ ids: [5, 6, 2], at: { 1: { weight: 0.5, target: 77 } } }],
      ': 77.',
    ],
  ])('%s', (_, rows, words) => {
    const [said, ...more] = sentencesOf(of(rows));
    expect(said).toContain('the tokenizer (numbers, 49 tokens) does not have');
    expect(said).toContain(words);
    expect(more).toEqual([]);
  });
});

describe('not noticed', () => {
  test.each<[string, readonly TrainedRowSketch[]]>([
    ['tokens', [{ ids: [5, 6, 2] }, { ids: [49, 48] }]],
    [
      'an id that is read and not trained, such as a picture',
      [{ ids: [60, 6, 2] }, { ids: [5, 60, 7], at: { 1: null } }],
    ],
    ['one whose weight is 0', [{ ids: [5, 60, 7], at: { 1: { weight: 0 } } }]],
  ])('%s', (_, rows) => {
    expect(sentencesOf(of(rows))).toEqual([]);
    holds(ID, of(rows));
  });

  test('anything, without a tokenizer', () => {
    silent(ID, of([{ ids: [5, 60] }], { tokenizer: undefined }));
  });
});
