// Runs `lossproof check` on the ready-made adapters of verl, OpenRLHF and LLaMA-Factory, in the environments that `npm run setup:trainers` made.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { FAILING } from '../../../src/index.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { type Checked, checked, having, knownIds } from '../checked.ts';
import { family } from '../trl/ask.ts';
import { pythonOf } from '../trl/versions.ts';

export type Source = 'llama-factory' | 'openrlhf' | 'verl';

/** A function so that the sentence comes with the test that needs it. */
export function python(source?: Source): string {
  // What LLaMA-Factory needs of TRL and transformers is there.
  if (source === 'llama-factory') return pythonOf('middle');
  const named = process.env.LOSSPROOF_VERL_PYTHON ?? join(PACKAGE_ROOT, '.venv-verl', 'bin', 'python');
  if (!existsSync(named)) throw new Error(`${named} is missing: run \`npm run setup:trainers\``);
  return named;
}

/** What the adapter is told by variables. */
export type Setting = Readonly<Record<string, string>>;

/** A tokenizer that puts a BOS before whatever it is given, of a template that writes one. */
export const LLAMA: Setting = { LOSSPROOF_TOKENIZER: family('llama3') };

/** The unchanged trainer, as a user types it. */
export function check(source: Source, options: readonly string[], env: Setting = {}): Promise<Checked> {
  return checked(['--adapter', source, '--python', python(source), ...options], { env });
}

/** What is there holds, these among it, but for what is known with its reason. `title`: what the adapter calls the library. */
export async function holdsButForKnown(
  source: Source,
  title: string,
  cases: number,
  passing: readonly string[],
): Promise<void> {
  const ran = await check(source, ['--level', 'may', '--cases', String(cases)]);
  const { exitCode, results, out } = ran;
  expect(having(results, ...FAILING), out).toEqual([]);
  expect(having(results, 'known').sort()).toEqual(knownIds(source, ran));
  expect(having(results, 'pass').length).toBeGreaterThanOrEqual(100);
  expect(having(results, 'pass')).toEqual(expect.arrayContaining([...passing]));
  expect(out).toContain(`${source} drives ${title}`);
  expect(exitCode).toBe(0);
}

/** The same with faults of faulty.py put into the trainer's code. */
export function checkFaulty(
  source: Source,
  faults: readonly string[],
  options: readonly string[],
  env: Setting = {},
): Promise<Checked> {
  const script = fileURLToPath(new URL('faulty.py', import.meta.url));
  return checked([...options, '--', python(source), script, source, ...faults], { env });
}

/** Faults are found, each by the one property that it names, and by no other of these. */
export async function finds(source: Source, faults: Readonly<Record<string, string>>): Promise<void> {
  const ids = Object.values(faults);
  const options = ['--only', ids.join(','), '--cases', '30', '--shrink-time', '1'];
  const setting = 'double BOS' in faults ? LLAMA : {};
  const { results, out } = await checkFaulty(source, Object.keys(faults), options, setting);
  // Changed: what is known of the property stands beside it.
  expect(having(results, 'fail', 'changed').sort(), out).toEqual(ids.toSorted());
}
