// Which files of the working folder the runs of a twin wrote, so that nobody loses one without being told. Nothing is kept from
// being written: a script writes where it likes.
import { lstatSync, readdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Written } from '../../report/twin/twin.ts';

export interface Watching {
  /** A run has ended. */
  ended(): void;
  written(): Written;
}

/** @param without a folder that is not looked at: that of the records */
export function watchFiles(cwd: string, without: string): Watching {
  const skipped = resolve(cwd, without);
  const first = marksIn(cwd, skipped);
  let latest = first;
  let whole = first !== undefined;
  const times = new Map<string, number>();
  return {
    ended() {
      const now = whole ? marksIn(cwd, skipped) : undefined;
      if (first === undefined || latest === undefined || now === undefined) {
        whole = false;
        return;
      }
      const count = (path: string): void => void times.set(path, (times.get(path) ?? 0) + 1);
      for (const [path, mark] of now) if (latest.get(path) !== mark) count(path);
      for (const path of first.keys()) if (latest.has(path) && !now.has(path)) count(path);
      latest = now;
    },
    written: () => {
      const changed = [...times].sort(([a], [b]) => (a < b ? -1 : 1));
      return {
        before: changed.flatMap(([path]) => (first?.has(path) === true ? [path] : [])),
        again: changed.flatMap(([path, count]) => (first?.has(path) !== true && count > 1 ? [path] : [])),
      };
    },
  };
}

// --- helpers ---

/** A project has some thousands. A folder with more is not looked through after each run. */
const MOST_ENTRIES = 20_000;
/** What tools keep for themselves. */
const TOOLS = new Set(['node_modules', '__pycache__']);

/** Of each file: its size and when it was written; undefined where there are too many. */
function marksIn(cwd: string, skipped: string): ReadonlyMap<string, string> | undefined {
  const marks = new Map<string, string>();
  const folders = [cwd];
  let left = MOST_ENTRIES;
  for (const folder of folders) {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (left-- <= 0) return undefined;
      if (entry.name.startsWith('.') || TOOLS.has(entry.name) || path === skipped) continue;
      if (entry.isDirectory()) {
        if (!isEnvironment(path)) folders.push(path);
      } else if (entry.isFile()) {
        const status = lstatSync(path, { throwIfNoEntry: false });
        if (status !== undefined)
          marks.set(relative(cwd, path), `${status.size} ${status.mtimeMs} ${status.ino}`);
      }
    }
  }
  return marks;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Of Python, with its packages. */
const isEnvironment = (folder: string): boolean =>
  statSync(join(folder, 'pyvenv.cfg'), { throwIfNoEntry: false }) !== undefined;
