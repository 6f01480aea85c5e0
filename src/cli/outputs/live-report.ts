// Files that are still being written, as a page to serve: read again when they have changed. A file may grow, be
// replaced by that of a new run, or not be there yet.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Followed, followingBody, followingPage } from '../../report/html/run/following.ts';
import { type Context, isProblem } from '../context.ts';
import { readRunFile } from './saved-runs.ts';
import type { Site } from './serve.ts';

export function liveReport(files: readonly string[], context: Pick<Context, 'cwd'>): Site {
  const version = (): string => files.map((file) => stateOf(resolve(context.cwd, file))).join(' ');
  let held: { readonly version: string; readonly read: Followed } | undefined;
  const read = (): Followed => {
    // Taken before the files are read: what comes in between is read again rather than missed.
    const now = version();
    if (held?.version !== now) held = { version: now, read: readAll(files, context) };
    return held.read;
  };
  return { version, page: () => followingPage(read()), body: () => followingBody(read()).markup };
}

const ABSENT = 'absent';

/** The same text as long as nobody has written it; a new file in its place is another one, whatever its size. */
function stateOf(path: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(path);
    return `${ino}:${size}:${mtimeMs}`;
  } catch {
    return ABSENT;
  }
}

function readAll(files: readonly string[], context: Pick<Context, 'cwd'>): Followed {
  const all = files
    .filter((file) => stateOf(resolve(context.cwd, file)) !== ABSENT)
    .map((file) => readRunFile(file, context));
  return {
    files,
    runs: all.flatMap((each) => (isProblem(each) ? [] : each.runs)),
    problems: all.flatMap((each) => (isProblem(each) ? [each.problem] : each.problems)),
  };
}
