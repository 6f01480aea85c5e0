// Runs around each test file: counts the processes that it starts and the CPU time that it takes. A file of `npm test` may
// start MOST_STARTS processes (vitest.config.ts). With LOSSPROOF_TEST_CPU=FILE the counts are written, for `npm run test:slowest`.
import child from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, expect, inject } from 'vitest';
import type { Spent } from '../scripts/slowest.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The most processes that a file of the project may start; absent: any number. */
    mostStarts: number | undefined;
  }
}

/** Clock ticks of /proc per second, on every Linux. */
const TICKS = 100;

/** Files share a worker, and so this count: it is kept where the next file finds it. */
const kept = globalThis as { lossproofStarts?: { starts: number } };
const counter = kept.lossproofStarts ?? countStarts();
kept.lossproofStarts = counter;
const before = spent();

afterAll(() => {
  const after = spent();
  const path = expect.getState().testPath ?? '';
  const starts = after.starts - before.starts;
  const file = process.env.LOSSPROOF_TEST_CPU;
  if (file !== undefined) {
    const line: Spent = {
      path,
      own: after.own - before.own,
      children: after.children - before.children,
      starts,
    };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  }
  const most = inject('mostStarts') ?? Number.POSITIVE_INFINITY;
  expect(
    starts,
    `${path} starts ${starts} processes. A file of \`npm test\` starts at most ${most}: share one process among its tests, call the command in this process, or call the file *.slow.test.ts.`,
  ).toBeLessThanOrEqual(most);
});

/** By node:child_process: `spawn` and what is made of it publish on a channel, and those that wait are wrapped. */
function countStarts(): { starts: number } {
  const count = { starts: 0 };
  subscribe('child_process', () => {
    count.starts += 1;
  });
  for (const name of ['spawnSync', 'execFileSync', 'execSync'] as const) {
    const original = child[name] as (...args: unknown[]) => unknown;
    Object.assign(child, {
      [name]: (...args: unknown[]) => {
        count.starts += 1;
        return original(...args);
      },
    });
  }
  syncBuiltinESMExports();
  return count;
}

function spent(): Omit<Spent, 'path'> {
  const { user, system } = process.cpuUsage();
  return { own: (user + system) / 1e6, children: childrenSeconds(), starts: counter.starts };
}

/** Node does not tell (RUSAGE_CHILDREN); without /proc it is 0. */
function childrenSeconds(): number {
  const file = '/proc/self/stat';
  if (!existsSync(file)) return 0;
  const text = readFileSync(file, 'utf8');
  // cutime and cstime, counted from the end of the name, which may have spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS;
}
