// Plain text in which somebody wrote the marks of a chat is told from chats by the rows around it.
import { expect, test } from 'vitest';
import type { LedgerRow } from '../../../src/trace/ledger.ts';
import { plainWherePlain } from '../../../src/trace/spans/plain.ts';
import { ledgerOf } from '../traced.ts';

/** A row that is trained from `from` on. */
const row = (kind: 'text' | 'template', from: number): LedgerRow => {
  const ids = [5, 6, 7, 8, 9];
  const trained = [...ids.map((target, t) => (t < from ? undefined : { target, weight: 0.1 })), undefined];
  const [made] = ledgerOf({ rows: [{ ids, spans: { origin: { kind } as never } }] }).rows;
  if (made === undefined) throw new Error('no row');
  return { ...made, trained: trained as never };
};
const kinds = (rows: readonly LedgerRow[]): string[] =>
  plainWherePlain(rows).map(({ spans }) => spans.origin.kind);

test('a few rows with marks among more without, all trained whole, are text', () => {
  expect(kinds([row('text', 1), row('text', 1), row('template', 1)])).toEqual(['text', 'text', 'text']);
});

test('chats stay chats: as many as there is text, or where a part of any row is not trained', () => {
  expect(kinds([row('text', 1), row('template', 1)])).toEqual(['text', 'template']);
  expect(kinds([row('template', 1), row('template', 1)])).toEqual(['template', 'template']);
  expect(kinds([row('text', 1), row('text', 1), row('template', 3)])).toEqual(['text', 'text', 'template']);
  expect(kinds([row('text', 3), row('text', 1), row('template', 1)])).toEqual(['text', 'text', 'template']);
});
