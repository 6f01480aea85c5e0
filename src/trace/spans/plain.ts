// Plain text in which somebody wrote the marks of a chat. A few rows that hold them, among more rows that hold none, all of them
// trained from end to end, are one text like the others: training knows of no roles there. Rows of which a part is not
// trained, and rows that all hold marks, are chats.
import type { LedgerRow } from '../ledger.ts';
import { textSpans } from './spans.ts';

export function plainWherePlain(rows: readonly LedgerRow[]): readonly LedgerRow[] {
  const trained = rows.filter(
    ({ reached, spans }) => reached && ['text', 'template'].includes(spans.origin.kind),
  );
  const sequences = trained.map(({ spans: { origin } }) =>
    origin.kind === 'template' ? (origin.sequences ?? { chats: 1, texts: 0 }) : { chats: 0, texts: 1 },
  );
  const [chats, texts] = (['chats', 'texts'] as const).map((of) =>
    sequences.reduce((sum, each) => sum + each[of], 0),
  );
  if (chats === 0 || (texts ?? 0) <= (chats ?? 0) || !trained.every(isWhole)) return rows;
  return rows.map((row) =>
    row.spans.origin.kind === 'template'
      ? { ...row, spans: { ...textSpans(row), origin: { kind: 'text', marks: true } } }
      : row,
  );
}

/** Every token that has a predictor is trained; padding is not asked for, nor where a packed sequence begins. */
const isWhole = ({ real, trained, positions }: LedgerRow): boolean =>
  real.every((is, t) => !is || t === 0 || !real[t - 1] || positions?.[t] === 0 || trained[t] !== undefined);
