// Files that commands write for the user: proved writable before the work begins, whole or not at all when it is
// done. What is no plain file (/dev/stdout, a pipe) is written to, never replaced.
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { sweepTemporaries, temporaryOf } from '../../outside/temporary.ts';
import { whyOf } from '../context.ts';

/** Why `file` cannot be written, in words that follow its name; undefined where it can. Leaves nothing behind. */
export function unwritable(file: string): string | undefined {
  try {
    const target = whereItIs(file);
    const held = statSync(target, { throwIfNoEntry: false });
    if (held?.isDirectory()) return 'is a folder';
    if (held !== undefined) accessSync(target, constants.W_OK);
    if (isOther(target)) return undefined;
    if (!statSync(dirname(target), { throwIfNoEntry: false })?.isDirectory())
      return `cannot be written: there is no folder ${dirname(target)}`;
    const temporary = besideOf(target);
    closeSync(openSync(temporary, 'w'));
    rmSync(temporary);
    return undefined;
  } catch (error) {
    return cannotBeWritten(error);
  }
}

/** Replaces `file` at once, so that a half-written one never stands in a good one's place. Why not, or undefined. */
export function writeWhole(file: string, content: string): string | undefined {
  try {
    const target = whereItIs(file);
    if (isOther(target)) {
      writeFileSync(target, content);
      return undefined;
    }
    const temporary = besideOf(target);
    try {
      writeFileSync(temporary, content);
      renameSync(temporary, target);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    return undefined;
  } catch (error) {
    return cannotBeWritten(error);
  }
}

/**
 * A descriptor of an empty file that has taken the place of `file`. Whoever still writes the old one does not disturb
 * the new one, and whoever reads it sees that it is another.
 */
export function openAnew(file: string): number {
  const target = whereItIs(file);
  if (isOther(target)) return openSync(target, 'w');
  const temporary = besideOf(target);
  const descriptor = openSync(temporary, 'w');
  try {
    renameSync(temporary, target);
  } catch (error) {
    closeSync(descriptor);
    rmSync(temporary, { force: true });
    throw error;
  }
  return descriptor;
}

export function cannotBeWritten(error: unknown): string {
  return `cannot be written: ${whyOf(error)}`;
}

/** Behind a link stands the file that is meant; a link to nothing yet is where the file will be. */
function whereItIs(file: string): string {
  try {
    // /dev/stdout is a link, too: to a pipe without a name, or to a file that this process already writes.
    return isOther(file) ? file : realpathSync(file);
  } catch {
    return file;
  }
}

/** Written to as it stands. */
function isOther(target: string): boolean {
  return SYSTEM.test(target) || statSync(target, { throwIfNoEntry: false })?.isFile() === false;
}

/** What stands here is the kernel's. */
const SYSTEM = /^\/(dev|proc)\//;

function besideOf(target: string): string {
  sweepTemporaries(dirname(target), basename(target));
  return temporaryOf(target);
}
