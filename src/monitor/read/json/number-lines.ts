// Lines of JSON that hold nothing but numbers, read from their bytes: `{"step": 3, "loss": 0.5, "kl": NaN}`. That is most
// of any log of metrics; any other line is left to a parser of JSON.
import type { LogSink, Series } from '../../series.ts';
import { names } from '../names.ts';
import { parseNumber } from '../numbers.ts';
import { meaningOf, PASSES, secondsOf } from './objects.ts';

export interface NumberLines {
  /** Pushes the points of the line bytes[from, to). False: it is no such line, and nothing was pushed. */
  read(bytes: Uint8Array, from: number, to: number, fallbackStep: number): boolean;
  /** Whether the line told its step. */
  stepped(): boolean;
}

export function numberLines(run: string, sink: LogSink): NumberLines {
  const keys = names();
  const series: (Series | undefined)[] = [];
  /** By the number of the key: SERIES, TIME, NOTHING, or from 0 on how good a step it is. */
  let meanings = new Int8Array(1024);
  let found = new Int32Array(1024);
  let values = new Float64Array(1024);
  const number = { value: 0 };
  let stepped = false;

  function keyOf(bytes: Uint8Array, from: number, to: number): number {
    const before = keys.count;
    const key = keys.find(bytes, from, to);
    if (key < before) return key;
    if (key >= meanings.length) {
      const larger = new Int8Array(2 * meanings.length);
      larger.set(meanings);
      meanings = larger;
    }
    const meaning = meaningOf(keys.text(key));
    meanings[key] =
      meaning === 'series'
        ? SERIES
        : meaning === 'time'
          ? TIME
          : meaning === 'nothing'
            ? NOTHING
            : meaning.step;
    return key;
  }

  function keep(count: number, key: number, value: number): void {
    if (count >= found.length) {
      const moreFound = new Int32Array(2 * found.length);
      moreFound.set(found);
      found = moreFound;
      const moreValues = new Float64Array(2 * values.length);
      moreValues.set(values);
      values = moreValues;
    }
    found[count] = key;
    values[count] = value;
  }

  /** How many pairs the line holds; -1: it is no such line. */
  function scan(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    let count = 0;
    while (at < to && (bytes[at] as number) <= SPACE) at++;
    if (bytes[at++] !== OPEN) return -1;
    for (;;) {
      while (at < to && (bytes[at] as number) <= SPACE) at++;
      if (at >= to || bytes[at] !== QUOTE) return -1;
      const keyFrom = ++at;
      while (at < to && !endsKey(bytes[at] as number)) at++;
      if (at >= to || bytes[at] !== QUOTE) return -1;
      const keyTo = at++;
      while (at < to && (bytes[at] as number) <= SPACE) at++;
      if (bytes[at++] !== COLON) return -1;
      while (at < to && (bytes[at] as number) <= SPACE) at++;
      const valueFrom = at;
      while (at < to && !endsValue(bytes[at] as number)) at++;
      if (at >= to) return -1;
      if (plainNumber(bytes, valueFrom) && parseNumber(bytes, valueFrom, at, number)) {
        keep(count, keyOf(bytes, keyFrom, keyTo), number.value);
        count += 1;
      } else if (!isNull(bytes, valueFrom, at)) return -1;
      while (at < to && (bytes[at] as number) <= SPACE) at++;
      if (at >= to) return -1;
      const next = bytes[at++];
      if (next === CLOSE) break;
      if (next !== COMMA) return -1;
    }
    while (at < to && (bytes[at] as number) <= SPACE) at++;
    return at === to ? count : -1;
  }

  function read(bytes: Uint8Array, from: number, to: number, fallbackStep: number): boolean {
    const count = scan(bytes, from, to);
    if (count < 0) return false;
    let best = SERIES;
    let step = fallbackStep;
    let time = Number.NaN;
    for (let index = 0; index < count; index++) {
      const meaning = meanings[found[index] as number] as number;
      if (meaning === SERIES) continue;
      const value = values[index] as number;
      if (meaning === TIME) {
        const seconds = secondsOf(value);
        // `"time": 0.4` is how long a step took.
        if (Number.isNaN(seconds)) meanings[found[index] as number] = SERIES;
        else if (Number.isNaN(time)) time = seconds;
      } else if (meaning < best && Number.isFinite(value)) {
        best = meaning;
        step = value;
      }
    }
    stepped = best < SERIES;
    let pushed = false;
    for (let index = 0; index < count; index++) {
      const key = found[index] as number;
      const meaning = meanings[key] as number;
      if (meaning !== SERIES && !(meaning === PASSES && best < PASSES)) continue;
      let of = series[key];
      if (of === undefined) {
        of = sink.series(run, keys.text(key));
        series[key] = of;
      }
      sink.point(of, step, values[index] as number, time);
      pushed = true;
    }
    return pushed;
  }

  return { read, stepped: () => stepped };
}

// Above every rank of a step.
const SERIES = 100;
const TIME = 101;
const NOTHING = 102;

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** An escape ends it as well: such a key is left to a parser of JSON. */
const endsKey = (code: number): boolean => code === QUOTE || code === BACKSLASH || code < SPACE;
const endsValue = (code: number): boolean => code === COMMA || code === CLOSE || code <= SPACE;

/** JSON numbers begin with a digit or a minus; Python adds NaN and Infinity. No `+1`, no `inf`. */
function plainNumber(bytes: Uint8Array, at: number): boolean {
  const first = bytes[at] as number;
  return (first >= 0x30 && first <= 0x39) || first === 0x2d || first === 0x4e || first === 0x49;
}

function isNull(bytes: Uint8Array, from: number, to: number): boolean {
  return (
    to - from === 4 &&
    bytes[from] === 0x6e &&
    bytes[from + 1] === 0x75 &&
    bytes[from + 2] === 0x6c &&
    bytes[from + 3] === 0x6c
  );
}
