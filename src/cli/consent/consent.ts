// Whether code from a folder may run: the one place that decides, for every command and for test runners. A typed command or a
// typed file is consent. What a folder brings along (a configuration, ./.venv, the command of a saved case) needs a reason.
// docs/security.md states the rule.
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { readBytes } from '../../outside/file.ts';
import { quoted } from '../../report/failure/reproduce.ts';
import type { Context, Problem } from '../context.ts';
import { isRemembered, remember } from './remembered.ts';

/** Where a command runs; `err`, where there is a screen, names what is run. */
export type Place = Pick<Context, 'cwd' | 'env'> & Partial<Pick<Context, 'err'>>;

/**
 * What a command does with a configuration that it finds: `start` runs a trainer. `read` judges by its settings and runs no code
 * of a folder. `glance` only takes a default from it, and goes on without.
 */
export type Purpose = 'start' | 'read' | 'glance';

/** The top of the current project: the nearest folder upward with `.git`; without one, the working directory alone. */
export function projectOf(cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
    if (dirname(folder) === folder) return cwd;
  }
}

/** Why a configuration that was found must not run its code; undefined: it may. */
export function refusedConfiguration(file: string, purpose: Purpose, place: Place): Problem | undefined {
  if (isTrustedFolder(file, place) || isRemembered(place, configurationWords(file))) return undefined;
  const stranger = strangerOf([file], place);
  const why =
    purpose === 'start' ? stranger : (stranger ?? 'it is code, and this command runs no code that it finds');
  return why === undefined
    ? undefined
    : {
        problem: `${file} is not run: ${why}. If you trust it, name it with --config where the command has that, or set LOSSPROOF_TRUST=${quoted(dirname(file))}`,
      };
}

/** The user has named this configuration, or has run it in a command that starts trainers: `read` may run it, too. */
export function rememberConfiguration(file: string, place: Place): void {
  remember(place, configurationWords(file));
}

/** Why the Python of an environment that was found must not be run; undefined: it may. */
export function refusedEnvironment(folder: string, python: string, place: Place): Problem | undefined {
  if (isTrustedFolder(folder, place)) return undefined;
  const stranger = strangerOf([folder, python], place);
  return stranger === undefined
    ? undefined
    : {
        problem: `${python} is not run: ${stranger}. Name it if you trust its author: --python ${relative(place.cwd, python)}`,
      };
}

/** Whether a command out of a file may run unasked: the user has typed, configured or confirmed it in this folder before. */
export function isTrustedCommand(command: string, place: Place): boolean {
  return isTrustedFolder(place.cwd, place) || isRemembered(place, commandWords(command));
}

/** @returns whether it could be written down. */
export function rememberCommand(command: string, place: Place): boolean {
  return command === '' || remember(place, commandWords(command));
}

// --- helpers ---

const commandWords = (command: string): string => `command ${command}`;

/** With what stands in it: a configuration that has changed is another one. */
function configurationWords(file: string): string {
  const read = readBytes(file);
  // What cannot be read cannot be loaded either, which is said there.
  const print = 'ok' in read ? createHash('sha256').update(read.ok).digest('hex') : '';
  return `configuration ${realOf(file)} ${print}`;
}

/** LOSSPROOF_TRUST lists folders, as PATH does: for containers, whose user owns nothing of what is mounted. */
function isTrustedFolder(path: string, { cwd, env }: Place): boolean {
  return (env.LOSSPROOF_TRUST ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .some((folder) => {
      const inside = relative(realOf(resolve(cwd, folder)), realOf(resolve(cwd, path)));
      return !inside.startsWith('..') && !isAbsolute(inside);
    });
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Whose it is, where that is neither this user nor the administrator; links count with what they lead to. */
function strangerOf(paths: readonly string[], { env }: Place): string | undefined {
  const own = process.getuid?.();
  if (own === undefined) return undefined; // Windows has no such ids
  // Under sudo, the files of whoever typed it are their own.
  const trusted = new Set([0, own, ...(own === 0 && env.SUDO_UID ? [Number(env.SUDO_UID)] : [])]);
  for (const path of paths) {
    const owners = [lstatSync, statSync].map((stat) => stat(path, { throwIfNoEntry: false })?.uid);
    const owner = owners.find((uid) => uid !== undefined && !trusted.has(uid));
    if (owner !== undefined) return `it belongs to user ${owner}, and you are user ${own}`;
  }
  return undefined;
}
