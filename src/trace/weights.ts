// The weights of a step, by micro-batch: what of them is one number, and how many targets share it. Plain arithmetic; what
// should be is the properties' business.
import { bandsAt } from './bands.ts';
import type { LedgerRow, RowIds, Trained } from './ledger.ts';

/** One target of a row that has a gradient. */
export interface Target {
  readonly column: number;
  readonly trained: Trained;
  /** Share of its weight that rounding may have taken or given. */
  readonly relative: number;
}

/** A number, and by what share of itself it may be off. */
export interface Rough {
  readonly value: number;
  readonly relative: number;
}

/** The rows of one forward pass that may be trained. */
export interface MicroBatch {
  readonly step: number;
  readonly rank: number;
  readonly forward: number;
  readonly model: number;
  readonly rows: readonly LedgerRow[];
  /** Targets with a gradient, measured or not. */
  readonly count: number;
  /** Columns of the padded batch that have a predictor: what a mean over all columns divides by. */
  readonly columns: number;
  /** Of all measured targets. */
  readonly weights: readonly Rough[];
}

/**
 * There is a gradient, and what it trains is not known: neither a single target explains it, nor anything else that can be
 * recognised. What was merely not looked for has no residual.
 */
export function isOpen({ target, weight, residual }: Trained): boolean {
  return target === undefined && weight !== 0 && (weight !== undefined || residual !== undefined);
}

/** Beside other terms of the loss, weights are fitted together with these: what rounding did to several numbers is in each. */
const FITTED = 4;

/** The targets of a row that have a gradient; what is taught a teacher's distribution has none. */
export function targetsOf(row: LedgerRow): Target[] {
  return row.trained.flatMap((trained, column) =>
    trained === undefined || trained.taught !== undefined
      ? []
      : [
          {
            column,
            trained,
            relative: bandsAt(trained, row.dtype).weight * (row.terms === undefined ? 1 : FITTED),
          },
        ],
  );
}

/** Weights of these targets, as far as they were measured. */
export function weightsOf(targets: readonly Target[]): Rough[] {
  return targets.flatMap(({ trained: { weight }, relative }) =>
    weight === undefined ? [] : [{ value: weight, relative }],
  );
}

/** The micro-batches of these rows, in their order. */
export function microBatchesOf(rows: readonly LedgerRow[]): MicroBatch[] {
  const found = new Map<string, LedgerRow[]>();
  for (const row of rows) {
    const key = `${row.step} ${row.rank} ${row.forward}`;
    const of = found.get(key);
    if (of === undefined) found.set(key, [row]);
    else of.push(row);
  }
  return [...found.values()].flatMap((of) => {
    const [first] = of;
    if (first === undefined) return [];
    const { step, rank, forward, model } = first;
    const targets = of.flatMap(targetsOf);
    const columns = of.reduce((sum, { ids }) => sum + ids.length - 1, 0);
    return [
      { step, rank, forward, model, rows: of, count: targets.length, columns, weights: weightsOf(targets) },
    ];
  });
}

/** The one number that all of these may be, each within what it may be off; undefined: there is none, or nothing to say. */
export function commonOf(values: readonly Rough[]): number | undefined {
  if (values.length === 0) return undefined;
  const negative = values.every(({ value }) => value < 0);
  if (!negative && !values.every(({ value }) => value > 0)) return undefined;
  let [low, high] = [0, Number.POSITIVE_INFINITY];
  for (const { value, relative } of values) {
    const size = Math.abs(value);
    low = Math.max(low, size / (1 + relative));
    high = Math.min(high, relative < 1 ? size / (1 - relative) : high);
  }
  if (!(low <= high)) return undefined;
  const mean = values.reduce((sum, { value }) => sum + value, 0) / values.length;
  const common = Math.min(Math.max(Math.abs(mean), low), high);
  return negative ? -common : common;
}

/** As far off as before, times something exact. */
export const scaled = ({ value, relative }: Rough, factor: number): Rough => ({
  value: value * factor,
  relative,
});

/** Every number with so much more room. */
export const loosened = (values: readonly Rough[], more: number): Rough[] =>
  values.map(({ value, relative }) => ({ value, relative: relative + more }));

/** The one in the middle: the lower of two. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}

/** The ids of the example: of the columns that are real. */
export function realIds({ ids, real }: Pick<RowIds, 'ids' | 'real'>): number[] {
  return ids.filter((_, column) => real[column]);
}
