// The scripts that shells load, files beside this one. They hold no names of their own: each TAB asks
// `lossproof __complete WORDS...`, so that a script never is of another version than the program. Behind -- they leave it
// to the shell, which knows other commands.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../version.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export function isShell(name: string): name is Shell {
  return (SHELLS as readonly string[]).includes(name);
}

/** Throws where the package is incomplete. */
export function scriptOf(shell: Shell): string {
  return readFileSync(join(PACKAGE_ROOT, 'src', 'cli', 'completion', `lossproof.${shell}`), 'utf8');
}
