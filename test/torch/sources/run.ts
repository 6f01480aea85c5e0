// Runs `lossproof check` on the ready-made adapters of verl and OpenRLHF, in the environment that `npm run setup:trainers` made.
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import type { PropertyResult } from '../../../src/index.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';

export type Source = 'openrlhf' | 'verl';

/** A function so that the sentence comes with the test that needs it. */
function python(): string {
  const named = process.env.LOSSPROOF_VERL_PYTHON ?? join(PACKAGE_ROOT, '.venv-verl', 'bin', 'python');
  if (!existsSync(named)) throw new Error(`${named} is missing: run \`npm run setup:trainers\``);
  return named;
}

export interface Checked {
  readonly exitCode: number | undefined;
  readonly results: readonly PropertyResult[];
  /** Everything that was printed. */
  readonly out: string;
}

/** The unchanged trainer, as a user types it. */
export function check(source: Source, ...options: string[]): Promise<Checked> {
  return run(['--adapter', source, '--python', python(), ...options]);
}

/** The same with faults of faulty.py put into the trainer's code. */
export function checkFaulty(
  source: Source,
  faults: readonly string[],
  ...options: string[]
): Promise<Checked> {
  const script = fileURLToPath(new URL('faulty.py', import.meta.url));
  return run([...options, '--', python(), script, source, ...faults]);
}

async function run(options: readonly string[]): Promise<Checked> {
  const events = join(mkdtempSync(join(tmpdir(), 'lossproof sources ')), 'events.ndjson');
  const main = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
  const ran = await execa(process.execPath, [main, 'check', '--no-corpus', '--events', events, ...options], {
    cwd: PACKAGE_ROOT,
    reject: false,
    all: true,
  });
  const results = readFileSync(events, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; result: PropertyResult })
    .filter(({ type }) => type === 'property-end')
    .map(({ result }) => result);
  return { exitCode: ran.exitCode, results, out: ran.all };
}

export const having = (results: readonly PropertyResult[], ...verdicts: string[]): string[] =>
  results.filter(({ verdict }) => verdicts.includes(verdict)).map(({ id }) => id);
