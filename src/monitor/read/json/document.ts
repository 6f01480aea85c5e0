// One JSON document that is a log: trainer_state.json of transformers, whose `log_history` is the list of what was logged,
// or a list of such objects alone. Its entries are read one by one, so that no document is held as a whole. It is written
// anew each time, so that it is read anew each time, too, and what was pushed before is passed over.
import type { LogSink } from '../../series.ts';
import { type Complain, LARGEST_RECORD, type Reader } from '../reader.ts';
import { objectReader, parseObject } from './objects.ts';

/** How far a run's entries were pushed, over all files that hold them: checkpoint-20 repeats checkpoint-10. */
export interface Pushed {
  step: number;
  /** Entries at that step. */
  entries: number;
}

export function nothingPushed(): Pushed {
  return { step: Number.NEGATIVE_INFINITY, entries: 0 };
}

export interface DocumentOptions {
  /** As samples name it. */
  readonly path: string;
  readonly run: string;
  readonly pushed: Pushed;
}

export function documentReader(
  { path, run, pushed }: DocumentOptions,
  sink: LogSink,
  complain: Complain,
): Reader {
  const objects = objectReader(run, sink);
  const before = { ...pushed };
  /** Where the reading stands: before the document, in the object, in the list, or behind what it can read. */
  let state: 'start' | 'object' | 'list' | 'end' = 'start';
  let isState = false;
  let entry = 0;
  let atThreshold = 0;

  function takeEntry(text: string): void {
    entry += 1;
    const object = parseObject(text);
    if (object === undefined) {
      if (text.startsWith('{'))
        complain(`Entry ${entry} of the list is no JSON object that can be read; it is passed over.`);
      return;
    }
    const step = objects.stepOf(object) ?? entry;
    if (step < before.step) return;
    if (step === before.step) {
      atThreshold += 1;
      if (atThreshold <= before.entries) return;
    }
    objects.push(object, step, `${path} entry ${entry}`);
    if (step > pushed.step) {
      pushed.step = step;
      pushed.entries = 0;
    }
    if (step === pushed.step) pushed.entries += 1;
  }

  function takeField(key: string, text: string): void {
    if (/^[[{]/.test(text)) return;
    const value = parseObject(`{"value":${text}}`)?.value;
    if (
      value === null ||
      typeof value === 'string' ||
      typeof value === 'number' ||
      typeof value === 'boolean'
    )
      sink.declare(run, key, value);
  }

  function giveUp(at: number, why: string): void {
    state = 'end';
    complain(`At byte ${at} ${why}; the rest is not read.`);
  }

  /** One step forward from `from`: the place behind it, or -1 where more bytes are needed. */
  function next(bytes: Uint8Array, from: number, at: number): number {
    const start = afterSpace(bytes, from);
    if (start >= bytes.length) return -1;
    const code = bytes[start] as number;
    if (state === 'start') {
      if (code === BRACE || code === BRACKET) state = code === BRACE ? 'object' : 'list';
      else giveUp(at + start, 'it is no JSON document');
      return start + 1;
    }
    if (code === COMMA) return start + 1;
    if (code === END_BRACKET && state === 'list') {
      state = isState ? 'object' : 'end';
      return start + 1;
    }
    if (code === END_BRACE && state === 'object') {
      state = 'end';
      return start + 1;
    }
    if (state === 'list') {
      const end = valueEnd(bytes, start);
      if (end < 0) return -1;
      if (end === start) giveUp(at + start, 'the list is no JSON');
      else takeEntry(utf8.decode(bytes.subarray(start, end)));
      return end;
    }
    return nextField(bytes, start, at);
  }

  function nextField(bytes: Uint8Array, start: number, at: number): number {
    if (bytes[start] !== QUOTE) {
      giveUp(at + start, 'the object is no JSON');
      return start;
    }
    const keyEnd = valueEnd(bytes, start);
    if (keyEnd < 0) return -1;
    const colon = afterSpace(bytes, keyEnd);
    if (colon >= bytes.length) return -1;
    const value = afterSpace(bytes, colon + 1);
    if (value >= bytes.length) return -1;
    const key = utf8.decode(bytes.subarray(start + 1, keyEnd - 1));
    if (key === 'log_history' && bytes[value] === BRACKET) {
      state = 'list';
      isState = true;
      return value + 1;
    }
    const end = valueEnd(bytes, value);
    if (end < 0) return -1;
    if (end === value || bytes[colon] !== COLON) giveUp(at + start, 'the object is no JSON');
    else takeField(key, utf8.decode(bytes.subarray(value, end)));
    return end;
  }

  function read(bytes: Uint8Array, at: number): number {
    let from = 0;
    while (state !== 'end') {
      const end = next(bytes, from, at);
      if (end < 0) {
        if (bytes.length - from < LARGEST_RECORD) return from;
        giveUp(at + from, `a value is longer than ${LARGEST_RECORD / 2 ** 20} MiB`);
        break;
      }
      from = end;
    }
    return bytes.length;
  }

  return { read, pause: () => 0 };
}

/** The place behind the JSON value that begins at `from`; -1: it is not whole; `from`: it is none. */
function valueEnd(bytes: Uint8Array, from: number): number {
  let depth = 0;
  for (let at = from; at < bytes.length; at++) {
    const code = bytes[at] as number;
    if (code === QUOTE) {
      for (at += 1; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at += 1;
      if (at >= bytes.length) return -1;
      if (depth === 0) return at + 1;
    } else if (code === BRACE || code === BRACKET) depth += 1;
    else if (code === END_BRACE || code === END_BRACKET) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (code === COMMA || code <= SPACE)) return at;
  }
  return -1;
}

function afterSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] as number) <= SPACE) at++;
  return at;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const END_BRACKET = 0x5d;
const BRACE = 0x7b;
const END_BRACE = 0x7d;
const utf8 = new TextDecoder();
