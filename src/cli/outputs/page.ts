// The page of a command that writes only this: proved writable before anything is read or run, written when all is known.
import { resolve } from 'node:path';
import type { Context, Problem } from '../context.ts';
import { asTyped } from '../typed.ts';
import { unwritable, writeWhole } from './written.ts';

export function pageProblem(file: string | undefined, { cwd }: Pick<Context, 'cwd'>): Problem | undefined {
  if (file === undefined) return undefined;
  const why = file === '' ? 'needs a name' : unwritable(resolve(cwd, file));
  return why === undefined ? undefined : { problem: `--html: ${file} ${why}` };
}

/** Why it could not be written after all, or undefined. `make` loads the page's code, which nobody else needs. */
export async function writePage(
  file: string | undefined,
  make: () => Promise<string>,
  { cwd }: Pick<Context, 'cwd'>,
): Promise<Problem | undefined> {
  if (file === undefined) return undefined;
  const why = writeWhole(resolve(cwd, file), asTyped(await make()));
  return why === undefined ? undefined : { problem: `--html: ${file} ${why}` };
}
