// What the weight of a supervised token may be one over: counts of a step and of its micro-batches, and their names. A sum
// of weights that is not 1 is the quotient of two of them, as a rule, and says by itself what was divided by what.
import {
  commonOf,
  explains,
  type Ledger,
  type LedgerRow,
  type MicroBatch,
  many,
  microBatchesOf,
  targetsOf,
} from '../../../src/index.ts';
import { taughtBatches } from './supervised.ts';

/** The supervised micro-batches of one finished step, of which every weight is known. */
export interface Taught {
  readonly step: number;
  readonly batches: readonly MicroBatch[];
  /** Of all weights. */
  readonly sum: number;
  readonly tokens: number;
  /** Rows in which something was trained; and all rows. */
  readonly taughtRows: number;
  readonly rows: number;
  /** Columns of the padded batches: those that have a predictor, and all. */
  readonly columns: number;
  readonly allColumns: number;
  /** Tokens of the examples without padding: those that have a predictor, and all. */
  readonly predicted: number;
  readonly real: number;
  /** Examples whose first token may have been counted, though nothing predicts it. */
  readonly firsts: number;
  /** Micro-batches of the rank that has most, also those of which nothing was trained. */
  readonly accumulated: number;
  readonly world: number;
  readonly dtype: string;
}

/** Why a step is none of these. */
export const UNKNOWN_STEP = 'the step is not supervised, or not all of its weights are known';

/** undefined: not all of the step's weights are known, or it is no supervised step. */
export function taughtStep(ledger: Ledger, step: Ledger['steps'][number]): Taught | undefined {
  if (step.ranks.some(({ done }) => done === undefined || done.skipped === true)) return undefined;
  const rows = ledger.rows.filter((row) => row.step === step.index && row.reached);
  const all = microBatchesOf(rows);
  const batches = taughtBatches(rows);
  // Beside a policy's rows, or a term over the whole vocabulary, a sum says nothing.
  if (batches.length === 0 || batches.length < all.filter(({ count }) => count > 0).length) return undefined;
  const sums = batches.map(sumOf);
  if (!sums.every((sum) => sum !== undefined)) return undefined;
  // Processes whose gradients meet in a way that cannot be seen: nobody knows what of a weight reaches the optimiser.
  if (step.ranks.length > 1 && rows.every(({ averagedOver }) => averagedOver === 1)) return undefined;
  const total = (of: (row: LedgerRow) => number): number => rows.reduce((sum, row) => sum + of(row), 0);
  const real = (row: LedgerRow): number => row.real.filter(Boolean).length;
  return {
    step: step.index,
    batches,
    sum: sums.reduce((sum, each) => sum + each, 0),
    tokens: batches.reduce((sum, { count }) => sum + count, 0),
    taughtRows: rows.filter((row) => targetsOf(row).length > 0).length,
    rows: rows.length,
    columns: total(({ ids }) => ids.length - 1),
    allColumns: total(({ ids }) => ids.length),
    predicted: total((row) => Math.max(0, real(row) - 1)),
    real: total(real),
    firsts: total(firstsOf),
    accumulated: Math.max(
      ...step.ranks.map(({ rank }) => all.filter((batch) => batch.rank === rank).length),
      1,
    ),
    world: step.ranks.length,
    dtype: batches[0]?.rows[0]?.dtype ?? 'float32',
  };
}

/** Of all tokens of a micro-batch; where not all were measured, one weight stands for all. */
function sumOf({ rows, count, weights }: MicroBatch): number | undefined {
  const sound = rows.every(({ trained, dtype }) =>
    trained.every((each) => each === undefined || explains(each, dtype) !== false),
  );
  if (!sound || weights.some(({ value }) => value < 0)) return undefined;
  if (weights.length === count) return weights.reduce((sum, { value }) => sum + value, 0);
  const common = commonOf(weights);
  return common === undefined ? undefined : common * count;
}

/**
 * Examples in a row whose first token may be a label: what follows it is trained. Positions that begin again tell how many
 * are packed into one.
 */
function firstsOf({ real, trained, positions }: LedgerRow): number {
  const first = real.indexOf(true);
  return real.filter((is, t) => is && (t === first || positions?.[t] === 0) && trained[t + 1] !== undefined)
    .length;
}

/** A quotient that a sum of weights may be, and the words that say why it is. */
export interface Cause {
  readonly name: string;
  readonly factor: number;
  readonly words: string;
  /** Another aggregation, which a loss of one's own may have on purpose. */
  readonly meant?: boolean;
}

/**
 * Every way known in which a mean goes wrong, by the sum of weights that it leaves.
 * @param most micro-batches of the step that has most
 */
export function causesOf(step: Taught, most: number): Cause[] {
  const { tokens, taughtRows, rows, accumulated: parts, world } = step;
  const over = (count: number, name: string, what: string): Cause[] =>
    [
      { name, factor: tokens / count, words: `it is ${tokens} trained tokens / ${count} ${name}: ${what}` },
      {
        name: `${name}, summed`,
        factor: (tokens / count) * parts,
        words: `it is ${tokens} trained tokens / ${count} ${name}, times the ${parts} micro-batches: ${what}, and accumulation is not divided by`,
      },
    ].slice(0, parts > 1 ? 2 : 1);
  const causes: Cause[] = [
    {
      name: 'micro-batches',
      factor: parts,
      words: `it is not divided by the ${parts} micro-batches that are accumulated`,
    },
    {
      name: 'micro-batches, twice',
      factor: 1 / parts,
      words: `it is divided by the ${parts} accumulated micro-batches once more`,
    },
    {
      name: 'a shorter window',
      factor: parts / most,
      words: `it is divided by ${most} micro-batches, and ${parts} ${parts === 1 ? 'was' : 'were'} accumulated`,
    },
    {
      name: 'processes',
      factor: 1 / world,
      words: `it is averaged over ${world} processes, each of which divides by the tokens of all`,
    },
    {
      name: 'micro-batches and processes',
      factor: parts * world,
      words: 'it is divided neither by the micro-batches nor by the processes',
    },
    ...over(step.columns, 'padded columns', 'prompts and pads are in the mean'),
    ...over(step.allColumns, 'padded columns with the first', 'prompts and pads are in the mean'),
    ...over(step.predicted, 'tokens of the rows', 'prompts are in the mean'),
    ...over(step.real, 'tokens of the rows with the first', 'prompts are in the mean'),
    {
      meant: true,
      name: 'rows',
      factor: taughtRows,
      words: `the means of the ${many(taughtRows, 'row')} are added up`,
    },
    {
      meant: true,
      name: 'empty rows',
      factor: taughtRows / rows,
      words: `${rows - taughtRows} of the ${many(rows, 'row')} have nothing to train and count in the mean`,
    },
    {
      meant: true,
      name: 'tokens',
      factor: tokens,
      words: `the losses of the ${many(tokens, 'token')} are added up, and divided by nothing`,
    },
    {
      meant: true,
      name: 'tokens per row',
      factor: tokens / rows,
      words: `it is ${tokens} trained tokens / ${many(rows, 'row')}: the tokens of a row are added up, and divided by the rows`,
    },
  ];
  return causes.filter(({ factor }) => Number.isFinite(factor) && factor > 0 && Math.abs(factor - 1) > SAME);
}

/** Quotients this near to 1 are none. */
const SAME = 1e-3;

/** The cause that gives this sum, the nearest first; undefined: none of those known does. */
export function causeOf(sum: number, causes: readonly Cause[], room: number): Cause | undefined {
  const far = ({ factor }: Cause): number => Math.abs(sum / factor - 1);
  return causes.toSorted((a, b) => far(a) - far(b)).find((cause) => far(cause) <= room);
}
