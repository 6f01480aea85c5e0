// The mask carpet: what is drawn of a token, what a row says of itself, and that a page of any length stays one.
import { describe, expect, test } from 'vitest';
import { carpet } from '../../../../src/report/html/trace/carpet.ts';
import { framesOf, levelOf, looksOf } from '../../../../src/report/html/trace/cells.ts';
import { histogram } from '../../../../src/report/html/trace/histogram.ts';
import { namesOf, spelled } from '../../../../src/report/html/trace/spelled.ts';
import type { ShownRow } from '../../../../src/report/trace/rows.ts';
import type { LedgerRow } from '../../../../src/trace/ledger.ts';
import { ledgerOf, type TrainedRowSketch } from '../../../trace/traced.ts';
import { HOSTILE } from '../page/hostile.ts';

const OPTIONS = { tokenizer: undefined, several: false, scale: 1, anchorOf: () => undefined };

function rowOf(sketch: TrainedRowSketch): LedgerRow {
  const [row] = ledgerOf({ rows: [sketch] }).rows;
  if (row === undefined) throw new Error('no row');
  return row;
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
    const names = namesOf([row], undefined);
    const { tokens, weights, targets, expected } = spelled(row, names);
    expect(tokens.split(' ').map((place) => names.all[Number(place)])).toEqual(row.ids.map((id) => `t${id}`));
    expect(weights).toBe('3:4:1 4:5:-0.04 5:6:? 6:7:0 9:10:0.5');
    expect(targets).toBe(`9:${names.all.indexOf('t4')}`);
    expect(expected).toBe('3n4y3n');
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
    const { markup = '' } =
      carpet(
        ledger.rows.map((row) => shown(row)),
        { ...OPTIONS, anchorOf: ({ row }) => (row.row === 0 ? 'there' : undefined) },
      ) ?? {};
    expect(markup.match(/step \d</g)).toEqual(['step 0<', 'step 1<']);
    expect(markup.match(/<a href="#there"/g)).toHaveLength(4);
    expect(markup).toContain('<title>step 0, forward pass 0, row 0: 3 tokens, 2 trained</title>');
    expect(markup).not.toContain('more row');
  });

  test('leaves rows out that it has no room for, and says so; one row of any length is drawn', () => {
    const many = ledgerOf({ rows: Array.from({ length: 601 }, () => ({ ids: [5, 6, 2] })) }).rows;
    expect(
      carpet(
        many.map((row) => shown(row)),
        OPTIONS,
      )?.markup,
    ).toContain('1 more row of this run has no room');
    const long = rowOf({ ids: Array.from({ length: 120_000 }, (_, at) => at % 50) });
    expect(carpet([shown(long)], OPTIONS)?.markup).toContain('data-cell="1"');
  });

  test('does nothing with the names of tokens', () => {
    const tokenizer = {
      token: (id: number) => HOSTILE[id] ?? '',
      specialIds: new Set(HOSTILE.keys()),
    } as never;
    const row = rowOf({ ids: HOSTILE.map((_, id) => id) });
    const { all } = namesOf([row], tokenizer);
    expect(all).toHaveLength(HOSTILE.length);
    for (const name of all) expect(name).not.toContain('\n');
    const { markup = '' } = carpet([shown(row)], { ...OPTIONS, tokenizer }) ?? {};
    expect(markup).not.toContain('<script');
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
