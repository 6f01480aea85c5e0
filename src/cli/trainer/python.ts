// Which Python runs a bundled adapter, and what that Python must be told to find our package.
import { existsSync, lstatSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { quoted } from '../../report/failure/reproduce.ts';
import { PYTHON_FOLDER } from '../../version.ts';
import { refusedEnvironment } from '../consent/consent.ts';
import type { Context, Problem } from '../context.ts';

type Place = Pick<Context, 'cwd' | 'env'>;

const WINDOWS = process.platform === 'win32';

/** Where nothing else is known; on Windows `python3` is a page of the shop. */
export const ANY_PYTHON: string = WINDOWS ? 'python' : 'python3';

/** Of an environment that `python -m venv` has made. */
export function pythonIn(folder: string, windows: boolean = WINDOWS): string {
  return windows ? join(folder, 'Scripts', 'python.exe') : join(folder, 'bin', 'python');
}

/**
 * Named by the user, then LOSSPROOF_PYTHON, an active environment, the environment that lossproof is installed in, ./.venv,
 * any Python that lossproof is installed in, and last python3 on the PATH. An environment without its Python is not
 * passed over: whoever has one means it, and the start says what is wrong with it.
 */
export function findPython(named: string | undefined, place: Place): string | Problem {
  const chosen = chosenPython(named, place);
  if (chosen !== undefined) return chosen;
  const beside = join(place.cwd, '.venv');
  const python = pythonIn(beside);
  if (isThere(python) || existsSync(join(beside, 'pyvenv.cfg')))
    return refusedEnvironment(beside, python, place) ?? python;
  return place.env.LOSSPROOF_DOOR_PYTHON || ANY_PYTHON;
}

/** The same for our own examples, which need nothing that a folder has: ./.venv is not run. */
export function findOwnPython(named: string | undefined, place: Place): string {
  return chosenPython(named, place) ?? (place.env.LOSSPROOF_DOOR_PYTHON || ANY_PYTHON);
}

/** By the user, or by what lossproof was started from. */
function chosenPython(named: string | undefined, { cwd, env }: Place): string | undefined {
  if (named !== undefined) return named.includes('/') || named.includes('\\') ? resolve(cwd, named) : named;
  if (env.LOSSPROOF_PYTHON) return env.LOSSPROOF_PYTHON;
  if (env.VIRTUAL_ENV) return pythonIn(env.VIRTUAL_ENV);
  const door = env.LOSSPROOF_DOOR_PYTHON;
  return door && isOfEnvironment(door) ? door : undefined;
}

/** A link that leads nowhere is there, too. */
function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

/** Made by venv, or by conda. */
function isOfEnvironment(python: string): boolean {
  const folder = dirname(python);
  return [
    join(dirname(folder), 'pyvenv.cfg'),
    join(dirname(folder), 'conda-meta'),
    join(folder, 'conda-meta'),
  ].some(existsSync);
}

/** `PYTHONPATH=… ` for a shell line that starts a Python trainer without the harness; '' where it is not needed. */
export function pythonPathPrefix(command: readonly string[], { cwd, env }: Place): string {
  const program = command.find((word) => word !== 'env' && !word.includes('='));
  if (!/python[\d.]*(\.exe)?$|\.py$/.test(program ?? '')) return '';
  const known = (env.PYTHONPATH ?? '').split(delimiter).filter((folder) => folder !== '');
  if (known.some((folder) => resolve(cwd, folder) === PYTHON_FOLDER)) return '';
  const near = relative(cwd, PYTHON_FOLDER);
  const shown = near.startsWith('..') || isAbsolute(near) ? PYTHON_FOLDER : near;
  return `PYTHONPATH=${[shown, ...known].map(quoted).join(delimiter)} `;
}
