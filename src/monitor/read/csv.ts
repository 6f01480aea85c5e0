// A table of metrics as text (RFC 4180, with commas, semicolons or tabs): a header, a column that is the step, numbers.
// A row counts once it has its line end, since the beginning of a number is a number, too.
import type { LogSink, Series } from '../series.ts';
import { exportedOf } from './exported.ts';
import { meaningOf, PASSES, secondsOf } from './json/objects.ts';
import { parseNumber } from './numbers.ts';
import { type Complain, LARGEST_RECORD, type Reader } from './reader.ts';

export interface TableOptions {
  readonly run: string;
  /** One character: `,`, `;` or a tab. */
  readonly delimiter: string;
  /** Nobody writes the file any more: a last row without a line end is said. */
  readonly finished: boolean;
}

export function csvReader(
  { run, delimiter, finished }: TableOptions,
  sink: LogSink,
  complain: Complain,
): Reader {
  const comma = delimiter.charCodeAt(0);
  let row = 0;
  let passing = false;
  let header: readonly string[] | undefined;
  let exported: ReturnType<typeof exportedOf>;
  /** Column of the step, or -1. */
  let stepColumn = -1;
  let timeColumn = -1;
  let series: (Series | undefined)[] = [];
  /** Of the row that is read: starts and ends of its cells. */
  let starts = new Int32Array(64);
  let ends = new Int32Array(64);
  let saidWidth = false;
  /** Of a row whose end is not there yet: bytes that were looked at, and whether they end within quotes. Pieces may be small. */
  let looked = 0;
  let quoted = false;
  const number = { value: 0 };

  /** Cells of bytes[from, to), quotes left on; their count. */
  function split(bytes: Uint8Array, from: number, to: number): number {
    let count = 0;
    let start = from;
    let quoted = false;
    for (let at = from; at <= to; at++) {
      const code = at < to ? (bytes[at] as number) : comma;
      if (code === QUOTE && at < to) quoted = !quoted;
      if (code !== comma || (quoted && at < to)) continue;
      if (count === starts.length) {
        starts = doubled(starts);
        ends = doubled(ends);
      }
      let first = start;
      let last = at;
      while (first < last && (bytes[first] as number) <= SPACE) first++;
      while (last > first && (bytes[last - 1] as number) <= SPACE) last--;
      starts[count] = first;
      ends[count] = last;
      count += 1;
      start = at + 1;
    }
    return count;
  }

  function isNumber(bytes: Uint8Array, cell: number): boolean {
    let from = starts[cell] as number;
    let to = ends[cell] as number;
    if (to - from >= 2 && bytes[from] === QUOTE && bytes[to - 1] === QUOTE) {
      from += 1;
      to -= 1;
    }
    return from < to && parseNumber(bytes, from, to, number);
  }

  function textOf(bytes: Uint8Array, cell: number): string {
    const text = utf8.decode(bytes.subarray(starts[cell], ends[cell]));
    return /^".*"$/s.test(text) ? text.slice(1, -1).replaceAll('""', '"') : text;
  }

  function takeHeader(bytes: Uint8Array, count: number): void {
    const known = new Map<string, Series>();
    series.forEach((each, column) => {
      if (each !== undefined) known.set(header?.[column] ?? '', each);
    });
    header = Array.from({ length: count }, (_, cell) => textOf(bytes, cell));
    exported = exportedOf(header);
    let best = Number.POSITIVE_INFINITY;
    stepColumn = -1;
    timeColumn = -1;
    header.forEach((name, column) => {
      const meaning = meaningOf(name);
      if (meaning === 'time' && timeColumn < 0) timeColumn = column;
      if (typeof meaning === 'string' || meaning.step >= best) return;
      best = meaning.step;
      stepColumn = column;
    });
    series = header.map((name) => known.get(name));
    if (stepColumn < 0)
      complain(`No column is the step (step, global_step, iteration, epoch…); rows are counted instead.`);
  }

  function take(bytes: Uint8Array, from: number, to: number): void {
    const count = split(bytes, from, to);
    if (count === 1 && starts[0] === ends[0]) return;
    if (header === undefined) {
      takeHeader(bytes, count);
      return;
    }
    row += 1;
    if (count !== header.length) {
      // A resumed job may write a header of its own, with other columns.
      if (noNumbers(bytes, count)) takeHeader(bytes, count);
      else if (!saidWidth) {
        saidWidth = true;
        complain(`Row ${row} has ${count} cells, the header ${header.length}; such rows are passed over.`);
      }
      return;
    }
    const step = stepColumn < 0 ? row : isNumber(bytes, stepColumn) ? number.value : Number.NaN;
    if (!Number.isFinite(step)) {
      if (noNumbers(bytes, count)) takeHeader(bytes, count);
      return;
    }
    const time = timeColumn >= 0 && isNumber(bytes, timeColumn) ? secondsOf(number.value) : Number.NaN;
    for (let cell = 0; cell < count; cell++) {
      if (cell === stepColumn || !isNumber(bytes, cell)) continue;
      // A column `time` that is no time of day is how long a step took.
      if (cell === timeColumn && !Number.isNaN(time)) continue;
      let of = series[cell];
      if (of === undefined) {
        const name = header[cell] ?? '';
        const meaning = meaningOf(name);
        // The column of the step was passed over; of others that count, passes are a series.
        if (name === '' || meaning === 'nothing' || (typeof meaning === 'object' && meaning.step !== PASSES))
          continue;
        const column = exported?.[cell];
        if (column?.copy === true) continue;
        of = column === undefined ? sink.series(run, name) : sink.series(column.run ?? run, column.name);
        series[cell] = of;
      }
      sink.point(of, step, number.value, time);
    }
  }

  function noNumbers(bytes: Uint8Array, count: number): boolean {
    for (let cell = 0; cell < count; cell++) if (isNumber(bytes, cell)) return false;
    return true;
  }

  /** The newline that ends the row: one outside of quotes. -1: it is not there yet, and the next look goes on behind this one. */
  function rowEnd(bytes: Uint8Array, from: number): number {
    for (let at = from + looked; at < bytes.length; at++) {
      const code = bytes[at];
      if (code === QUOTE) quoted = !quoted;
      else if (code === NEWLINE && !quoted) {
        looked = 0;
        return at;
      }
    }
    looked = bytes.length - from;
    return -1;
  }

  function read(bytes: Uint8Array): number {
    let from = 0;
    if (passing) {
      const end = bytes.indexOf(NEWLINE);
      if (end < 0) return bytes.length;
      passing = false;
      from = end + 1;
    }
    for (;;) {
      const end = rowEnd(bytes, from);
      if (end < 0) break;
      take(bytes, from, end);
      from = end + 1;
    }
    if (bytes.length - from < LARGEST_RECORD) return from;
    row += 1;
    passing = true;
    looked = 0;
    quoted = false;
    complain(
      `Row ${row} is longer than ${LARGEST_RECORD / 2 ** 20} MiB, or a quote in it is never closed; it is passed over.`,
    );
    return read(bytes.subarray(from)) + from;
  }

  function pause(rest: Uint8Array): number {
    if (finished && !passing && rest.some((code) => code > SPACE))
      complain(`The last row has no line end, so that its last number may be cut off; it is not read.`);
    return 0;
  }

  return { read, pause };
}

function doubled(old: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * old.length);
  larger.set(old);
  return larger;
}

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const SPACE = 0x20;
const utf8 = new TextDecoder();
