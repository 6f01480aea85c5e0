// Rows that a data set has twice, to the letter, and pairs whose halves are one.
import { hash } from 'node:crypto';
import type { Fault } from './flags.ts';
import type { Entry } from './read.ts';
import type { TokenRow } from './row.ts';
import type { Form } from './shape/shapes.ts';

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

/** Of the two halves of a pair as the model gets them, cut to the length limit if there is one. */
export function sameHalves(
  halves: readonly { readonly form?: Form; readonly row?: TokenRow }[],
): Fault | undefined {
  const [chosen, rejected] = halves;
  if (chosen?.form !== 'chosen' || rejected?.form !== 'rejected') return undefined;
  if (chosen.row === undefined || rejected.row === undefined) return undefined;
  const other = rejected.row.ids;
  if (chosen.row.ids.length !== other.length || chosen.row.ids.some((id, at) => id !== other[at]))
    return undefined;
  return { id: 'pair-of-one', sentence: 'chosen and rejected are the same tokens.', columns: [] };
}

/** Remembered, at about a hundred bytes each; later rows are compared with these. */
const MOST_ROWS = 1_000_000;
