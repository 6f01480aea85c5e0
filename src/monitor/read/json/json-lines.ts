// JSON lines: one object a line, of metrics or of a rollout, with other text between. A line counts once it has its end,
// or, at the end of the file, once it is an object: no beginning of an object is one.
import type { LogSink } from '../../series.ts';
import { type Complain, LARGEST_RECORD, type Reader } from '../reader.ts';
import { numberLines } from './number-lines.ts';
import { objectReader, parseObject } from './objects.ts';

export interface LineOptions {
  /** As samples name it. */
  readonly path: string;
  readonly run: string;
}

export function jsonLinesReader({ path, run }: LineOptions, sink: LogSink, complain: Complain): Reader {
  const fast = numberLines(run, sink);
  const objects = objectReader(run, sink);
  let line = 0;
  /** In a line that is done with, too long or read at the end of the file: what follows up to its end belongs to it. */
  let passing = false;
  let other = 0;
  let firstOther = 0;
  let saidOther = false;
  let saidUnstepped = false;

  function unstepped(): void {
    if (saidUnstepped) return;
    saidUnstepped = true;
    complain(
      `Line ${line} names no step (step, global_step, _step, iteration…); the number of the line is taken for it.`,
    );
  }

  /** Of the line bytes[from, to); whether it is an object. */
  function take(bytes: Uint8Array, from: number, to: number): boolean {
    let start = from;
    while (start < to && (bytes[start] as number) <= SPACE) start++;
    if (start === to) return true;
    if (bytes[start] !== OPEN) return false;
    if (fast.read(bytes, start, to, line)) {
      if (!fast.stepped()) unstepped();
      return true;
    }
    const object = parseObject(utf8.decode(bytes.subarray(start, to)));
    if (object === undefined) return false;
    const pushed = objects.push(object, line, `${path} line ${line}`);
    if (pushed === 'points' && objects.stepOf(object) === undefined) unstepped();
    return true;
  }

  function read(bytes: Uint8Array): number {
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(NEWLINE, from);
      if (end < 0) break;
      if (passing) passing = false;
      else {
        line += 1;
        if (!take(bytes, from, end)) {
          other += 1;
          if (other === 1) firstOther = line;
        }
      }
      from = end + 1;
    }
    if (passing) return bytes.length;
    if (bytes.length - from < LARGEST_RECORD) return from;
    line += 1;
    passing = true;
    complain(`Line ${line} is longer than ${LARGEST_RECORD / 2 ** 20} MiB; it is passed over.`);
    return bytes.length;
  }

  function pause(rest: Uint8Array): number {
    if (other > 0 && !saidOther) {
      saidOther = true;
      complain(
        other === 1
          ? `Line ${firstOther} is no JSON object; it is passed over.`
          : `${other} lines are no JSON objects; they are passed over. The first is line ${firstOther}.`,
      );
    }
    if (passing || rest.length === 0) return 0;
    line += 1;
    if (!take(rest, 0, rest.length)) {
      line -= 1;
      return 0;
    }
    passing = true;
    return rest.length;
  }

  return { read, pause };
}

const NEWLINE = 0x0a;
const SPACE = 0x20;
const OPEN = 0x7b;
const utf8 = new TextDecoder();
