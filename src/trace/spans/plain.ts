// Plain text in which somebody wrote the marks of a chat. A few rows that hold them, among more rows that hold none, all of them
// trained from end to end, are one text like the others: training knows of no roles there. Rows of which a part is not
// trained, and rows that all hold marks, are chats.
import type { LedgerRow } from '../ledger.ts';
import { textSpans } from './spans.ts';

export function plainWherePlain(rows: readonly LedgerRow[]): readonly LedgerRow[] {
  const trained = rows.filter(({ reached }) => reached);
  const texts = trained.filter(({ spans }) => spans.origin.kind === 'text');
  const chats = trained.filter(({ spans }) => spans.origin.kind === 'template');
  if (chats.length === 0 || texts.length <= chats.length || ![...texts, ...chats].every(isWhole)) return rows;
  return rows.map((row) =>
    row.spans.origin.kind === 'template'
      ? { ...row, spans: { ...textSpans(row), origin: { kind: 'text', marks: true } } }
      : row,
  );
}

/** Every token that has a predictor is trained; padding is not asked for. */
const isWhole = ({ real, trained }: LedgerRow): boolean =>
  real.every((is, t) => !is || t === 0 || !real[t - 1] || trained[t] !== undefined);
