// Runs that are killed again and again, at any moment, and go on each time: no verdict that was told is lost or judged twice, the
// whole is that of a run that nobody killed, golden files are whole or not there, and of no trainer anything is left (on Linux,
// by its environment). So many kills: LOSSPROOF_KILLS; `npm run test:kills` has 10,000.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readGolden } from '../../../src/golden/folder.ts';
import type { PropertyResult } from '../../../src/index.ts';
import { readEvents } from '../../../src/report/machine/ndjson.ts';
import { type Run, runsOf } from '../../../src/report/runs.ts';
import { factOf, processes } from '../../../src/trainer/processes/proc.ts';
import { MARK } from '../../../src/trainer/processes/strays.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { TRAINER } from '../../trainer/misbehaving.ts';

const KILLS = Number(process.env.LOSSPROOF_KILLS ?? 12);
const LANES = Math.min(2, availableParallelism());
const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
const LAST = join('.lossproof', 'last-run.ndjson');
const GOLDEN = 'golden';

const folder = mkdtempSync(join(tmpdir(), 'loss proof kills '));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Inherited by every trainer of this file, beside the mark of its own run. */
const OURS = `LOSSPROOF_KILLS_OF=${process.pid}`;
/** One that is right, and starts in no time: to start is most of what a kill costs. */
const COMMAND = ['--', 'python3', '-S', TRAINER, 'CRLF'];
const CHECK = ['check', '--only', 'collate,extract', '--no-profile', '--cases', '200', '--quiet'];

const start = (cwd: string, words: readonly string[]) =>
  execa(process.execPath, [MAIN, ...words, ...COMMAND], {
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
const byId = (a: PropertyResult, b: PropertyResult): number => a.id.localeCompare(b.id);
const plainly = (results: readonly PropertyResult[] = []): object[] => results.toSorted(byId).map(plain);

const goldenOf = (cwd: string): Readonly<Record<string, string>> => {
  const place = join(cwd, GOLDEN);
  const names = existsSync(place) ? readdirSync(place).sort() : [];
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(place, name), 'utf8')]));
};

let kills = 0;
let seen = 0;

/** Of the runs that nobody kills: what they say, and how long they take from their first word on. */
const whole = {
  results: [] as object[],
  golden: {} as Readonly<Record<string, string>>,
  milliseconds: 1_000,
};

/** Kills it at a moment of chance, one time in eight also before its first word; undefined where it ended before. */
async function killed(cwd: string, words: readonly string[], chance: number): Promise<string | undefined> {
  const child = start(cwd, words);
  const [early = 0, share = 0] = fc.sample(fc.double({ min: 0, max: 1, noNaN: true }), {
    numRuns: 2,
    seed: chance,
  });
  const speaks = new Promise((resolve) => void child.all?.once('data', resolve));
  if (early > 0.125) await Promise.race([child, speaks]);
  const ended = await Promise.race([child, sleep(share * whole.milliseconds).then(() => undefined)]);
  if (ended !== undefined) {
    expect(ended.exitCode, ended.all).toBe(0);
    return undefined;
  }
  child.kill('SIGKILL');
  await child;
  kills++;
  if (kills % 500 === 0) process.stderr.write(`${kills} of ${KILLS} kills\n`);
  seen += trainers().length;
  return `after kill ${kills}`;
}

/** A run that is resumed until it ends. */
async function checkRound(chance: () => number, more: readonly string[]): Promise<void> {
  const cwd = mkdtempSync(join(folder, 'check '));
  let kept: readonly PropertyResult[] = [];
  for (;;) {
    // Where no run has begun to be told, there is nothing to go on with.
    const goesOn = told(cwd) !== undefined;
    const when = await killed(
      cwd,
      [...CHECK, ...more, ...(goesOn ? ['--resume'] : ['--seed', '11'])],
      chance(),
    );
    const now = told(cwd)?.results ?? [];
    for (const result of kept)
      expect(
        now.find(({ id }) => id === result.id),
        `${result.id} ${when}`,
      ).toEqual(result);
    expect(new Set(now.map(({ id }) => id)).size).toBe(now.length);
    kept = now;
    // It may be killed when all was told.
    if (when === undefined || told(cwd)?.end !== undefined) break;
  }
  expect(plainly(kept)).toEqual(whole.results);
  rmSync(cwd, { recursive: true });
}

/** Files that are recorded over and over, then compared with: each is whole at any time, and at the end nothing else is there. */
async function goldenRound(chance: () => number): Promise<void> {
  const cwd = mkdtempSync(join(folder, 'golden '));
  const record = ['golden', 'record', '--dir', GOLDEN, '--force'];
  for (let times = 0; times < 4; times++) {
    const when = await killed(cwd, record, chance());
    expect(readGolden(join(cwd, GOLDEN)), when).toHaveProperty('files');
  }
  expect((await start(cwd, record)).exitCode).toBe(0);
  expect(goldenOf(cwd)).toEqual(whole.golden);
  for (let times = 0; times < 4; times++) {
    const when = await killed(cwd, ['golden', 'check', '--dir', GOLDEN], chance());
    expect(goldenOf(cwd), when).toEqual(whole.golden);
  }
  rmSync(cwd, { recursive: true });
}

beforeAll(async () => {
  const cwd = mkdtempSync(join(folder, 'whole '));
  const child = start(cwd, [...CHECK, '--seed', '11']);
  let begun = performance.now();
  child.all?.once('data', () => {
    begun = performance.now();
  });
  const { exitCode, all } = await child;
  expect(exitCode, all).toBe(0);
  whole.milliseconds = performance.now() - begun;
  whole.results = plainly(told(cwd)?.results);
  expect((await start(cwd, ['golden', 'record', '--dir', GOLDEN])).exitCode).toBe(0);
  whole.golden = goldenOf(cwd);
  expect(whole.results.length).toBeGreaterThan(8);
  expect(Object.keys(whole.golden).length).toBeGreaterThan(1);
});

const ROUNDS = [
  (chance: () => number) => checkRound(chance, []),
  (chance: () => number) => checkRound(chance, ['--workers', '2']),
  goldenRound,
];

test(`${KILLS} kills lose no verdict`, { timeout: 60_000 + KILLS * 30_000 }, async () => {
  const lane = async (number: number): Promise<void> => {
    let draws = 0;
    const chance = (): number => LANES * draws++ + number;
    for (let round = number; kills < KILLS; round++) await ROUNDS[round % ROUNDS.length]?.(chance);
  };
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
  if (process.platform !== 'linux') return;
  // A trainer lives on for the moment in which it reads the end of its input: who looks for it must be able to find it.
  expect(seen).toBeGreaterThan(0);
  await expect.poll(trainers, { timeout: 20_000 }).toEqual([]);
});
