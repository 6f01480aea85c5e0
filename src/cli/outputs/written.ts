// Files that commands write: proved writable before the work begins, whole or not at all when it is done. Where the user names a
// link, the file behind it is meant. In our own folder a link is replaced: a repository that brings one along must not choose
// which file is overwritten.
import {
  accessSync,
  closeSync,
  constants,
  ftruncateSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { openTemporary, replaceWhole, sweepTemporaries, type Temporary } from '../../outside/temporary.ts';
import { whyOf } from '../context.ts';
import { openSink, writeSink } from './sink.ts';

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
    closeSync(temporary.descriptor);
    rmSync(temporary.path);
    return undefined;
  } catch (error) {
    return cannotBeWritten(error);
  }
}

/** Replaces a file that the user named at once, so that a half-written one never stands in a good one's place. Why not, or undefined. */
export function writeWhole(file: string, content: string): string | undefined {
  return attempted(() => {
    const target = whereItIs(file);
    if (isOther(target)) writeSink(target, content);
    else replaceSwept(target, content);
  });
}

/** `wx`: only where nothing stands. */
export function writeNamed(file: string, content: string, flag: 'w' | 'wx'): string | undefined {
  return flag === 'w' ? writeWhole(file, content) : attempted(() => writeFileSync(file, content, { flag }));
}

/** The same for a file of ours. */
export function writeOwn(file: string, content: string): string | undefined {
  return attempted(() => replaceSwept(file, content));
}

/** A file of ours, unless something stands there. Throws. */
export function writeOnce(file: string, content: string): void {
  try {
    writeFileSync(file, content, { flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/**
 * A descriptor of an empty file that has taken the place of `file`. Whoever still writes the old one does not disturb
 * the new one, and whoever reads it sees that it is another.
 */
export function openAnew(file: string): number {
  const target = whereItIs(file);
  return isOther(target) ? openSink(target) : openOwnAnew(target);
}

/** The same for a file of ours. */
export function openOwnAnew(file: string): number {
  const { path, descriptor } = besideOf(file);
  try {
    renameSync(path, file);
  } catch (error) {
    closeSync(descriptor);
    rmSync(path, { force: true });
    throw error;
  }
  return descriptor;
}

/** A descriptor that writes after the last whole line: what a killed run left of another is cut off. A link is refused. */
export function openBehind(file: string): number {
  const { O_RDWR, O_APPEND, O_NOFOLLOW } = constants;
  // Windows has no such flag.
  const descriptor = openSync(file, O_RDWR | O_APPEND | (O_NOFOLLOW ?? 0));
  try {
    ftruncateSync(descriptor, readFileSync(descriptor).lastIndexOf(NEWLINE) + 1);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

const NEWLINE = 0x0a;

export function cannotBeWritten(error: unknown): string {
  return `cannot be written: ${whyOf(error)}`;
}

function attempted(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return cannotBeWritten(error);
  }
}

/** Behind a link stands the file that is meant; a link to nothing yet is where the file will be. */
export function whereItIs(file: string): string {
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

function replaceSwept(target: string, content: string): void {
  sweepTemporaries(dirname(target), basename(target));
  replaceWhole(target, content);
}

function besideOf(target: string): Temporary {
  sweepTemporaries(dirname(target), basename(target));
  return openTemporary(target);
}
