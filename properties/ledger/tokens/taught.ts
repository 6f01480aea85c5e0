// A teacher's logits at another column than the one that is trained by them.
import { type Ledger, type LedgerNotice, many } from '../../../src/index.ts';
import { placeOf } from '../words.ts';

export function taughtNotices({ rows, ...ledger }: Ledger): readonly LedgerNotice[] {
  const found = rows.filter(({ terms = [] }) => terms.some(({ columns }) => Boolean(columns)));
  const [first] = found;
  const [term] = (first?.terms ?? []).filter(({ columns }) => Boolean(columns));
  if (first === undefined || term === undefined) return [];
  const side = Number(term.columns) > 0 ? 'after' : 'before';
  return [
    {
      sentence: `${many(found.length, 'row')} (from ${placeOf({ rows, ...ledger }, first)}) are trained towards the logits of model ${term.model ?? '?'} at the column ${side} each, not at the same column. Shift the logits of both models alike. Heads that predict a later token do this on purpose.`,
      answers: [],
      asked: true,
    },
  ];
}
