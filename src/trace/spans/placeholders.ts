// Tokens that stand where a part of an image, a video or sound is put in: whoever wrote them, they are nothing that could be predicted.
import type { Ids } from '../../vocabulary.ts';
import type { LedgerModel, LedgerRow, Spans } from '../ledger.ts';

/** Ids of those of the model that the row was given to. */
export function placeholdersOf(
  { model, rank }: Pick<LedgerRow, 'model' | 'rank'>,
  models: readonly LedgerModel[],
): Ids {
  return models.find((each) => each.model === model && each.rank === rank)?.placeholders ?? [];
}

/** They are not expected to be trained. */
export function withPlaceholders(
  row: Pick<LedgerRow, 'model' | 'rank' | 'ids'>,
  spans: Spans,
  models: readonly LedgerModel[],
): Spans {
  const placeholders = placeholdersOf(row, models);
  if (placeholders.length === 0) return spans;
  return {
    ...spans,
    expected: spans.expected.map((each, t) => (placeholders.includes(row.ids[t] ?? -1) ? false : each)),
  };
}
