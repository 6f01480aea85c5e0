// A run of a torch trainer with one worker and with two, as a user starts it: by the clock, because it is what a user waits for,
// and what it took of the processors, which says how little it could have been.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { readEvents } from '../../../src/report/machine/ndjson.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { median } from './exponents.ts';
import { ownSeconds, trainersOf } from './processes.ts';

export interface WorkersRun {
  readonly workers: number;
  /** Seconds by the clock, from the command to its end. */
  readonly wall: number;
  /** And until the first property begins: what has started and been measured by then was not shared. */
  readonly first: number;
  /** Seconds of processor time, to within a look. */
  readonly engine: number;
  /** Of each trainer process, the largest first: what fails is asked of a fresh one, too. */
  readonly trainers: readonly number[];
  /** A line for each property. */
  readonly verdicts: readonly string[];
  /** As the trainer says it: `python 3.11.7, torch 2.13.0`. */
  readonly runtime: string;
}

/** With one, and with two. */
export type Pair = readonly [WorkersRun, WorkersRun];

export interface WorkersOptions {
  readonly python: string;
  readonly level: string;
  readonly cases: number;
}

const LOOK_MILLISECONDS = 100;

export async function pairOf(options: WorkersOptions): Promise<Pair> {
  return [await watched(1, options), await watched(2, options)];
}

export async function watched(
  workers: number,
  { python, level, cases }: WorkersOptions,
): Promise<WorkersRun> {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-workers-'));
  const main = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
  const file = join(folder, 'events.ndjson');
  const options = ['--level', level, '--cases', String(cases), '--seed', '1', '--quiet', '--events', file];
  const trainer = ['--adapter', 'trl-sft', '--python', python];
  const begun = performance.now();
  const now = (): number => (performance.now() - begun) / 1_000;
  const child = execa(
    process.execPath,
    [main, 'check', ...trainer, ...options, '--workers', String(workers)],
    { cwd: folder, reject: false },
  );
  let wall: number | undefined;
  void child.then(() => {
    wall = now();
  });
  const trainers = new Map<number, number>();
  let engine = 0;
  let first: number | undefined;
  while (wall === undefined) {
    if (child.pid !== undefined) {
      for (const each of trainersOf(child.pid)) trainers.set(each.pid, each.seconds);
      engine = ownSeconds(child.pid) ?? engine;
    }
    if (first === undefined && existsSync(file) && readFileSync(file, 'utf8').includes('"property-start"'))
      first = now();
    await sleep(LOOK_MILLISECONDS);
  }
  const { exitCode, stdout, stderr } = await child;
  const { events } = readEvents(existsSync(file) ? readFileSync(file, 'utf8') : '');
  rmSync(folder, { recursive: true });
  // What fails is no matter here.
  if ((exitCode !== 0 && exitCode !== 1) || first === undefined) throw new Error(`${stdout}\n${stderr}`);
  if (trainers.size < workers) throw new Error(`${trainers.size} trainers were seen, of ${workers}`);
  return {
    workers,
    wall,
    first,
    engine,
    trainers: [...trainers.values()].sort((a, b) => b - a),
    verdicts: events
      .flatMap((event) => (event.type === 'property-end' ? `${event.result.id} ${event.result.verdict}` : []))
      .sort(),
    runtime:
      events.flatMap((event) => (event.type === 'run-start' ? (event.hello.runtime ?? []) : []))[0] ?? '',
  };
}

/** Of the time of one, what two may take. */
export const MOST_SHARE = 0.6;

export interface Share {
  readonly lines: readonly string[];
  readonly problems: readonly string[];
}

/** What pairs say: the ratio, the least that it could be, and what both are made of. */
export function shareOf(pairs: readonly Pair[], cores = availableParallelism()): Share {
  const ratios = pairs.map(([one, two]) => two.wall / one.wall);
  const ratio = median(ratios);
  // All cores busy from the first moment to the last.
  const floor = median(pairs.map(([one, two]) => (two.engine + sum(two.trainers)) / cores / one.wall));
  const other = pairs.some(([one, two]) => one.verdicts.join('\n') !== two.verdicts.join('\n'));
  const over = `two workers take ${ratio.toFixed(2)} of the time of one`;
  return {
    lines: [
      '| workers | s by the clock | s until the first property | s of processor time: engine | each trainer |',
      '| --- | --- | --- | --- | --- |',
      ...([0, 1] as const).map((at) => row(pairs.map((pair) => pair[at]))),
      '',
      `By the clock ${over}, the median of ${ratios.map((each) => each.toFixed(2)).join(', ')}; at most ${MOST_SHARE}. With all of ${cores} cores busy from beginning to end it would be ${floor.toFixed(2)}.`,
    ],
    problems: [
      ...(ratio > MOST_SHARE ? [`${over}, at most ${MOST_SHARE} is allowed`] : []),
      ...(other ? ['two workers come to other verdicts than one'] : []),
    ],
  };
}

function row(runs: readonly WorkersRun[]): string {
  const of = (part: (run: WorkersRun) => number): string => median(runs.map(part)).toFixed(1);
  const most = Math.min(...runs.map(({ trainers }) => trainers.length));
  const each = Array.from({ length: most }, (_, at) => of(({ trainers }) => trainers[at] ?? Number.NaN));
  const cells = [
    of(({ wall }) => wall),
    of(({ first }) => first),
    of(({ engine }) => engine),
    each.join(', '),
  ];
  return `| ${[runs[0]?.workers, ...cells].join(' | ')} |`;
}

const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0);
