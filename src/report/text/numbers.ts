// The numbers that differ, worst first, with what was allowed. No judgement: the finding has already judged.
import type { NumberDifference } from '../../check/property.ts';
import { harmless, pad, shorten, widthOf } from './visible.ts';

/** More rows than this say nothing new; the rest is counted. */
const MOST_ROWS = 8;
const WHERE_WIDTH = 40;
/** Below this, zeros behind the point are harder to count than an exponent is to read. */
const SMALL = 1e-3;

/** An aligned table, worst first; numbers one below the other where it is wider than `width`; `[]` for none. */
export function numberLines(
  numbers: readonly NumberDifference[],
  width = Number.POSITIVE_INFINITY,
): string[] {
  if (numbers.length === 0) return [];
  const rows = worstFirst(numbers)
    .slice(0, MOST_ROWS)
    .map((number) => [
      shorten(harmless(number.where), WHERE_WIDTH),
      ...apart(number.expected, number.observed),
      digits(number.observed - number.expected),
      digits(number.allowed),
    ]);
  const table = aligned([['where', 'expected', 'observed', 'difference', 'allowed'], ...rows]);
  const lines = table.some((line) => widthOf(line) > width) ? rows.flatMap(stacked) : table;
  const more = numbers.length - rows.length;
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

export function worstFirst(numbers: readonly NumberDifference[]): readonly NumberDifference[] {
  return [...numbers].sort((a, b) => badness(b) - badness(a));
}

function aligned(table: readonly (readonly string[])[]): string[] {
  const widths = table[0]?.map((_, at) => Math.max(...table.map((row) => widthOf(row[at] ?? '')))) ?? [];
  return table.map((row) =>
    row
      .map((cell, at) => pad(cell, widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** One number for a narrow screen: the two to be compared stand one below the other. */
function stacked([where, expected, observed, difference, allowed]: readonly string[]): string[] {
  return [
    `${where}`,
    `  expected  ${expected}`,
    `  observed  ${observed}`,
    `  off by    ${difference}, allowed ${allowed}`,
  ];
}

/** Multiples of what is allowed; not a number is worst of all. */
export function badness({ expected, observed, allowed }: NumberDifference): number {
  const off = Math.abs(observed - expected);
  if (Number.isNaN(off)) return Number.POSITIVE_INFINITY;
  return allowed > 0 ? off / allowed : off === 0 ? 0 : Number.MAX_VALUE;
}

/** Seven digits tell two float32 apart, and seventeen any two numbers: as many as show that these are not the same. */
export function apart(one: number, other: number): readonly [string, string] {
  const pairs = [SINGLE, 10, 13, DOUBLE].map((most) => [digits(one, most), digits(other, most)] as const);
  return pairs.find(([left, right]) => left !== right) ?? pairs[0] ?? ['', ''];
}
const SINGLE = 7;
const DOUBLE = 17;

/** -0 is kept, because it can be the finding. */
export function digits(value: number, most = SINGLE): string {
  if (Object.is(value, -0)) return '-0';
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value);
  const short = Number(value.toPrecision(most));
  return Math.abs(short) < SMALL ? short.toExponential().replace('e+', 'e') : String(short);
}
