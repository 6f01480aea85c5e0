// A file that is written beside its place and then takes it, in one step: a process that is killed meanwhile leaves the old file
// whole, and a hidden one, which the next to write there removes. A link in its place is replaced and never followed.
import { randomBytes } from 'node:crypto';
import { closeSync, lstatSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export interface Temporary {
  readonly path: string;
  readonly descriptor: number;
}

/** A new, empty file in the same folder, since only there a rename is one step. */
export function openTemporary(path: string): Temporary {
  const temporary = temporaryOf(path);
  // Never one that is there: somebody else's link would be written through.
  return { path: temporary, descriptor: openSync(temporary, 'wx', modeOf(path)) };
}

/** A script that can be executed stays one. */
function modeOf(path: string): number {
  const held = lstatSync(path, { throwIfNoEntry: false });
  return held?.isFile() ? held.mode & 0o777 : 0o666;
}

/** Replaces `path` at once. Throws, and leaves nothing behind, if it cannot. */
export function replaceWhole(path: string, content: string): void {
  const { path: temporary, descriptor } = openTemporary(path);
  try {
    try {
      writeFileSync(descriptor, content);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** A name that nobody can foretell and put something else under. */
export function temporaryOf(path: string): string {
  const chance = randomBytes(CHANCE_BYTES).toString('hex');
  return join(dirname(path), `.${basename(path)}.${process.pid}.${chance}.tmp`);
}

const CHANCE_BYTES = 6;

/** Removes what killed processes left in a folder, of one of its files or of any. */
export function sweepTemporaries(folder: string, name?: string): void {
  let names: readonly string[] = [];
  try {
    names = readdirSync(folder);
  } catch {
    return; // nothing is there yet
  }
  for (const each of names) {
    const [, of, pid] = TEMPORARY.exec(each) ?? [];
    if (of === undefined || (name !== undefined && of !== name) || lives(Number(pid))) continue;
    try {
      rmSync(join(folder, each));
    } catch {
      // It is in nobody's way.
    }
  }
}

const TEMPORARY = /^\.(.+)\.(\d+)\.[0-9a-f]{12}\.tmp$/;

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, and is somebody else's.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
