// The mask carpet: what is drawn of a token, what a row says of itself, and that a page of any length stays one.
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { histogram } from '../../../../src/report/html/rows/histogram.ts';
import type { Packed } from '../../../../src/report/html/rows/kept.ts';
import type { Carpet } from '../../../../src/report/html/rows/section.ts';
import { carpet } from '../../../../src/report/html/trace/carpet.ts';
import { framesOf, levelOf, looksOf } from '../../../../src/report/html/trace/weights.ts';
import { viewCarpet } from '../../../../src/report/html/view/carpet.ts';
import type { ShownRow } from '../../../../src/report/trace/rows.ts';
import type { LedgerRow } from '../../../../src/trace/ledger.ts';
import type { ViewedRow } from '../../../../src/view/scan.ts';
import { ledgerOf, type TrainedRowSketch } from '../../../trace/traced.ts';
import { HOSTILE } from '../page/hostile.ts';

const OPTIONS = { tokenizer: undefined, several: false, scale: 1, anchorOf: () => undefined };

function rowOf(sketch: TrainedRowSketch): LedgerRow {
  const [row] = ledgerOf({ rows: [sketch] }).rows;
  if (row === undefined) throw new Error('no row');
  return row;
}

/** Row `at` of a data set: two tokens that are not trained and two that are; every hundredth is flagged. */
function viewed(at: number): ViewedRow {
  const fault = { id: 'no-stop', sentence: 'No stop.', columns: [2] } as const;
  return {
    number: at,
    form: 'messages',
    texts: ['a', 'b', 'c', 'd'],
    faults: at % 100 === 0 ? [fault] : [],
    row: {
      ids: [1, 2, 3, 4],
      trained: [false, false, true, true],
      roles: ['prompt', 'prompt', 'completion', 'completion'],
      turns: [],
      answers: [],
      said: [],
      straddles: [],
      real: { from: 0, to: 4 },
      lost: 0,
    },
  };
}

const markupOf = (drawn: Carpet | undefined): string =>
  `${drawn?.section.markup ?? ''}${drawn?.data.markup ?? ''}`;

function keptIn(markup: string): Packed {
  const [, text = ''] = /class="kept">([^<]*)</.exec(markup) ?? [];
  return JSON.parse(gunzipSync(Buffer.from(text, 'base64')).toString('utf8'));
}

const shown = (row: LedgerRow, marks: readonly number[] = []): ShownRow => ({ row, marks, first: true });

describe('a token', () => {
  const row = rowOf({
    ids: [5, 6, 7, 8, 9, 2],
    left: 1,
    right: 2,
    prompt: 2,
    at: { 3: 1, 4: -0.04, 5: { weight: undefined }, 6: 0, 9: { target: 4, weight: 0.5 } },
  });

  test('is drawn by its weight: up, down, none, 0, not known; padding is not, unless it is trained', () => {
    expect(looksOf(row, 1).map(({ kind, from, to }) => `${kind} ${from}-${to}`)).toEqual([
      'u 1-3',
      'p5 3-4',
      'n1 4-5',
      'q 5-6',
      'z 6-7',
      'p4 9-10',
    ]);
    expect([levelOf(0, 1), levelOf(1e-9, 1), levelOf(1, 1), levelOf(Number.NaN, 1)]).toEqual([0, 1, 5, 5]);
  });

  test('is framed where it is wrong, and otherwise where it is expected and has no gradient', () => {
    const missed = rowOf({ ids: [5, 6, 7, 2], at: { 2: null } });
    expect(framesOf(shown(missed))).toEqual([{ kind: 'miss', from: 2, to: 3 }]);
    expect(framesOf(shown(missed, [2, 3]))).toEqual([{ kind: 'wrong', from: 2, to: 4 }]);
    // Of a row without any gradient that is said elsewhere: all of it would be framed.
    expect(framesOf(shown(rowOf({ ids: [5, 6, 2], at: { 1: null, 2: null } })))).toEqual([]);
  });

  test('is told by its name, its weight, another target, and what should be', () => {
    const { names, phrases, rows } = keptIn(markupOf(carpet([shown(row)], OPTIONS)));
    const [kept] = rows;
    expect(kept?.tokens.split(' ').map((place) => names[Number(place)])).toEqual(
      row.ids.map((id) => `t${id}`),
    );
    const told = (kept?.told ?? '').split(' ').map(Number);
    const said = Array.from({ length: told.length / 2 }, (_, at) => [
      told[2 * at],
      phrases[told[2 * at + 1] ?? -1],
    ]);
    expect(said).toEqual([
      [3, 'not trained · should not be trained'],
      [4, 'target: itself · weight 1 · should be trained'],
      [5, 'target: itself · weight -0.04 · should be trained'],
      [6, 'target: itself · weight not known · should be trained'],
      [7, 'target: itself · weight 0 · should be trained'],
      [9, 'not trained · should not be trained'],
      [10, 'target: t4 · weight 0.5 · should not be trained'],
    ]);
    expect(kept?.fields).toMatchObject({ is: ['right', 'trained'], step: [0], tokens: [6] });
  });
});

describe('the carpet', () => {
  test('is nothing without a row', () => {
    expect(carpet([], OPTIONS)).toBeUndefined();
  });

  test('names steps, micro-batches and ranks, and leads to the rows that are shown', () => {
    const rows = [0, 1].flatMap((step) =>
      [0, 1].flatMap((forward) =>
        [0, 1].map((row) => ({ ids: [5, 6, 2], step, forward: 2 * step + forward, row })),
      ),
    );
    const ledger = ledgerOf({ rows });
    const markup = markupOf(
      carpet(
        ledger.rows.map((row) => shown(row)),
        { ...OPTIONS, anchorOf: ({ row }) => (row.row === 0 ? 'there' : undefined) },
      ),
    );
    expect(markup.match(/step \d</g)).toEqual(['step 0<', 'step 1<']);
    expect(markup.match(/<a href="#there"/g)).toHaveLength(4);
    expect(markup).toContain('<title>step 0, forward pass 0, row 0: 3 tokens, 2 trained</title>');
    expect(markup).not.toContain('more row');
  });

  test('leaves rows out that it has no room for, and says so; one row of any length is drawn', () => {
    const many = ledgerOf({ rows: Array.from({ length: 10_001 }, () => ({ ids: [5, 6, 2] })) }).rows;
    const markup = markupOf(
      carpet(
        many.map((row) => shown(row)),
        OPTIONS,
      ),
    );
    expect(markup).toContain('1 more row of this run has no room');
    expect(keptIn(markup).rows).toHaveLength(10_000);
    const long = rowOf({ ids: Array.from({ length: 120_000 }, (_, at) => at % 50) });
    expect(markupOf(carpet([shown(long)], OPTIONS))).toContain('data-cell="1"');
  });

  test.each([1_000, 10_000])('of %i rows is a few hundred elements, and a line for each row', (count) => {
    const kept = Array.from({ length: count }, (_, at) => viewed(at));
    const markup = markupOf(viewCarpet(kept, count, () => false));
    expect(markup.match(/<(?!\/)/g)?.length).toBeLessThan(3_000);
    // A row is a span that is not trained and one that is; every hundredth is flagged.
    expect(markup.match(/M\d[^M]*/g)?.length).toBeGreaterThan(2 * count);
    expect(markup.length).toBeLessThan(80 * count);
    const packed = keptIn(markup);
    expect(packed.rows[7]).toMatchObject({ name: 'row 7', anchor: 'row-7', flagged: false, marks: '' });
    expect(packed.rows[100]).toMatchObject({ flagged: true, marks: '2', said: [['✗ no-stop', 'No stop.']] });
    expect(packed.rows.map(({ fields }) => fields.flag?.length).filter(Boolean)).toHaveLength(count / 100);
  });

  test('of a data set stands in the order of the file, and marks each flagged row', () => {
    const kept = [viewed(100), viewed(3), viewed(200)];
    const markup = markupOf(viewCarpet(kept, 900, ({ number }) => number === 3));
    expect(keptIn(markup).rows.map(({ name }) => name)).toEqual(['row 3', 'row 100', 'row 200']);
    expect(markup).toContain('3 rows of 900');
    expect(markup.match(/<a href="#row-3"/g)).toHaveLength(1);
    expect(
      /class="flag" d="([^"]*)"\/><\/svg><svg class="cells"/.exec(markup)?.[1]?.match(/M/g),
    ).toHaveLength(2);
    expect(viewCarpet([viewed(1)], 1, () => false)).toBeUndefined();
  });

  test('does nothing with the names of tokens', () => {
    const tokenizer = {
      token: (id: number) => HOSTILE[id] ?? '',
      specialIds: new Set(HOSTILE.keys()),
    } as never;
    const row = rowOf({ ids: HOSTILE.map((_, id) => id) });
    const markup = markupOf(carpet([shown(row)], { ...OPTIONS, tokenizer }));
    const { names } = keptIn(markup);
    expect(names).toHaveLength(HOSTILE.length);
    for (const name of names) expect(name).not.toContain('\n');
    expect(markup.match(/<script/g)).toHaveLength(1);
    expect(markup).not.toContain('<img');
  });
});

describe('a histogram', () => {
  test('counts every row once, within the ends that it names', () => {
    const { markup = '' } = histogram({ title: 'Tokens', values: [3, 4, 4, 100] }) ?? {};
    const counted = [...markup.matchAll(/<title>[^<]*: (\d+) rows?</g)].map(([, count]) => Number(count));
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(4);
    expect(markup).toContain('>3 tokens</text>');
    expect(markup).toContain('>100 tokens</text>');
  });

  test('of shares goes from nothing to all', () => {
    const { markup = '' } = histogram({ title: 'Share', values: [0, 0.05, 1], shares: true }) ?? {};
    expect(markup).toContain('<title>0 to 10 %: 2 rows</title>');
    expect(markup).toContain('<title>90 to 100 %: 1 row</title>');
    expect(histogram({ title: 'Share', values: [] })).toBeUndefined();
  });
});
