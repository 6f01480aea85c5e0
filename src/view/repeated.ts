// Rows that a data set has twice, to the letter.
import { hash } from 'node:crypto';
import type { Fault } from './flags.ts';
import type { Entry } from './read.ts';

/** Remembers rows, and says of a later one which it repeats. */
export function openRepeated(): (entry: Entry) => Fault | undefined {
  const seen = new Map<string, number>();
  return ({ number, value }) => {
    if (value === undefined) return undefined;
    const key = hash('sha1', JSON.stringify(value), 'base64');
    const first = seen.get(key);
    if (first !== undefined)
      return { id: 'duplicate', sentence: `The row is the same as row ${first}.`, columns: [] };
    if (seen.size < MOST_ROWS) seen.set(key, number);
    return undefined;
  };
}

/** Remembered, at about a hundred bytes each; later rows are compared with these. */
const MOST_ROWS = 1_000_000;
