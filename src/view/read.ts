// A data set's bytes as rows: JSON lines, or one JSON array. Nothing in a file can stop the reading; what is no JSON is
// a problem of its line.
import type { Decoded } from '../outside/decoded.ts';
import { parseStrict } from '../outside/json.ts';

export interface Entry {
  /** The line in the file, from 1; in a JSON array, the item. */
  readonly number: number;
  readonly value?: unknown;
  readonly problem?: string;
  /** Its length is all that is wrong with it. */
  readonly long?: true;
  /** Of several files, the one that it is in; absent: the first. */
  readonly from?: number;
}

type Parse = (text: string) => Decoded<unknown>;

/** Rows in the order of the file; empty lines are passed over. */
export function* entriesOf(bytes: Uint8Array, parse: Parse = parseStrict): Generator<Entry> {
  const whole = wholeOf(bytes);
  if (whole !== undefined) {
    yield* whole.map((value, at) => ({ number: at + 1, value }));
    return;
  }
  let number = 0;
  for (const line of linesOf(bytes)) {
    number++;
    if (line.length > MOST_LINE) {
      const problem = `The line has ${line.length.toLocaleString('en')} bytes; ${MOST_LINE.toLocaleString('en')} are read at most.`;
      yield { number, problem, long: true };
      continue;
    }
    const text = decode(line).trim();
    if (text !== '') yield entryOf(number, text, parse);
  }
}

export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

/** What the bytes are, where they are certainly no JSON. */
export function formatOf(bytes: Uint8Array): string | undefined {
  const starts = (...head: readonly number[]): boolean => head.every((byte, at) => bytes[at] === byte);
  if (starts(0x28, 0xb5, 0x2f, 0xfd) || starts(0x50, 0x4b, 0x03, 0x04)) return 'compressed; unpack it first';
  if (starts(0x41, 0x52, 0x52, 0x4f, 0x57))
    return 'an Arrow file; write it as JSON lines with dataset.to_json("data.jsonl")';
  if (starts(0xff, 0xfe) || starts(0xfe, 0xff)) return 'written in UTF-16; write it in UTF-8';
  return undefined;
}

// --- helpers ---

/** Two million ids: no row is as long. */
const MOST_LINE = 2 ** 23;
const NEWLINE = 0x0a;
const WHITE = new Set([0x20, 0x09, NEWLINE, 0x0d, 0xef, 0xbb, 0xbf]);

/** TextDecoder drops a leading BOM, and what is no UTF-8 becomes U+FFFD. */
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** An array or one object over several lines; undefined for JSON lines. */
function wholeOf(bytes: Uint8Array): readonly unknown[] | undefined {
  let at = 0;
  while (WHITE.has(bytes[at] ?? 0)) at++;
  const first = String.fromCharCode(bytes[at] ?? 0);
  if ((first !== '[' && first !== '{') || bytes.length > MOST_LINE) return undefined;
  // The first line by itself is JSON: so are the others, or they are problems of their own.
  const end = bytes.indexOf(NEWLINE, at);
  if (
    end >= 0 &&
    (first === '{' || hasMore(bytes, end)) &&
    parsed(decode(bytes.subarray(at, end))) !== undefined
  )
    return undefined;
  const value = parsed(decode(bytes));
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return [value];
  const isMessage = (each: unknown): boolean => typeof each === 'object' && each !== null && 'role' in each;
  return value.length > 0 && value.every(isMessage) ? [value] : value;
}

function hasMore(bytes: Uint8Array, from: number): boolean {
  for (let at = from; at < bytes.length; at++) if (!WHITE.has(bytes[at] ?? 0)) return true;
  return false;
}

function parsed(text: string): unknown {
  const read = parseStrict(text);
  return 'ok' in read ? read.ok : undefined;
}

function entryOf(number: number, text: string, parse: Parse): Entry {
  const read = parse(text);
  return 'ok' in read
    ? { number, value: read.ok }
    : { number, problem: `The line is not JSON: ${read.complaint.slice(0, SHOWN_REASON)}` };
}

/** The engine quotes the text; a long one would fill the screen. */
const SHOWN_REASON = 120;

function* linesOf(bytes: Uint8Array): Generator<Uint8Array> {
  let from = 0;
  while (from < bytes.length) {
    const end = bytes.indexOf(NEWLINE, from);
    yield bytes.subarray(from, end < 0 ? bytes.length : end);
    if (end < 0) return;
    from = end + 1;
  }
}
