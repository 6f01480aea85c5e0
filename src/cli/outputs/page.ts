// The page of a twin: proved writable before anything is run, written when all is compared.
import { resolve } from 'node:path';
import type { TwinPage } from '../../report/html/twin/twin.ts';
import type { Context, Problem } from '../context.ts';
import { unwritable, writeWhole } from '../outputs/written.ts';
import { asTyped } from '../typed.ts';

export function pageProblem(file: string | undefined, { cwd }: Pick<Context, 'cwd'>): Problem | undefined {
  if (file === undefined) return undefined;
  const why = file === '' ? 'needs a name' : unwritable(resolve(cwd, file));
  return why === undefined ? undefined : { problem: `--html: ${file} ${why}` };
}

/** Why it could not be written after all, or undefined. */
export async function writePage(
  file: string | undefined,
  twin: TwinPage,
  { cwd }: Pick<Context, 'cwd'>,
): Promise<Problem | undefined> {
  if (file === undefined) return undefined;
  const { twinPage } = await import('../../report/html/twin/twin.ts');
  const why = writeWhole(resolve(cwd, file), asTyped(twinPage(twin)));
  return why === undefined ? undefined : { problem: `--html: ${file} ${why}` };
}
