// Log-probabilities that stand elsewhere than their tokens: a column beside them, or in another row of the batch.
import { type LedgerRow, type ScoredRow, sameIds, type Target } from '../../../src/index.ts';

/**
 * Where the scores stand by which a row was weighed.
 * @param scored rows of the same step that may have been taken
 * @param explains whether the scores of this row, so many columns on, explain the weights of these targets
 */
export function misplacedIn(
  scored: readonly ScoredRow[],
  row: LedgerRow,
  targets: readonly Target[],
  explains: (other: ScoredRow, columns: number, targets: readonly Target[]) => boolean,
): string | undefined {
  return WAYS.find(({ columns, own }) =>
    scored.some(
      (each) =>
        sameIds(each.ids, row.ids) === own &&
        columns.some((by) => explains(each, by, within(each, targets, by))),
    ),
  )?.says;
}

/** Tokens are scored one column early, and what generation answers begins with the prompt or not: such slips are by one. */
const WAYS: readonly { readonly says: string; readonly columns: readonly number[]; readonly own: boolean }[] =
  [
    { says: 'those of the column beside each', columns: [-1, 1], own: true },
    { says: 'those of another row', columns: [0], own: false },
  ];

/** What is rolled past the end comes from elsewhere. */
const within = ({ ids }: ScoredRow, targets: readonly Target[], by: number): readonly Target[] =>
  targets.filter(({ column }) => column + by < ids.length);
