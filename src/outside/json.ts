// The one door for JSON that others wrote: answers, saved cases, traces, golden files, logs, checkpoints, configurations.
// Its depth and its counts are bounded before anything is made of it, and whatever is wrong with it is a value: nothing is
// thrown. Of a name that stands twice in an object the last counts, as in Python. test/architecture/outside.test.ts keeps
// every other JSON.parse out of the house.
import { boundsComplaint, type Counts } from './bounds.ts';
import type { Decoded } from './decoded.ts';
import { onOneLine } from './text.ts';
import { parseTolerant } from './tolerant.ts';

/** JSON as the standard has it; a byte order mark before it is passed over. */
export function parseStrict(text: string): Decoded<unknown> {
  const bare = withoutMark(text);
  const complaint = boundsComplaint(bare);
  if (complaint !== undefined) return { complaint };
  try {
    return { ok: JSON.parse(bare) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { complaint: onOneLine(why, SHOWN_REASON) };
  }
}

/** JSON as Python's json module writes it: also bare NaN and Infinity. A complaint names the character where it stops being JSON. */
export function parsePython(text: string, most?: Counts): Decoded<unknown> {
  const complaint = boundsComplaint(text, most);
  if (complaint !== undefined) return { complaint };
  try {
    return { ok: JSON.parse(text) };
  } catch {
    return parseTolerant(text);
  }
}

/** Editors of one system begin their files with it. */
export function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

export const BYTE_ORDER_MARK = '\uFEFF';

/** The engine quotes the text: a long one would fill the screen, and a line break in it begin a line of its own. */
const SHOWN_REASON = 160;
