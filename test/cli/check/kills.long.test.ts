// A run that is killed again and again, at any moment, and goes on each time: no verdict that was told is lost or judged
// twice, the whole is that of a run that nobody killed, and of no trainer anything is left (on Linux, by its environment).
// So many kills: LOSSPROOF_KILLS; `npm run test:kills` has 10,000.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { PropertyResult } from '../../../src/index.ts';
import { readEvents } from '../../../src/report/machine/ndjson.ts';
import { type Run, runsOf } from '../../../src/report/runs.ts';
import { factOf, processes } from '../../../src/trainer/processes/proc.ts';
import { MARK } from '../../../src/trainer/processes/strays.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';

const KILLS = Number(process.env.LOSSPROOF_KILLS ?? 12);
const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
const LAST = join('.lossproof', 'last-run.ndjson');
const WORDS = ['check', '--bundled', '--cases', '60', '--only', 'mask,kl,advantages,loss,reward', '--quiet'];

const folder = mkdtempSync(join(tmpdir(), 'loss proof kills '));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Inherited by every trainer of this file, beside the mark of its own run. */
const OURS = `LOSSPROOF_KILLS_OF=${process.pid}`;

const start = (cwd: string, ...more: readonly string[]) =>
  execa(process.execPath, [MAIN, ...WORDS, ...more], {
    cwd,
    reject: false,
    all: true,
    env: { LOSSPROOF_KILLS_OF: String(process.pid) },
  });

/** Trainers that live, by the two things in their environment. */
const trainers = (): readonly number[] =>
  processes().filter((pid) => {
    const environment = factOf(pid, 'environ')?.split('\0') ?? [];
    return environment.includes(OURS) && environment.some((each) => each.startsWith(`${MARK}=`));
  });

function told(cwd: string): Run | undefined {
  const file = join(cwd, LAST);
  return existsSync(file) ? runsOf(readEvents(readFileSync(file, 'utf8')).events).at(-1) : undefined;
}

/** Less what hangs on the clock. */
const plain = ({ milliseconds: _, ...result }: PropertyResult): object => result;

test(`${KILLS} kills lose no verdict`, { timeout: 60_000 + KILLS * 30_000 }, async () => {
  const whole = await fresh('whole');
  const begun = performance.now();
  expect((await start(whole, '--seed', '11')).exitCode).toBe(0);
  const took = performance.now() - begun;
  const wanted = told(whole);
  let kills = 0;
  let seen = 0;
  for (let round = 0; kills < KILLS; round++) {
    const cwd = await fresh(`round ${round}`);
    let kept: readonly PropertyResult[] = [];
    for (;;) {
      // Where no run has begun to be told, there is nothing to go on with.
      const goesOn = told(cwd) !== undefined;
      const child = start(cwd, ...(goesOn ? ['--resume'] : ['--seed', '11']));
      const [share = 0] = fc.sample(fc.double({ min: 0, max: 1, noNaN: true }), {
        numRuns: 1,
        seed: 1_000 * round + kills,
      });
      const ended = await Promise.race([child, sleep(share * took).then(() => undefined)]);
      if (ended === undefined) {
        child.kill('SIGKILL');
        await child;
        kills++;
        seen += trainers().length;
      }
      const now = told(cwd)?.results ?? [];
      for (const result of kept)
        expect(
          now.find(({ id }) => id === result.id),
          `${result.id} after kill ${kills}`,
        ).toEqual(result);
      expect(new Set(now.map(({ id }) => id)).size).toBe(now.length);
      kept = now;
      if (ended !== undefined) expect(ended.exitCode, ended.all).toBe(0);
      // It may be killed when all was told.
      if (ended !== undefined || told(cwd)?.end !== undefined) break;
    }
    const byId = (a: PropertyResult, b: PropertyResult): number => a.id.localeCompare(b.id);
    expect(kept.toSorted(byId).map(plain)).toEqual(wanted?.results.toSorted(byId).map(plain));
  }
  if (process.platform !== 'linux') return;
  // A trainer lives on for the moment in which it reads the end of its input: who looks for it must be able to find it.
  expect(seen).toBeGreaterThan(0);
  await expect.poll(trainers, { timeout: 20_000 }).toEqual([]);
});

async function fresh(name: string): Promise<string> {
  return mkdtempSync(join(folder, `${name} `));
}
