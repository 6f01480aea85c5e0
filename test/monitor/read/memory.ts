// A sink that remembers everything, and files in a folder of their own, for the tests of readers.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type LogOptions, openLogs } from '../../../src/monitor/files.ts';
import type { LogSource } from '../../../src/monitor/read/files/log.ts';
import type { Reader } from '../../../src/monitor/read/reader.ts';
import type { LogSink, Sample, Series } from '../../../src/monitor/series.ts';

export type Point = readonly [step: number, value: number, time: number];

export interface Memory extends LogSink {
  /** By `run name`, or by the name alone where the run is ''. */
  readonly points: Record<string, Point[]>;
  readonly samples: Sample[];
  readonly declared: Record<string, unknown>;
  readonly complaints: string[];
  /** [step, value] of a series. */
  values(name: string): (readonly [number, number])[];
}

export function memory(): Memory {
  const points: Record<string, Point[]> = {};
  const series = new Map<string, Series>();
  const kept = new Map<Series, Point[]>();
  const samples: Sample[] = [];
  const declared: Record<string, unknown> = {};
  const complaints: string[] = [];
  return {
    points,
    samples,
    declared,
    complaints,
    values: (name) => (points[name] ?? []).map(([step, value]) => [step, value] as const),
    series(run, name) {
      const key = run === '' ? name : `${run} ${name}`;
      const known = series.get(key);
      if (known !== undefined) return known;
      const made = { index: series.size, run, name, part: '', evaluation: false };
      const list: Point[] = [];
      series.set(key, made);
      kept.set(made, list);
      points[key] = list;
      return made;
    },
    point: (of, step, value, time) => void kept.get(of)?.push([step, value, time]),
    sample: (sample) => void samples.push(sample),
    declare: (_run, name, value) => {
      declared[name] = value;
    },
    complain: (sentence) => void complaints.push(sentence),
  };
}

/** Hands a reader the bytes in pieces of `size`, as a window would, and then the end of the file. */
export function feed(reader: Reader, bytes: Uint8Array, size = bytes.length, from = 0): number {
  let at = from;
  let end = from;
  while (end < bytes.length) {
    end = Math.min(bytes.length, end + Math.max(1, size));
    if (at < end) at += reader.read(bytes.slice(at, end), at);
  }
  return at + reader.pause(bytes.slice(at), at);
}

/** A folder with these files. */
export function folderOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof logs '));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

export function opened(paths: readonly string[], options: LogOptions): LogSource {
  const source = openLogs(paths, options);
  if ('problem' in source) throw new Error(source.problem);
  return source;
}

export function problemOf(paths: readonly string[], options: LogOptions): string {
  const source = openLogs(paths, options);
  return 'problem' in source ? source.problem : 'none';
}

export async function readAll(paths: readonly string[], options: LogOptions): Promise<Memory> {
  const into = memory();
  await opened(paths, options).readAll(into);
  return into;
}
