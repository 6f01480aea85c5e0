// One command, from its start to its end: seconds, the most memory that it held itself, and what it wrote.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/version.ts';

export interface Measured {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly seconds: number;
  /** Of the processor, however busy it is with others; 0 where the system does not tell. */
  readonly work: number;
  /** 0 where the system does not tell. */
  readonly bytes: number;
  readonly text: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly text: () => string;
  readonly ended: Promise<Measured>;
}

export const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');

/** Node with these words; whoever hangs is killed after `most` seconds, and has no exit code. */
export function running(
  words: readonly string[],
  cwd: string,
  most = 120,
  env: NodeJS.ProcessEnv = {},
): Running {
  const begun = performance.now();
  const child = spawn(process.execPath, words, { cwd, env: { ...process.env, NO_COLOR: '1', ...env } });
  let text = '';
  let bytes = 0;
  let work = 0;
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  const look = setInterval(() => {
    bytes = Math.max(bytes, peakOf(child.pid));
    work = Math.max(work, workOf(child.pid));
  }, LOOK_MILLISECONDS);
  const impatience = setTimeout(() => child.kill('SIGKILL'), 1_000 * most);
  const ended = new Promise<Measured>((resolve) => {
    child.on('close', (code, signal) => {
      clearInterval(look);
      clearTimeout(impatience);
      resolve({ code, signal, seconds: (performance.now() - begun) / 1_000, work, bytes, text });
    });
  });
  return { child, text: () => text, ended };
}

const LOOK_MILLISECONDS = 50;

/** The kernel keeps the most that it ever was: what is missed is the end of a process that ends at once. */
function peakOf(pid: number | undefined): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return 1_024 * Number(kilobytes ?? 0);
  } catch {
    return 0;
  }
}

/** In the program and in the system, as Linux counts them: hundredths of a second. */
function workOf(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}
