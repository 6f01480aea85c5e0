// A shape that somebody else wrote, looked at before memory is asked for: what it promises is counted, and what holds no
// data at all (rows without columns) is bounded too, because rows are made one by one.
import type { Decoded } from './decoded.ts';

export interface Room {
  /** Lengths that there may be, from 0. */
  readonly dimensions: number;
  readonly bytesOfOne: number;
  /** That the values really have. */
  readonly bytes: number;
}

/** More rows than any batch has, where no data shows that there are so many. */
const MOST_EMPTY = 2 ** 16;

/** How many values a shape has, where it is one, and its data are exactly these. */
export function countOf(shape: unknown, { dimensions, bytesOfOne, bytes }: Room): Decoded<number> {
  if (!Array.isArray(shape) || shape.length > dimensions) return { complaint: 'is no list of lengths' };
  if (!shape.every((length) => Number.isSafeInteger(length) && length >= 0))
    return { complaint: 'has a length that is no whole number from 0' };
  let count = 1;
  let lists = 1;
  for (const length of shape) {
    if (length > 0) lists *= length;
    count *= length;
  }
  if (count * bytesOfOne !== bytes)
    return { complaint: `is ${count * bytesOfOne} bytes, its data has ${bytes}` };
  if (count === 0 && lists > MOST_EMPTY) return { complaint: 'has too many rows for having no values' };
  return { ok: count };
}
