// What benches share: the machine's name, ratios within a round, and the lines that go to the screen and into a page.
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { writeMeasured } from '../docs/measured.ts';
import { median } from './scaling/exponents.ts';

/** `Node v20.20.2, Intel(R) Xeon(R) Processor, 2 cores`. */
export function machine(): string {
  return `Node ${process.version}, ${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores`;
}

export interface Sheet {
  readonly print: (line: string) => void;
  /** The head of a table, and then its rows. */
  readonly table: (columns: readonly string[], rows: readonly (readonly string[])[]) => void;
  /** A goal that is not met: said at the end, and the exit code is 1. */
  readonly miss: (sentence: string) => void;
  /** Into docs/benchmarks.md between the comments of this name, where `--write` was given. */
  readonly end: (name: string) => void;
}

export function openSheet(): Sheet {
  const lines: string[] = [];
  const missed: string[] = [];
  const print = (line: string): void => {
    lines.push(line);
    process.stdout.write(`${line}\n`);
  };
  return {
    print,
    table(columns, rows) {
      for (const cells of [columns, columns.map(() => '---'), ...rows]) print(`| ${cells.join(' | ')} |`);
    },
    miss: (sentence) => void missed.push(sentence),
    end(name) {
      if (process.argv.includes('--write')) writeMeasured('benchmarks.md', name, lines);
      for (const sentence of missed) process.stderr.write(`${sentence}\n`);
      if (missed.length > 0) process.exitCode = 1;
    },
  };
}

/** The median of the ratios within a round: contestants take turns, so that ratios hold where times do not. */
export function medianRatio(over: readonly number[], under: readonly number[]): number {
  return median(over.map((value, round) => value / (under[round] ?? Number.NaN)));
}

export interface Spent {
  /** Processor time of a command and all it starts: the same on a machine that others use, too. */
  readonly milliseconds: number;
  /** The largest peak of one of its processes. */
  readonly megabytes: number;
}

/** Fails where the command does. */
export function spentBy(command: readonly string[], options: { readonly cwd?: string } = {}): Spent {
  const measured = [
    'import resource, subprocess, sys',
    'subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)',
    'used = resource.getrusage(resource.RUSAGE_CHILDREN)',
    'print(1000 * (used.ru_utime + used.ru_stime), used.ru_maxrss / 1000)',
  ].join('\n');
  const told = execFileSync('python3', ['-c', measured, ...command], { encoding: 'utf8', ...options });
  const [milliseconds = Number.NaN, megabytes = Number.NaN] = told.split(' ').map(Number);
  return { milliseconds, megabytes };
}
