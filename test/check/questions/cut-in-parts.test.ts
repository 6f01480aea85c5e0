// A prompt and an answer that are cut apart are a question; another gap in a row is wrong, also where the parts are declared.
import { expect, test } from 'vitest';
import type { Args, Ok, Semantics } from '../../../src/index.ts';
import { legal } from '../../conformance/legal.ts';
import { judgedBy } from './judged.ts';

const IGNORED = -100;
type Row = readonly number[];
/** What is left of a row that is too long, by its columns: `seam` is where its labels begin. */
type Keep = (columns: Row, at: { readonly most: number; readonly seam: number; readonly row: number }) => Row;

const cutting =
  (keep: Keep) =>
  ({ input_ids: ids, labels, max_length: most }: Args<'truncate'>): Ok<'truncate'> => {
    const kept = ids.map((row, at) => {
      const columns = row.map((_, t) => t);
      const begin = (labels[at] ?? []).findIndex((label) => label !== IGNORED);
      const seam = begin < 0 ? row.length : begin;
      return row.length <= most ? columns : keep(columns, { most, seam, row: at });
    });
    const of = (rows: readonly Row[]): number[][] =>
      rows.map((row, at) => (kept[at] ?? []).map((t) => row[t] ?? 0));
    return { input_ids: of(ids), labels: of(labels) };
  };

/** How many tokens the answer keeps. */
const share = (columns: Row, { most, seam }: { readonly most: number; readonly seam: number }): number =>
  Math.min(columns.length - seam, Math.max(1, Math.floor((most * (columns.length - seam)) / columns.length)));

const rightEnds: Keep = (columns, at) => [
  ...columns.slice(0, at.seam).slice(0, at.most - share(columns, at)),
  ...columns.slice(at.seam).slice(0, share(columns, at)),
];
const leftOfPrompt: Keep = (columns, at) => {
  const answer = share(columns, at);
  const prompt = columns.slice(0, at.seam);
  return [
    ...prompt.slice(Math.max(0, prompt.length - at.most + answer)),
    ...columns.slice(at.seam).slice(0, answer),
  ];
};

async function said(keep: Keep, semantics: Semantics = {}): Promise<unknown> {
  const [result] = await judgedBy(
    ['truncate/keeps-one-end'],
    legal('x', { truncate: cutting(keep) }, { semantics }).trainer,
  );
  return [result?.verdict, result?.failure?.finding?.answers];
}

test.each([
  ['at their right ends', rightEnds],
  ['at the left of the prompt and the right of the answer', leftOfPrompt],
])('cut apart, %s: asked, right where it is declared, and wrong where one end is', async (_, keep) => {
  expect(await said(keep)).toEqual([
    'ask',
    ['"truncation_side": "parts"  (prompt and answer are cut apart)'],
  ]);
  expect(await said(keep, { truncation_side: 'parts' })).toEqual(['pass', undefined]);
  expect(await said(keep, { truncation_side: 'right' })).toEqual(['fail', undefined]);
});

test.each<[string, Keep]>([
  ['every other token is lost', (columns, { most }) => columns.filter((t) => t % 2 === 0).slice(0, most)],
  ['the first token is lost with the end', (columns, { most }) => columns.slice(1, most)],
  [
    'the second token is lost',
    (columns, { most }) => [...columns.slice(0, 1), ...columns.slice(2, most + 1)],
  ],
  [
    'the last token but one is lost',
    (columns, { most }) => [...columns.slice(0, most - 1), ...columns.slice(-1)].slice(-most).toSpliced(0, 1),
  ],
])('%s: wrong, whatever is declared', async (_, keep) => {
  expect(await said(keep, { truncation_side: 'parts' })).toEqual(['fail', undefined]);
  expect(await said(keep, { truncation_side: 'right' })).toEqual(['fail', undefined]);
});

test('one end is right without a question', async () => {
  expect(await said((columns, { most }) => columns.slice(0, most))).toEqual(['pass', undefined]);
  expect(await said((columns, { most }) => columns.slice(-most))).toEqual(['pass', undefined]);
});
