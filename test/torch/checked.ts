// `lossproof check` as a user types it, and what it said.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { knownOf, readCauses } from '../../src/check/saved/causes.ts';
import { knownFailuresOf } from '../../src/cli/trainer/adapters.ts';
import type { Hello, PropertyResult } from '../../src/index.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';

export interface Checked {
  readonly exitCode: number | undefined;
  /** None where it did not begin: `out` says why. */
  readonly results: readonly PropertyResult[];
  readonly hello: Hello | undefined;
  /** Everything that was printed. */
  readonly out: string;
}

const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');

/** Of all suites, where one is given: the last of two is taken. */
const { LOSSPROOF_SEED } = process.env;
const SEED = LOSSPROOF_SEED === undefined ? [] : ['--seed', LOSSPROOF_SEED];
/** Two trainers on torch and a machine that may have other work: none of them is here to be slow. */
const PATIENCE = ['--op-timeout', '60'];

export async function checked(
  words: readonly string[],
  {
    cwd = PACKAGE_ROOT,
    env = {},
  }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Checked> {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof checked '));
  const events = join(folder, 'events.ndjson');
  try {
    const { exitCode, all } = await execa(
      process.execPath,
      [MAIN, 'check', '--no-corpus', '--events', events, ...SEED, ...PATIENCE, ...words],
      { cwd, env, reject: false, all: true },
    );
    const lines = existsSync(events) ? readFileSync(events, 'utf8').trim().split('\n') : [];
    const told = lines.map(
      (line) => JSON.parse(line) as { type: string; result: PropertyResult; hello?: Hello },
    );
    const results = told.filter(({ type }) => type === 'property-end').map(({ result }) => result);
    const { hello } = told.find((event) => event.hello !== undefined) ?? {};
    return { exitCode, results, hello, out: all };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The ids of those with one of these verdicts. */
export const having = (results: readonly PropertyResult[], ...verdicts: string[]): string[] =>
  results.filter(({ verdict }) => verdicts.includes(verdict)).map(({ id }) => id);

/** The ids of what is known of a ready-made adapter's trainer as it was checked, sorted. */
export function knownIds(
  adapter: string,
  { hello = { protocol: 1, name: adapter, ops: {} } }: Checked,
): string[] {
  const file = knownFailuresOf(adapter);
  const read = file === undefined ? { causes: [] } : readCauses(file);
  if ('problem' in read) throw new Error(read.problem);
  return Object.keys(knownOf(read.causes, hello)).sort();
}
