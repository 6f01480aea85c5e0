// A file that is written beside its place and then takes it, in one step: whoever is killed meanwhile leaves the old one
// whole, and a hidden file, which the next to write there removes.
import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** In the same folder, since only there a rename is one step. */
export function temporaryOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
}

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

const TEMPORARY = /^\.(.+)\.(\d+)\.tmp$/;

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, and is somebody else's.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
