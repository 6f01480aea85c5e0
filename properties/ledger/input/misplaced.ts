// Log-probabilities that stand elsewhere than their tokens: a column beside them, or in another row of the batch.
import {
  type Ledger,
  type LedgerNotice,
  type LedgerRow,
  many,
  type ScoredRow,
  sameIds,
  type Target,
} from '../../../src/index.ts';
import { placeOf } from '../words.ts';

/** How a rule tells what scores a row was weighed by. */
export interface Weighing {
  /** Of which rows the row's own scores do not explain the weights. */
  readonly isOpen: (row: LedgerRow) => boolean;
  /** Some of the row's targets, from the first on. */
  readonly targetsOf: (row: LedgerRow) => readonly Target[];
  /** Who may have made the scores. */
  readonly mayBe: (scored: ScoredRow) => boolean;
  /** Whether the scores of another row, so many columns on, explain the weights of these targets. */
  readonly explains: (
    row: LedgerRow,
    scored: ScoredRow,
    columns: number,
    targets: readonly Target[],
  ) => boolean;
  /** `4 completions (from step 0, row 0)`, and whose scores they are. */
  readonly sentence: (rows: string, says: string) => string;
}

/** A question, where several rows were weighed by scores that stand elsewhere. One may be so by chance. */
export function misplacedNotices(
  ledger: Ledger,
  rows: readonly LedgerRow[],
  weighing: Weighing,
): LedgerNotice[] {
  const found = rows
    .filter(weighing.isOpen)
    .slice(0, MOST_ROWS)
    .flatMap((row) => {
      const says = placeSaid(ledger, row, weighing);
      return says === undefined ? [] : [{ row, says }];
    });
  const [first] = found;
  const alike = found.filter(({ says }) => says === first?.says);
  if (first === undefined || alike.length < SEVERAL) return [];
  const where = `${many(alike.length, 'completion')} (from ${placeOf(ledger, first.row)})`;
  return [{ sentence: weighing.sentence(where, first.says), answers: [], asked: true }];
}

// --- helpers ---

const SEVERAL = 2;
/** Of a large batch these tell as much as all. */
const [MOST_ROWS, MOST_OTHERS, MOST_TARGETS] = [32, 16, 64];

function placeSaid(ledger: Ledger, row: LedgerRow, weighing: Weighing): string | undefined {
  const targets = weighing.targetsOf(row).slice(0, MOST_TARGETS);
  const scored = ledger.scored
    .filter((each) => each.step === row.step && weighing.mayBe(each))
    .toSorted((left, right) => Math.abs(left.row - row.row) - Math.abs(right.row - row.row));
  return WAYS.find(({ columns, own }) =>
    scored
      .filter((each) => sameIds(each.ids, row.ids) === own)
      .slice(0, MOST_OTHERS)
      .some((each) => columns.some((by) => weighing.explains(row, each, by, within(each, targets, by)))),
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
