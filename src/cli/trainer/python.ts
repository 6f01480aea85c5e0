// Which Python runs a bundled adapter, and what that Python must be told to find our package.
import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join, relative, resolve } from 'node:path';
import { quoted } from '../../report/failure/reproduce.ts';
import { PACKAGE_ROOT } from '../../version.ts';
import type { Context } from '../context.ts';

type Place = Pick<Context, 'cwd' | 'env'>;

/** Named by the user, then LOSSPROOF_PYTHON, an active environment, ./.venv, and last python3 on the PATH. */
export function findPython(named: string | undefined, { cwd, env }: Place): string {
  if (named !== undefined) return named.includes('/') ? resolve(cwd, named) : named;
  if (env.LOSSPROOF_PYTHON) return env.LOSSPROOF_PYTHON;
  const folders = [env.VIRTUAL_ENV, join(cwd, '.venv')];
  const found = folders
    .filter((folder) => folder !== undefined && folder !== '')
    .map((folder) => join(folder ?? '', 'bin', 'python'))
    .find((file) => existsSync(file));
  return found ?? 'python3';
}

/** Holds the Python package `lossproof`. */
export const PYTHON_FOLDER: string = join(PACKAGE_ROOT, 'src', 'python');

/** `PYTHONPATH=… ` for a shell line that starts a Python trainer without the harness; '' where it is not needed. */
export function pythonPathPrefix(command: readonly string[], { cwd, env }: Place): string {
  const program = command.find((word) => word !== 'env' && !word.includes('='));
  if (!/python[\d.]*$|\.py$/.test(program ?? '')) return '';
  const known = (env.PYTHONPATH ?? '').split(delimiter).filter((folder) => folder !== '');
  if (known.some((folder) => resolve(cwd, folder) === PYTHON_FOLDER)) return '';
  const near = relative(cwd, PYTHON_FOLDER);
  const shown = near.startsWith('..') || isAbsolute(near) ? PYTHON_FOLDER : near;
  return `PYTHONPATH=${[shown, ...known].map(quoted).join(delimiter)} `;
}
