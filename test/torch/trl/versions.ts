// The environments of the versions of TRL that the ready-made adapters are tested with.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const VERSIONS = { oldest: '0.15.2', middle: '0.24.0', newest: '1.13.0' } as const;
export type Which = keyof typeof VERSIONS;

/** The Python of one; an error that says what to do where it is not there. */
export function pythonOf(which: Which): string {
  const folder = which === 'newest' ? '.venv' : `.venv-trl-${which}`;
  const python = fileURLToPath(new URL(`../../../${folder}/bin/python`, import.meta.url));
  if (!existsSync(python)) throw new Error(`${python} is missing: run \`npm run setup:trainers\``);
  return python;
}
