// Examples in the order of their ids, and what of them a stretch of a row is found to be by halving.
import type { Example } from './example.ts';

/** The id of an example's core at a distance from its beginning, or from its end. */
export type Direction = (example: Example, at: number) => number | undefined;

export const FORWARD: Direction = ({ ids, core }, at) =>
  at < core.to - core.from ? ids[core.from + at] : undefined;
export const BACKWARD: Direction = ({ ids, core }, at) =>
  at < core.to - core.from ? ids[core.to - 1 - at] : undefined;

export const sizeOf = ({ core }: Example): number => core.to - core.from;

/** What begins like another comes behind it. */
export function ordered(left: Example, right: Example, direction: Direction): number {
  for (let at = 0; ; at++) {
    const [one, other] = [direction(left, at), direction(right, at)];
    if (one === undefined || other === undefined) return sizeOf(left) - sizeOf(right);
    if (one !== other) return one - other;
  }
}

/** The longest example that the query begins with. */
export function wholeAt(
  sorted: readonly Example[],
  query: (at: number) => number | undefined,
  limit: number,
): Example | undefined {
  let length = limit;
  for (;;) {
    const before = sorted[position(sorted, query, length, FORWARD, true) - 1];
    if (before === undefined) return undefined;
    const shared = sharedWith(before, query, FORWARD);
    if (shared >= sizeOf(before)) return before;
    if (shared === 0) return undefined;
    // Whatever the query begins with stands before this one, and is no longer than what it shares.
    length = Math.min(length - 1, shared);
  }
}

/** Examples that begin with the first `length` ids of the query, some of them. */
export function beginningWith(
  sorted: readonly Example[],
  query: (at: number) => number | undefined,
  length: number,
  direction: Direction,
): readonly Example[] {
  const from = position(sorted, query, length, direction, false);
  const found: Example[] = [];
  for (let at = from; at < from + MOST_ALIKE; at++) {
    const example = sorted[at];
    if (example === undefined || sizeOf(example) < length || sharedWith(example, query, direction) < length)
      break;
    found.push(example);
  }
  return found;
}

/** Examples with the same ids, or the same beginning, that are compared: a row cut to a few ids fits many. */
const MOST_ALIKE = 256;

/** Where the query's first `length` ids belong among the sorted; `after`: behind those that equal it. */
function position(
  sorted: readonly Example[],
  query: (at: number) => number | undefined,
  length: number,
  direction: Direction,
  after: boolean,
): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const example = sorted[middle];
    const order = example === undefined ? 1 : compared(example, query, length, direction);
    if (order < 0 || (after && order === 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compared(
  example: Example,
  query: (at: number) => number | undefined,
  length: number,
  direction: Direction,
): number {
  for (let at = 0; ; at++) {
    const own = direction(example, at);
    const other = at < length ? query(at) : undefined;
    if (own === undefined || other === undefined) return own === other ? 0 : own === undefined ? -1 : 1;
    if (own !== other) return own - other;
  }
}

function sharedWith(
  example: Example,
  query: (at: number) => number | undefined,
  direction: Direction,
): number {
  let at = 0;
  for (;;) {
    const own = direction(example, at);
    if (own === undefined || own !== query(at)) return at;
    at++;
  }
}
