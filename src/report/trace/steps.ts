// The optimiser's steps of a traced run as numbers: for each rank what was put in, what of it was trained, with which
// weight, and whether the model is another one after it.
import type { Ledger, LedgerRow, RankStep } from '../../trace/ledger.ts';
import { unknownIn } from '../../trace/terms.ts';
import { realCount, trainedCount } from './rows.ts';

export interface StepSum {
  readonly step: number;
  readonly rank: number;
  /** Forward passes that a backward pass reached: the micro-batches. */
  readonly forwards: number;
  readonly rows: number;
  /** Without padding. */
  readonly tokens: number;
  readonly trained: number;
  /** Of these, what the gradient trains there is not known. */
  readonly unknown: number;
  /** Undefined: not all of them were measured. */
  readonly weight: number | undefined;
  readonly optimizer: string;
  /** Absent: the script ended before the step was made. */
  readonly done?: RankStep['done'];
}

/** In the order of the ledger; what was trained behind the last step made stands with the step that never was. */
export function stepSums({ steps, rows }: Ledger): readonly StepSum[] {
  return steps.flatMap(({ index, ranks }) =>
    ranks.map(({ rank, optimizer, done }): StepSum => {
      const own = rows.filter((row) => row.step === index && row.rank === rank && row.reached);
      const weights = own.flatMap(({ trained }) => trained.flatMap((each) => (each ? [each.weight] : [])));
      return {
        step: index,
        rank,
        forwards: new Set(own.map(({ forward }) => forward)).size,
        rows: own.length,
        tokens: sumOf(own, realCount),
        trained: sumOf(own, trainedCount),
        unknown: unknownIn(own).open,
        weight: weights.includes(undefined)
          ? undefined
          : weights.reduce<number>((sum, w) => sum + (w ?? 0), 0),
        optimizer,
        ...(done === undefined ? {} : { done }),
      };
    }),
  );
}

export const hasSeveralRanks = ({ processes, rows }: Ledger): boolean =>
  processes.some(({ world }) => world > 1) || new Set(rows.map(({ rank }) => rank)).size > 1;

function sumOf(rows: readonly LedgerRow[], count: (row: LedgerRow) => number): number {
  return rows.reduce((sum, row) => sum + count(row), 0);
}
