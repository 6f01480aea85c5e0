// How fast the readers of `lossproof monitor` are and how much memory they take, beside plainly reading the same bytes.
// Each file is written here and read in a process of its own. `npm run bench:monitor -- --series 10000 --points 10000`
// is the full size: files of up to 6 GB, one after the other. `--kind` takes one of the kinds below.
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { execaSync } from 'execa';
import { openLogs } from '../../src/monitor/files.ts';
import { maskedCrc32c } from '../../src/monitor/read/tensorboard/crc32c.ts';
import type { LogSink, Series } from '../../src/monitor/series.ts';

const { values } = parseArgs({
  options: {
    series: { type: 'string', default: '1000' },
    points: { type: 'string', default: '2000' },
    kind: { type: 'string', multiple: true },
    read: { type: 'string' },
  },
});

interface Measured {
  readonly points: number;
  readonly seconds: number;
  /** Seconds of all threads: what to compare on a machine that others use, too. */
  readonly processor: number;
  /** Bytes. */
  readonly rss: number;
}

/** Bytes of one step, all series at it. */
type Write = (step: number) => Uint8Array;

/** `train/group/metric_17`: what real names are like. */
const nameOf = (series: number): string => `train/rewards/metric_${series}`;
/** Like measured numbers: as many digits as a float32 that Python prints. */
const measuredAt = (series: number, step: number): number => Math.fround(Math.sin(series + step / 100));

const KINDS: Readonly<Record<string, (series: number) => { readonly name: string; readonly write: Write }>> =
  {
    'one value an event': (series) => ({
      name: 'events.out.tfevents.1',
      write: (step) =>
        joined(Array.from({ length: series }, (_, each) => eventOf(step, [valueMessage(each, step)]))),
    }),
    'all values in an event': (series) => ({
      name: 'events.out.tfevents.1',
      write: (step) =>
        eventOf(
          step,
          Array.from({ length: series }, (_, each) => valueMessage(each, step)),
        ),
    }),
    'JSON lines': (series) => ({
      name: 'metrics.jsonl',
      write: (step) => {
        const pairs = Array.from(
          { length: series },
          (_, each) => `"${nameOf(each)}": ${measuredAt(each, step)}`,
        );
        return Buffer.from(`{"step": ${step}, ${pairs.join(', ')}}\n`);
      },
    }),
    CSV: (series) => ({
      name: 'metrics.csv',
      write: (step) => {
        const cells = Array.from({ length: series }, (_, each) => measuredAt(each, step));
        const header = `step,${Array.from({ length: series }, (_, each) => nameOf(each)).join(',')}\n`;
        return Buffer.from(`${step === 0 ? header : ''}${step},${cells.join(',')}\n`);
      },
    }),
  };

if (values.read !== undefined) await readHere(values.read);
else for (const kind of values.kind ?? Object.keys(KINDS)) bench(kind);

function bench(kind: string): void {
  const make = KINDS[kind];
  if (make === undefined) throw new Error(`${kind}: kinds are ${Object.keys(KINDS).join(', ')}`);
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-monitor-bench-'));
  try {
    const { name, write } = make(Number(values.series));
    const file = join(folder, name);
    const fd = openSync(file, 'w');
    for (let step = 0; step < Number(values.points); step++) writeSync(fd, write(step));
    closeSync(fd);
    const bytes = statSync(file).size;
    const plain = plainly(file);
    const { stdout } = execaSync(process.execPath, [process.argv[1] ?? '', '--read', file], {
      stderr: 'inherit',
    });
    const { points, seconds, processor, rss } = JSON.parse(stdout) as Measured;
    if (points !== Number(values.series) * Number(values.points))
      throw new Error(`${kind}: ${points} points`);
    console.log(
      `${kind}: ${points} points, ${(bytes / 2 ** 20).toFixed(0)} MiB in ${seconds.toFixed(2)} s: ` +
        `${(points / seconds / 1e6).toFixed(2)} million points/s, ${(bytes / 2 ** 20 / seconds).toFixed(0)} MiB/s, ` +
        `of processor time ${processor.toFixed(2)} s, ${(processor / plain).toFixed(0)} times a plain read of the file; ` +
        `at most ${(rss / 2 ** 20).toFixed(0)} MiB of memory`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Seconds of processor time to read the file and do nothing with it. */
function plainly(file: string): number {
  const begin = process.cpuUsage();
  const buffer = new Uint8Array(2 ** 20);
  const fd = openSync(file, 'r');
  while (readSync(fd, buffer) > 0);
  closeSync(fd);
  return processorSince(begin);
}

/** With a sink that does the least that any does: one sum a series. */
async function readHere(file: string): Promise<void> {
  const series = new Map<string, Series>();
  const sums: number[] = [];
  let points = 0;
  const sink: LogSink = {
    series(run, name) {
      const key = `${run}\n${name}`;
      const known = series.get(key);
      if (known !== undefined) return known;
      const made = { index: series.size, run, name, part: '', evaluation: false };
      series.set(key, made);
      sums.push(0);
      return made;
    },
    point({ index }, _step, value) {
      points += 1;
      sums[index] = (sums[index] ?? 0) + value;
    },
    sample() {},
    declare() {},
    complain(sentence) {
      throw new Error(sentence);
    },
  };
  const begin = performance.now();
  const before = process.cpuUsage();
  const source = openLogs([file]);
  if ('problem' in source) throw new Error(source.problem);
  await source.readAll(sink);
  const seconds = (performance.now() - begin) / 1000;
  const processor = processorSince(before);
  // In kilobytes, of the whole life of this process.
  const measured: Measured = { points, seconds, processor, rss: process.resourceUsage().maxRSS * 1024 };
  console.log(JSON.stringify(measured));
}

function processorSince(begin: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1e6;
}

// --- a writer of event files, as small as it can be ---

function valueMessage(series: number, step: number): Uint8Array {
  const tag = Buffer.from(nameOf(series));
  const message = Buffer.alloc(2 + 2 + tag.length + 5);
  message[0] = 0x0a; // Summary.value
  message[1] = message.length - 2;
  message[2] = 0x0a; // tag
  message[3] = tag.length;
  message.set(tag, 4);
  message[4 + tag.length] = 0x15; // simple_value
  message.writeFloatLE(measuredAt(series, step), 5 + tag.length);
  return message;
}

function eventOf(step: number, summary: readonly Uint8Array[]): Uint8Array {
  const content = joined(summary);
  const head = Buffer.alloc(9);
  head[0] = 0x09; // wall_time
  head.writeDoubleLE(1.7e9 + step, 1);
  const data = joined([
    head,
    Uint8Array.from([0x10, ...varint(step), 0x2a, ...varint(content.length)]),
    content,
  ]);
  const record = Buffer.alloc(12 + data.length + 4);
  record.writeUInt32LE(data.length, 0);
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  record.writeUInt32LE(maskedCrc32c(view, 0, 8), 8);
  record.set(data, 12);
  record.writeUInt32LE(maskedCrc32c(view, 12, 12 + data.length), 12 + data.length);
  return record;
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) + 0x80);
  return [...bytes, left];
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}
