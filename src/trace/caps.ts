// A softcap is the model's: it is in every forward pass, or in none. Near uniform logits a term on their size (a z-loss) looks
// like a wide cap with something beside it; where other passes of the model show which of the two it is, what was read off as a
// cap is not known.
import type { LedgerRow, Trained } from './ledger.ts';
import type { TermRecord } from './records/records.ts';

type Row = Pick<LedgerRow, 'rank' | 'model' | 'terms' | 'trained'>;

/** The rows, with nothing said of those whose cap other passes of the same model contradict. */
export function withoutFalseCaps<R extends Row>(rows: readonly R[]): readonly R[] {
  const sized = new Set(rows.filter((row) => has(row, 'normalizer') && !has(row, 'softcap')).map(modelOf));
  return rows.map((row) => (has(row, 'softcap') && sized.has(modelOf(row)) ? opened(row) : row));
}

const has = ({ terms }: Row, kind: TermRecord['kind']): boolean =>
  terms?.some((term) => term.kind === kind) === true;
const modelOf = ({ rank, model }: Row): string => `${rank} ${model}`;

function opened<R extends Row>(row: R): R {
  const { terms: _terms, ...rest } = row;
  return { ...rest, trained: row.trained.map(unknown) } as unknown as R;
}

/** There is a gradient, and what it trains is not known: weights.ts, `isOpen`. */
const unknown = (entry: Trained | undefined): Trained | undefined =>
  entry === undefined || entry.weight === 0
    ? entry
    : {
        ...entry,
        target: undefined,
        weight: undefined,
        temperature: undefined,
        residual: entry.residual ?? 1,
      };
