// A byte stream as lines. Splits at the byte 0x0A, which no UTF-8 sequence contains, so characters cut in two by
// a chunk boundary need no care. Does not know what a line means.
import { isUtf8 } from 'node:buffer';

/** A line that is none: `bytes` of it are quoted in `start`, undecodable bytes as U+FFFD. */
export interface LineFault {
  readonly fault: 'too long' | 'not UTF-8';
  readonly start: string;
  readonly bytes: number;
}
export type Line = string | LineFault;

export interface LineSplitter {
  /** The lines that this chunk completes, without their newline (or CRLF). */
  push(chunk: Buffer): readonly Line[];
  /** What came after the last newline, '' when nothing did. */
  rest(): string;
}

/**
 * 64 MiB: four times a (8, 512, 512) float32 cube in base64. A trainer that writes more without a newline is
 * looping, and must not take the harness's memory with it.
 */
export const MAX_LINE_BYTES = 64 * 2 ** 20;
const NEWLINE = 0x0a;
const QUOTED_BYTES = 200;

export function lineSplitter(maxLineBytes = MAX_LINE_BYTES): LineSplitter {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let dropping = false; // inside a line already reported as too long

  function push(chunk: Buffer): readonly Line[] {
    const last = chunk.lastIndexOf(NEWLINE);
    if (last < 0) return hold(chunk);
    let whole = chunk.subarray(0, last);
    if (dropping) {
      dropping = false;
      const end = chunk.indexOf(NEWLINE);
      whole = end === last ? chunk.subarray(0, 0) : whole.subarray(end + 1);
      if (end === last) return hold(chunk.subarray(last + 1));
    } else if (pendingBytes > 0) {
      whole = Buffer.concat([...pending, whole]);
    }
    pending = [];
    pendingBytes = 0;
    const lines = decode(whole, maxLineBytes);
    const after = last + 1 < chunk.length ? hold(chunk.subarray(last + 1)) : [];
    return after.length > 0 ? [...lines, ...after] : lines;
  }

  function hold(bytes: Buffer): readonly Line[] {
    if (dropping || bytes.length === 0) return [];
    pending.push(bytes);
    pendingBytes += bytes.length;
    if (pendingBytes <= maxLineBytes) return [];
    const fault = faultOf('too long', Buffer.concat(pending));
    pending = [];
    pendingBytes = 0;
    dropping = true;
    return [fault];
  }

  return { push, rest: () => Buffer.concat(pending).toString('utf8') };
}

function decode(whole: Buffer, maxLineBytes: number): readonly Line[] {
  if (whole.length <= maxLineBytes && isUtf8(whole)) {
    const text = whole.toString('utf8');
    const lines = text.split('\n');
    return text.includes('\r') ? lines.map(withoutReturn) : lines;
  }
  const lines: Line[] = [];
  for (let start = 0; start <= whole.length; ) {
    const found = whole.indexOf(NEWLINE, start);
    const end = found < 0 ? whole.length : found;
    const bytes = whole.subarray(start, end);
    if (bytes.length > maxLineBytes) lines.push(faultOf('too long', bytes));
    else if (!isUtf8(bytes)) lines.push(faultOf('not UTF-8', bytes));
    else lines.push(withoutReturn(bytes.toString('utf8')));
    start = end + 1;
  }
  return lines;
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

function faultOf(fault: LineFault['fault'], bytes: Buffer): LineFault {
  return { fault, start: bytes.subarray(0, QUOTED_BYTES).toString('utf8'), bytes: bytes.length };
}
