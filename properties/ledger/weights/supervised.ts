// Micro-batches of supervised rows: those in which every token has one positive weight. Whatever else is in a step
// (policy gradients, preference pairs, weighted tokens) is not judged by token counts.
import {
  commonOf,
  isOpen,
  type LedgerRow,
  type MicroBatch,
  microBatchesOf,
  scaled,
  targetsOf,
  weightsOf,
} from '../../../src/index.ts';

export interface Supervised extends MicroBatch {
  /** The weight of each of its tokens. */
  readonly weight: number;
}

/** Sampled rows have advantages, which may be equal by chance. */
const isTaught = ({ spans }: LedgerRow): boolean => spans.origin.kind !== 'generation';

/** Micro-batches in which something was trained, all of it toward single targets, and nothing that was sampled. */
export function taughtBatches(rows: readonly LedgerRow[]): MicroBatch[] {
  return microBatchesOf(rows).filter(
    (batch) =>
      batch.weights.length > 0 &&
      batch.rows.every((row) => isTaught(row) && row.notFinite === 0 && targetsOf(row).every(explainedByOne)),
  );
}

const explainedByOne = ({ trained }: ReturnType<typeof targetsOf>[number]): boolean => !isOpen(trained);

/** With its one positive weight, where it has one. */
export function supervisedOf(batch: MicroBatch): Supervised | undefined {
  const weight = commonOf(batch.weights);
  return weight === undefined || weight < 0 ? undefined : { ...batch, weight };
}

/** Each row has weights that are its share of a mean over rows: equal in the row, and one over its tokens between rows. */
export function meansOfRows(rows: readonly LedgerRow[]): boolean {
  const shares = rows.flatMap((row) => {
    const targets = targetsOf(row);
    return weightsOf(targets).map((weight) => scaled(weight, targets.length));
  });
  return (commonOf(shares) ?? -1) > 0;
}

/** Somewhere a batch of several rows shows that the script takes the mean of its rows' means. */
export function averagesRows(rows: readonly LedgerRow[]): boolean {
  return taughtBatches(rows).some(
    (batch) => supervisedOf(batch) === undefined && batch.rows.length > 1 && meansOfRows(batch.rows),
  );
}

/** Somewhere a batch of several rows, of unequal lengths, shows that the script takes the mean of its tokens. */
export function averagesTokens(rows: readonly LedgerRow[]): boolean {
  return taughtBatches(rows).some(({ rows: own, weights }) => {
    const lengths = own.map((row) => targetsOf(row).length).filter((length) => length > 0);
    return new Set(lengths).size > 1 && commonOf(weights) !== undefined;
  });
}
