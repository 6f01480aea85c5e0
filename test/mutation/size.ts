// How large a case is to a reader: rows, and the longest list within a row. Works on any case, since cases are plain JSON.
import { rowsOf } from '../../src/check/shrink/drop-rows.ts';

export interface Size {
  readonly rows: number;
  /** Ids, tokens or numbers of the longest row. */
  readonly tokens: number;
}

export function sizeOf(given: unknown): Size {
  const rows = rowsOf(given);
  if (rows === undefined || typeof given !== 'object' || given === null) {
    return { rows: 1, tokens: longest(given) };
  }
  // Every list of as many entries as there are rows holds one entry per row.
  const perRow = Object.values(given).filter((field) => Array.isArray(field) && field.length === rows);
  return { rows, tokens: Math.max(0, ...perRow.flat().map(longest)) };
}

/** Lists within lists are not looked into: the logits of a token are one token. */
function longest(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Math.max(0, ...Object.values(value).map(longest));
}
