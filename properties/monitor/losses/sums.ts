// A whole beside its parts: y = w1 p1 + w2 p2 + ... with the weights that the run declares. Parts that are missing make no such
// sum, and then nothing is said. Where all steps but for one weight fit to the last digit, that weight is not the declared one.

import { digitsOf } from '../digits.ts';

/** Values of one series at the steps that all of them have. */
export interface Part {
  readonly name: string;
  readonly values: readonly number[];
  /** As declared, with its sign; undefined: nobody says. */
  readonly weight: number | undefined;
}

export interface Whole {
  readonly name: string;
  readonly steps: readonly number[];
  readonly values: readonly number[];
}

export type Verdict =
  | { readonly kind: 'adds up' }
  /** All steps fit with another weight of this part. */
  | { readonly kind: 'other weight'; readonly part: Part; readonly weight: number }
  /** All but some steps fit: rows of those that do not. */
  | { readonly kind: 'at some steps'; readonly rows: readonly number[] }
  /** All steps fit but for one factor. */
  | { readonly kind: 'other scale'; readonly factor: number };

/** Undefined: the parts say nothing of the whole. */
export function sumOf(whole: Whole, parts: readonly Part[]): Verdict | undefined {
  const { values } = whole;
  if (values.length < FEWEST || parts.length === 0) return undefined;
  const known = parts.map((part) => ({ part, weight: part.weight ?? 0 }));
  const expected = values.map((_, row) =>
    known.reduce((sum, { part, weight }) => sum + weight * (part.values[row] as number), 0),
  );
  const slack = slackOf(whole, known);
  const off = values.map((value, row) => value - (expected[row] as number));
  const varies = spreadOf(expected) > TELLING * maxOf(slack);
  const bad = rowsWhere(off, (value, row) => Math.abs(value) > (slack[row] as number));
  if (bad.length <= ODD * values.length && varies) return { kind: 'adds up' };
  for (const { part, weight } of known) {
    const more = factorOf(off, part.values, slack);
    if (more !== undefined)
      return part.weight === undefined
        ? { kind: 'adds up' }
        : { kind: 'other weight', part, weight: weight + more };
  }
  if (!varies) return undefined;
  const factor = factorOf(values, expected, slack);
  if (factor !== undefined) return { kind: 'other scale', factor };
  return bad.length <= MOST_ODD * values.length ? { kind: 'at some steps', rows: bad } : undefined;
}

// --- helpers ---

/** Steps without which a fit is chance. */
const FEWEST = 20;
/** Of the size of a term: sums in single precision, over micro-batches and ranks. */
const PRECISION = 2e-5;
/** Slacks that a term moves by, so that its weight can be told. */
const TELLING = 10;
/** Of the steps: a step logged across a resumption. */
const ODD = 0.02;
const MOST_ODD = 0.3;

const maxOf = (values: readonly number[]): number => values.reduce((most, each) => Math.max(most, each), 0);

const rowsWhere = (
  values: readonly number[],
  holds: (value: number, row: number) => boolean,
): readonly number[] => values.flatMap((value, row) => (holds(value, row) ? [row] : []));

function spreadOf(values: readonly number[]): number {
  const mean = values.reduce((sum, each) => sum + each, 0) / values.length;
  return Math.sqrt(values.reduce((sum, each) => sum + (each - mean) ** 2, 0) / values.length);
}

function slackOf(whole: Whole, known: readonly { part: Part; weight: number }[]): readonly number[] {
  const terms = [{ part: { ...whole, weight: 1 }, weight: 1 }, ...known].map(({ part, weight }) => ({
    values: part.values,
    weight: Math.abs(weight),
    ...roundingOf(part.values),
  }));
  return whole.values.map((_, row) =>
    terms.reduce(
      (sum, { values, weight, decimal, share }) =>
        sum + 1.1 * weight * (decimal + share * Math.abs(values[row] as number)),
      0,
    ),
  );
}

/** What a log rounds values by: to a decimal, or to some digits, as a share of the value. */
function roundingOf(values: readonly number[]): { readonly decimal: number; readonly share: number } {
  const decimal = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6].find((each) =>
    values.every((value) => Math.abs(value / each - Math.round(value / each)) < 1e-6),
  );
  const digits = values.reduce((most, value) => Math.max(most, value === 0 ? 1 : digitsOf(value)), 1);
  return decimal !== undefined
    ? { decimal: decimal / 2, share: PRECISION }
    : { decimal: 0, share: Math.max(PRECISION, 0.5 * 10 ** (1 - digits)) };
}

/** c where y = c x at each step, and x moves by enough to tell; least squares through the origin. */
function factorOf(
  ys: readonly number[],
  xs: readonly number[],
  slack: readonly number[],
): number | undefined {
  const ofX = xs.reduce((sum, x) => sum + x * x, 0);
  const factor = xs.reduce((sum, x, row) => sum + x * (ys[row] as number), 0) / ofX;
  if (!(ofX > 0) || !Number.isFinite(factor)) return undefined;
  if (spreadOf(xs) * Math.abs(factor) < TELLING * maxOf(slack)) return undefined;
  const bad = rowsWhere(ys, (y, row) => Math.abs(y - factor * (xs[row] as number)) > (slack[row] as number));
  return bad.length <= ODD * ys.length ? factor : undefined;
}
