// Trains small models for real, by the scripts of `scripts/`, and reads their logs with `lossproof monitor` as a user does.
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import type { PropertyResult, RunEvent } from '../../../src/index.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';

const SCRIPTS = join(PACKAGE_ROOT, 'test', 'torch', 'monitor', 'scripts');
const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');
/** Another build than the package's own, for work on several at a time. */
const DIST = process.env.LOSSPROOF_DIST ?? join(PACKAGE_ROOT, 'dist');
const MAIN = join(DIST, 'src', 'cli', 'main.js');

/** One training: a script of `scripts/`, and what its `run` takes. */
export interface Training {
  readonly script: 'rl' | 'supervised' | 'finetune' | 'by_hand' | 'two_losses';
  readonly seed?: number;
  readonly steps?: number;
  readonly fault?: string;
  /** The first logged step that is wrong. */
  readonly onset?: number;
  readonly [option: string]: unknown;
}

/** For a hook that trains. */
export const TRAINING_TIMEOUT = 600_000;
/** Processes that train side by side, each with one thread. */
const PROCESSES = 2;

/**
 * Trains them all, each into `NAME/seed-N` of `folder`, a new one if none is named, which is returned. One whose
 * `trainer_state.json` is there is not trained again. One that ends in an exception, as a run with a fault may, leaves the log
 * that it has; `mayDie` says that it is no failure of the test.
 */
export async function trained(
  named: Readonly<Record<string, readonly Training[]>>,
  { mayDie = false, folder = mkdtempSync(join(tmpdir(), 'lossproof monitor ')) } = {},
): Promise<string> {
  const asked = Object.entries(named)
    .flatMap(([name, trainings]) =>
      trainings.map((training, at) => {
        const seed = training.seed ?? at;
        return { ...training, seed, out: join(folder, name, `seed-${seed}`) };
      }),
    )
    .filter(({ out }) => !existsSync(join(out, 'trainer_state.json')))
    .map((each) => JSON.stringify(each));
  const shares = Array.from({ length: PROCESSES }, (_, share) =>
    asked.filter((_line, at) => at % PROCESSES === share),
  );
  await Promise.all(shares.filter(({ length }) => length > 0).map((lines) => train(lines, mayDie)));
  return folder;
}

/** One process for many: the imports take longer than a run. */
async function train(lines: readonly string[], mayDie: boolean): Promise<void> {
  const run = await execa(PYTHON, [join(SCRIPTS, 'runs.py')], {
    input: lines.map((line) => `${line}\n`).join(''),
    cwd: SCRIPTS,
    env: { OMP_NUM_THREADS: '1', PYTHONDONTWRITEBYTECODE: '1' },
    reject: false,
  });
  const ended = run.stdout.split('\n').filter((line) => line !== '');
  if (ended.length !== lines.length || (run.exitCode !== 0 && !mayDie))
    throw new Error(`${run.stdout}\n${run.stderr.slice(-4_000)}`);
}

/** The same training with other seeds, from 0 on. */
export function seeds(count: number, training: Training): readonly Training[] {
  return Array.from({ length: count }, (_, seed) => ({ ...training, seed }));
}

export interface Monitored {
  readonly exitCode: number | undefined;
  /** What a person sees: standard output and standard error. */
  readonly out: string;
  readonly results: readonly PropertyResult[];
}

/** `lossproof monitor` on paths, without a configuration. */
export async function monitored(...words: readonly string[]): Promise<Monitored> {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof monitored '));
  const events = join(folder, 'events.ndjson');
  const run = await execa(process.execPath, [MAIN, 'monitor', ...words, '--events', events], {
    cwd: folder,
    reject: false,
    all: true,
    stdin: 'ignore',
  });
  return { exitCode: run.exitCode, out: run.all, results: existsSync(events) ? resultsIn(events) : [] };
}

/** Whether this build judges runs beside others. */
export async function canCompare(): Promise<boolean> {
  return (await monitored('--help')).out.includes('--baseline');
}

/** Ids of what failed. */
export function failedIn({ results }: Monitored): readonly string[] {
  return results.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id);
}

/** What it was found in: the series and the step, as the report gives them. */
export function placeOf(run: Monitored, id: string): { readonly step?: number; readonly series?: string } {
  const given = run.results.find((result) => result.id === id)?.failure?.given;
  return typeof given === 'object' && given !== null ? given : {};
}

function resultsIn(file: string): readonly PropertyResult[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines
    .map((line): RunEvent => JSON.parse(line))
    .flatMap((event) => (event.type === 'property-end' ? [event.result] : []));
}
