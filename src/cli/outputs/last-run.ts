// The events of the last run in a folder, kept beside its saved cases: what `lossproof report` shows when it is told
// nothing else.
import { basename, dirname, join, resolve } from 'node:path';
import type { RunEvent } from '../../check/events.ts';
import { makeFolders } from '../../outside/folder.ts';
import { eventLine } from '../../report/machine/ndjson.ts';
import type { Context, Problem } from '../context.ts';
import { CASES_FOLDER } from '../trainer/cases-folder.ts';
import { type EventFile, type EventFileOptions, openEventFile } from './event-file.ts';
import { type Lock, lock } from './lock.ts';
import { cannotBeWritten, writeOnce, writeOwn } from './written.ts';

/** Under the working directory. */
export const LAST_RUN = join(dirname(CASES_FOLDER), 'last-run.ndjson');

/** What properties took and found in earlier runs here; beside the last run. */
export const HISTORY = 'history.json';
/** Of the parts of a run; beside the last run. */
export const SHARDS = 'shards';
/** Of runs of `mutate`, a file a trainer; beside the last run. */
export const MUTATIONS = 'mutate';

/** Where a run is kept: the last one's place, or that of one part of a run. */
export interface Keeping extends EventFileOptions {
  /** Under the working directory. */
  readonly file: string;
  /** Without it the run would be of no use: where it cannot be kept, it does not begin. */
  readonly needed?: true;
}

export const AS_LAST_RUN: Keeping = { file: LAST_RUN };

/**
 * Begun with the first event. A disk that fails, or another run that keeps itself there, is said once, on stderr; it is a
 * problem where the file is needed.
 */
export function openKept(keeping: Keeping, context: Context): EventFile | Problem {
  const file = resolve(context.cwd, keeping.file);
  const complain = (why: string): void =>
    context.err.write(`lossproof: ${keeping.file} ${why}; \`lossproof report\` will not know this run\n`);
  const events = openEventFile(file, complain, { ...keeping, own: true });
  let claimed: Lock | undefined;
  let refused: string | undefined;
  const claim = (): void => {
    refused = makeFolder(context, dirname(file));
    const taken = refused === undefined ? lock(file) : undefined;
    if (taken === undefined) return;
    if ('held' in taken) refused = taken.held;
    else claimed = taken;
  };
  if (keeping.needed) {
    claim();
    if (refused !== undefined) return { problem: `${keeping.file} ${refused}` };
  }
  return {
    emit(event: RunEvent) {
      if (claimed === undefined && refused === undefined) {
        claim();
        if (refused !== undefined) complain(refused);
      }
      if (refused === undefined) events.emit(event);
    },
    trouble: () => refused ?? events.trouble(),
    close() {
      events.close();
      claimed?.release();
      claimed = undefined;
    },
  };
}

/** What a run that goes on has found so far, in the place that its events will take. A disk that fails is said at the end. */
export function rememberSoFar(context: Context, events: readonly RunEvent[]): void {
  const file = resolve(context.cwd, LAST_RUN);
  if (makeFolder(context, dirname(file)) === undefined) writeOwn(file, events.map(eventLine).join(''));
}

/** Saved cases are worth keeping in a repository; runs are not, and say so to git themselves. */
export function makeFolder({ cwd }: Pick<Context, 'cwd'>, folder: string): string | undefined {
  try {
    makeFolders(folder);
    const ignore = join(resolve(cwd, dirname(LAST_RUN)), '.gitignore');
    writeOnce(ignore, IGNORED.map((name) => `/${name}\n`).join(''));
    return undefined;
  } catch (error) {
    return cannotBeWritten(error);
  }
}

/** Of the folder. */
const IGNORED = [basename(LAST_RUN), `${basename(LAST_RUN)}.lock`, HISTORY, `${SHARDS}/`, `${MUTATIONS}/`];
