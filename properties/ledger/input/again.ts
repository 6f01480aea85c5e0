// Rows that one optimiser step trains more than once, alike to the last weight: by as many backward passes, called at one line. Two
// losses of one row have other weights, or lines; R-Drop has one backward pass for both of its forward passes.
import { type Ledger, type LedgerRow, type LedgerStep, realIds, targetsOf } from '../../../src/index.ts';
import { keyOf } from './kin.ts';

/** Of each row that is trained again in its step, all of its times, the first one first. */
export function trainedAgain(ledger: Ledger): readonly (readonly LedgerRow[])[] {
  return ledger.steps.flatMap((step) => {
    const rows = ledger.rows.filter((row) => row.step === step.index && row.reached && isKnown(row));
    const alike = new Map<string, LedgerRow[][]>();
    for (const row of rows.filter((each) => hasBackwardsOfItsOwn(step, rows, each))) {
      const key = `${row.rank} ${row.model} ${keyOf(realIds(row))} ${targetsOf(row).map(({ trained }) => trained.target)}`;
      const groups = alike.get(key) ?? [];
      const own = groups.find(([first]) => first !== undefined && sameWeights(first, row));
      if (own === undefined) groups.push([row]);
      else own.push(row);
      alike.set(key, groups);
    }
    return [...alike.values()].flat().filter((times) => times.length > 1);
  });
}

/** It has weights, all of them known. */
const isKnown = (row: LedgerRow): boolean => {
  const weights = targetsOf(row).map(({ trained: { weight } }) => weight);
  return !weights.includes(undefined) && weights.some((weight) => weight !== 0);
};

function hasBackwardsOfItsOwn(
  { ranks }: LedgerStep,
  rows: readonly LedgerRow[],
  { rank }: LedgerRow,
): boolean {
  const done = ranks.find((each) => each.rank === rank)?.done;
  const forwards = new Set(rows.flatMap((row) => (row.rank === rank ? [row.forward] : [])));
  return done?.backwardPlaces?.length === 1 && (done.backwards ?? 0) >= forwards.size;
}

function sameWeights(left: LedgerRow, right: LedgerRow): boolean {
  const [ours, theirs] = [targetsOf(left), targetsOf(right)];
  return ours.every(({ trained: { weight = Number.NaN }, relative }, at) => {
    const other = theirs[at];
    if (other === undefined) return false;
    const gap = Math.abs(weight - (other.trained.weight ?? Number.NaN));
    return gap <= (relative + other.relative) * Math.abs(weight);
  });
}
