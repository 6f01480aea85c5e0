// What may be left of a row that was cut. Which end is lost is the trainer's choice; what stays was there before.
import type { PaddingSide } from '../../vocabulary.ts';

/** Whether `part` is `whole` with some items taken out: in order, none added, none repeated. */
export function isSubsequence<T>(part: readonly T[], whole: readonly T[]): boolean {
  let at = 0;
  for (const item of whole) if (at < part.length && part[at] === item) at++;
  return at === part.length;
}

/**
 * The sides on which `whole` may have been cut to leave `part`: both where nothing is missing, or where the row repeats
 * itself; none where `part` is no end of `whole`.
 */
export function cutSides<T>(part: readonly T[], whole: readonly T[]): readonly PaddingSide[] {
  const missing = whole.length - part.length;
  if (missing < 0) return [];
  const sides: PaddingSide[] = [];
  if (part.every((item, at) => item === whole[at + missing])) sides.push('left');
  if (part.every((item, at) => item === whole[at])) sides.push('right');
  return sides;
}
