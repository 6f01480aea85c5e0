// Runs `lossproof check` on the ready-made adapters of verl, OpenRLHF and LLaMA-Factory, in the environments that `npm run setup:trainers` made.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { type Checked, checked } from '../checked.ts';
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
