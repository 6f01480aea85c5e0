// Runs that are ended again and again, at any moment, and go on each time: no verdict that was told is lost or judged twice, no failure
// that was found is lost, the whole is that of a run that nobody ended, golden files are whole or not there, and of no trainer
// anything is left (on Linux, by its environment). So many: LOSSPROOF_KILLS.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readGolden } from '../../../../src/golden/folder.ts';
import type { PropertyResult } from '../../../../src/index.ts';
import { readEvents } from '../../../../src/report/machine/ndjson.ts';
import { type Run, runsOf } from '../../../../src/report/runs.ts';
import { TRAINER } from '../../../trainer/misbehaving.ts';
import { pythonCollate } from '../../world.ts';
import { type Command, counted, KILLS, killed, LANES, start, timed, trainers } from './killing.ts';

const LAST = join('.lossproof', 'last-run.ndjson');
const CASES = join('.lossproof', 'cases');
const GOLDEN = 'golden';

const folder = mkdtempSync(join(tmpdir(), 'loss proof kills '));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** One that is right, and starts in no time: to start is most of what a kill costs. */
const COMMAND = ['--', 'python3', '-S', TRAINER, 'CRLF'];
const CHECK = ['check', '--only', 'collate,extract', '--no-profile', '--cases', '200', '--quiet'];
/** Wrong in several ways, and slow enough that most runs are ended while a failure is made smaller. */
const WRONG = ['--', 'python3', '-S', 'wrong.py'];
const FAILS = ['check', '--only', 'collate', '--no-profile', '--cases', '40', '--shrink-time', '2', ...WRONG];
/** One property: what is asked beyond its cases is asked because a failure was found. */
const ONE_FAILS = [
  ...['check', '--only', 'collate/rows-survive', '--no-profile', '--cases', '20', '--shrink-time', '2'],
  ...WRONG,
];
const RECORD = ['golden', 'record', '--dir', GOLDEN, '--force', ...COMMAND];
const COMPARE = ['golden', 'check', '--dir', GOLDEN, ...COMMAND];

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

/** Of the runs that nobody ends. */
const whole = {
  results: [] as object[],
  golden: {} as Readonly<Record<string, string>>,
  milliseconds: 1_000,
  failing: { words: FAILS, code: 1, milliseconds: 1_000 } as Command,
  one: { words: ONE_FAILS, code: 1, milliseconds: 1_000 } as Command,
  /** Requests that those cases take. */
  asked: 0,
};

type Chance = () => number;

/** A run that is resumed until it ends. */
async function checkRound(chance: Chance, more: readonly string[]): Promise<void> {
  const cwd = mkdtempSync(join(folder, 'check '));
  let kept: readonly PropertyResult[] = [];
  for (;;) {
    // Where no run has begun to be told, there is nothing to go on with.
    const goesOn = told(cwd) !== undefined;
    const words = [...CHECK, ...more, ...(goesOn ? ['--resume'] : ['--seed', '11']), ...COMMAND];
    const { how } = await killed(cwd, { words, code: 0, milliseconds: whole.milliseconds }, chance());
    // What a signal stopped is no verdict, and is judged again.
    const now = (told(cwd)?.results ?? []).filter(({ verdict }) => verdict !== 'interrupted');
    for (const result of kept) {
      const again = now.find(({ id }) => id === result.id);
      // Where no case was tried yet, what was told without one is told again, after the trainer has been measured again.
      const same = result.cases === 0 ? plain : (each: PropertyResult) => each;
      expect(again === undefined ? again : same(again), `${result.id} ${how}`).toEqual(same(result));
    }
    expect(new Set(now.map(({ id }) => id)).size).toBe(now.length);
    kept = now;
    // It may be killed when all was told.
    if (how === undefined || now.length === whole.results.length) break;
  }
  expect(plainly(kept)).toEqual(whole.results);
  rmSync(cwd, { recursive: true });
}

/** Files that are recorded over and over, then compared with: each is whole at any time, and at the end nothing else is there. */
async function goldenRound(chance: Chance): Promise<void> {
  const cwd = mkdtempSync(join(folder, 'golden '));
  const at = { code: 0, milliseconds: whole.milliseconds };
  for (let times = 0; times < 4; times++) {
    const { how } = await killed(cwd, { ...at, words: RECORD }, chance());
    expect(readGolden(join(cwd, GOLDEN)), how).toHaveProperty('files');
  }
  expect((await start(cwd, RECORD)).exitCode).toBe(0);
  expect(goldenOf(cwd)).toEqual(whole.golden);
  for (let times = 0; times < 4; times++) {
    const { how } = await killed(cwd, { ...at, words: COMPARE }, chance());
    expect(goldenOf(cwd), how).toEqual(whole.golden);
  }
  rmSync(cwd, { recursive: true });
}

/** The saved cases: which property each is of. A torn one is no JSON. */
function savedIn(cwd: string): ReadonlyMap<string, string> {
  const place = join(cwd, CASES);
  const names = existsSync(place) ? readdirSync(place).filter((name) => /^\w+\.json$/.test(name)) : [];
  return new Map(
    names.map((name) => [
      name.replace('.json', ''),
      String(JSON.parse(readFileSync(join(place, name), 'utf8')).property),
    ]),
  );
}

const failingIn = (cwd: string): readonly string[] =>
  (told(cwd)?.results ?? []).filter(({ verdict }) => verdict === 'fail').map(({ id }) => id);

/** Failures that are found, made smaller and found again: what was saved once is saved from then on, and what was told is saved. */
async function failuresRound(chance: Chance): Promise<void> {
  const cwd = mkdtempSync(join(folder, 'failures '));
  writeFileSync(join(cwd, 'wrong.py'), SLOWLY_WRONG);
  let kept: readonly string[] = [];
  for (let times = 0; times < 12; times++) {
    const { how, text } = await killed(cwd, times === 0 ? whole.one : whole.failing, chance());
    const saved = savedIn(cwd);
    // The trainer knows: whoever makes a failure smaller has found it.
    if (times === 0 && askedIn(cwd) > whole.asked)
      expect(saved.size, `found, and not saved when ended by ${how}`).toBeGreaterThan(0);
    const properties = [...new Set(saved.values())];
    expect(properties, `found, and lost by ${how}`).toEqual(expect.arrayContaining([...kept]));
    expect(properties, `told, and lost by ${how}`).toEqual(expect.arrayContaining([...failingIn(cwd)]));
    for (const [, id = ''] of text.matchAll(/lossproof replay (\w+)/g))
      expect([...saved.keys()], `shown, and lost by ${how}`).toContain(id);
    kept = properties;
  }
  const { exitCode, all } = await start(cwd, FAILS);
  expect(exitCode, all).toBe(1);
  expect(failingIn(cwd)).toEqual(expect.arrayContaining([...kept]));
  rmSync(cwd, { recursive: true });
}

/** Counts its requests in a file. */
const slow = (rows: string): string =>
  pythonCollate(
    `[${rows} for row in rows if time.sleep(0.002) is None][: asked.write(b".") * 1_000]`,
    COUNTING,
  );
const COUNTING = 'import time\nasked = open("asked", "ab", 0)';
const SLOWLY_WRONG = slow('row[:-1]');

const askedIn = (cwd: string): number =>
  existsSync(join(cwd, 'asked')) ? readFileSync(join(cwd, 'asked')).length : 0;

beforeAll(async () => {
  const cwd = mkdtempSync(join(folder, 'whole '));
  whole.milliseconds = (await timed(cwd, [...CHECK, '--seed', '11', ...COMMAND], 0)).milliseconds;
  whole.results = plainly(told(cwd)?.results);
  await timed(cwd, RECORD, 0);
  whole.golden = goldenOf(cwd);
  writeFileSync(join(cwd, 'wrong.py'), slow('row'));
  await timed(cwd, ONE_FAILS, 0);
  whole.asked = askedIn(cwd);
  writeFileSync(join(cwd, 'wrong.py'), SLOWLY_WRONG);
  whole.one = await timed(cwd, ONE_FAILS, 1);
  expect(askedIn(cwd)).toBeGreaterThan(2 * whole.asked);
  rmSync(join(cwd, '.lossproof'), { recursive: true });
  whole.failing = await timed(cwd, FAILS, 1);
  expect(failingIn(cwd).length).toBeGreaterThan(1);
  expect(whole.results.length).toBeGreaterThan(8);
  expect(Object.keys(whole.golden).length).toBeGreaterThan(1);
});

const ROUNDS = [
  (chance: Chance) => checkRound(chance, []),
  failuresRound,
  (chance: Chance) => checkRound(chance, ['--workers', '2']),
  failuresRound,
  goldenRound,
];

test(`${KILLS} kills lose no verdict and no failure`, { timeout: 60_000 + KILLS * 30_000 }, async () => {
  const lane = async (number: number): Promise<void> => {
    let draws = 0;
    const chance = (): number => LANES * draws++ + number;
    for (let round = number; counted.kills < KILLS; round++) await ROUNDS[round % ROUNDS.length]?.(chance);
  };
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
  const by = [...counted.by].map(([signals, times]) => `${signals}: ${times}`).join('; ');
  process.stderr.write(`${counted.kills} kills, ${counted.failing} of runs that find failures; ${by}\n`);
  if (process.platform !== 'linux') return;
  // A trainer lives on for the moment in which it reads the end of its input: who looks for it must be able to find it.
  expect(counted.trainers).toBeGreaterThan(0);
  await expect.poll(trainers, { timeout: 20_000 }).toEqual([]);
});
