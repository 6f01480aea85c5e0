// How rows of ids are related: the same, the same but for the ends, alike.
import type { Ids } from '../../../src/index.ts';

/** Ids that both begin with. */
export function commonStart(left: Ids, right: Ids): number {
  const end = Math.min(left.length, right.length);
  for (let at = 0; at < end; at++) if (left[at] !== right[at]) return at;
  return end;
}

/** Ids that both end with. */
export function commonEnd(left: Ids, right: Ids): number {
  const end = Math.min(left.length, right.length);
  for (let at = 1; at <= end; at++) if (left.at(-at) !== right.at(-at)) return at - 1;
  return end;
}

export const startsWith = (ids: Ids, start: Ids): boolean => commonStart(ids, start) === start.length;
export const endsWith = (ids: Ids, end: Ids): boolean => commonEnd(ids, end) === end.length;

/** The share of two rows that they have in common at their ends, 0 to 1. */
export function likeness(left: Ids, right: Ids): number {
  const shorter = Math.min(left.length, right.length);
  const start = commonStart(left, right);
  const end = Math.min(commonEnd(left, right), shorter - start);
  return shorter === 0 ? 0 : (start + end) / Math.max(left.length, right.length);
}

/** `part` stands in `ids`, in one piece. */
export function holds(ids: Ids, part: Ids): boolean {
  for (let from = 0; from + part.length <= ids.length; from++)
    if (part.every((id, at) => ids[from + at] === id)) return true;
  return false;
}

/** A key for equal rows. */
export const keyOf = (ids: Ids): string => ids.join(' ');
