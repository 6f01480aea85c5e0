// JSON lines: one object a line, of metrics or of a rollout, with other text between; or what programs print for people, dicts of
// metrics and lines of names and numbers. A line counts once it has its end, or, at the end of the file, once it is an object: no
// beginning of an object is one.
import type { JsonObject } from '../../../protocol/result.ts';
import { roleOf } from '../../roles.ts';
import type { LogSink } from '../../series.ts';
import { parsePairs } from '../printed/pairs.ts';
import { parsePythonDict } from '../printed/python-dict.ts';
import { type Complain, LARGEST_RECORD, type Reader } from '../reader.ts';
import { numberLines } from './number-lines.ts';
import { objectReader, PASSES, parseObject, rankOfStep } from './objects.ts';

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
  /** Printed lines of training so far that name no step but a pass over the data. */
  let logged = 0;
  /** A printed line has named a step. */
  let counts = false;
  /** There were objects or dicts of metrics: what is printed beside them says the same once more. */
  let structured = false;

  function unstepped(): void {
    if (saidUnstepped) return;
    saidUnstepped = true;
    complain(
      `Line ${line} names no step (step, global_step, _step, iteration…); the number of the line is taken for it.`,
    );
  }

  /** Of the line bytes[from, to), which may go on where it has not ended; whether it is an object. */
  function take(bytes: Uint8Array, from: number, to: number, ended: boolean): boolean {
    let start = from;
    while (start < to && (bytes[start] as number) <= SPACE) start++;
    if (start === to) return true;
    // A bar of progress is written over: what stands behind it is the line.
    if (bytes[start] !== OPEN) start += bytes.subarray(start, to - 1).lastIndexOf(RETURN) + 1;
    if (bytes[start] !== OPEN) return ended && takePrinted(utf8.decode(bytes.subarray(start, to)));
    if (fast.read(bytes, start, to, line)) {
      structured = true;
      if (!fast.stepped()) unstepped();
      return true;
    }
    const text = utf8.decode(bytes.subarray(start, to));
    const object = parseObject(text) ?? numbered(parsePythonDict(text));
    if (object === undefined) return false;
    const pushed = objects.push(object, line, `${path} line ${line}`);
    structured ||= pushed === 'points';
    if (pushed === 'points' && objects.stepOf(object) === undefined) unstepped();
    return true;
  }

  function takePrinted(text: string): boolean {
    const printed = structured ? undefined : parsePairs(text);
    if (printed === undefined) return false;
    const passes = rankOfStep(printed) >= PASSES;
    // What is summed up of a pass, among lines of its steps, has no place among them.
    if (passes && counts) return false;
    counts ||= !passes;
    objects.push(numbered(printed), line, `${path} line ${line}`);
    return true;
  }

  /** Of what names no step but an epoch, rounded: which of those with a training loss it is, or belongs to. */
  function numbered<P extends JsonObject | undefined>(printed: P): P | JsonObject {
    if (printed === undefined || rankOfStep(printed) < PASSES) return printed;
    if (hasTrainingLoss(printed)) logged += 1;
    if (!saidUnstepped)
      complain(
        'Printed lines name no step: it is the number of those with a loss so far. What the trainer logs to files has the steps.',
      );
    saidUnstepped = true;
    return { ...printed, step: logged };
  }

  function read(bytes: Uint8Array): number {
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(NEWLINE, from);
      if (end < 0) break;
      if (passing) passing = false;
      else {
        line += 1;
        if (!take(bytes, from, end, true)) {
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
          ? `Line ${firstOther} is no JSON object and no line of metrics; it is passed over.`
          : `${other} lines are no JSON objects and no lines of metrics; they are passed over. The first is line ${firstOther}.`,
      );
    }
    if (passing || rest.length === 0) return 0;
    line += 1;
    if (!take(rest, 0, rest.length, false)) {
      line -= 1;
      return 0;
    }
    passing = true;
    return rest.length;
  }

  return { read, pause };
}

/** transformers sums a training up in a dict with its time. */
function hasTrainingLoss(printed: JsonObject): boolean {
  if ('train_runtime' in printed) return false;
  return Object.keys(printed).some((name) => {
    const { role, evaluation } = roleOf(name);
    return role === 'loss' && !evaluation;
  });
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const OPEN = 0x7b;
const utf8 = new TextDecoder();
