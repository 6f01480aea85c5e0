// What a changed field is called, by what it holds: the words of a difference.
import { AXES } from '../protocol/axes.ts';
import type { Op } from '../protocol/message.ts';
import { visible } from '../visible.ts';
import { isFloat, kindOf } from './entry.ts';

/** What kind of thing changed. */
export type Change = 'text' | 'ids' | 'mask' | 'labels' | 'positions' | 'numbers' | 'values';

export function changeOf(op: Op, name: string): Change {
  const kind = kindOf(op, name);
  if (isFloat(kind)) return 'numbers';
  if (/^text/.test(kind)) return 'text';
  if (name === 'labels') return 'labels';
  if (name === 'position_ids') return 'positions';
  if (kind === 'int_track' || /(^|_)mask$/.test(name)) return 'mask';
  if (isIds(op, name)) return 'ids';
  return 'values';
}

/** It holds ids of tokens. */
export function isIds(op: Op, name: string): boolean {
  const known: readonly PropertyKey[] = AXES[op]?.ids?.ok ?? [];
  return (
    (known.includes(name) && name !== 'labels') || /(^|_)(input|prompt|completion)_ids$|^unpacked$/.test(name)
  );
}

/** Characters shown before and behind the place where two texts part. */
const BEFORE = 24;
const BEHIND = 40;

/** `...<|end|>⏎Hi...`: a text around a place, white space as glyphs. */
export function around(text: string, at: number): string {
  const from = Math.max(0, at - BEFORE);
  const to = Math.min(text.length, at + BEHIND);
  const shown = visible(text.slice(from, to));
  return `${from > 0 ? '…' : ''}${shown}${to < text.length ? '…' : ''}`;
}

/** The first character in which two texts differ. */
export function firstDifferent(before: string, after: string): number {
  let at = 0;
  while (at < before.length && at < after.length && before[at] === after[at]) at++;
  // A pair of code units is one character.
  return at > 0 && /[\uD800-\uDBFF]/.test(before[at - 1] ?? '') ? at - 1 : at;
}

/** "1 token", "3 rows". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** "a, b and c". */
export function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`;
}
