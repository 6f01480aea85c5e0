// The events of the last run in a folder, kept beside its saved cases: what `lossproof report` shows when it is told
// nothing else.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { RunEvent } from '../../check/events.ts';
import { eventLine } from '../../report/machine/ndjson.ts';
import type { Context } from '../context.ts';
import { CASES_FOLDER } from '../trainer/session.ts';
import { type EventFile, openEventFile } from './event-file.ts';
import { cannotBeWritten, writeWhole } from './written.ts';

/** Under the working directory. */
export const LAST_RUN = join(dirname(CASES_FOLDER), 'last-run.ndjson');

/** Begun with the first event. A disk that fails is said once, on stderr. */
export function openLastRun(context: Context): EventFile {
  const file = resolve(context.cwd, LAST_RUN);
  const complain = (why: string): void =>
    context.err.write(`lossproof: ${LAST_RUN} ${why}; \`lossproof report\` will not know this run\n`);
  let made: string | undefined;
  const events = openEventFile(file, complain);
  let begun = false;
  return {
    ...events,
    emit(event: RunEvent) {
      if (!begun) {
        begun = true;
        made = makeFolder(dirname(file));
        if (made !== undefined) complain(made);
      }
      if (made === undefined) events.emit(event);
    },
    problem: () => made ?? events.problem(),
  };
}

/** What a run that goes on has found so far, in the place that its events will take. A disk that fails is said at the end. */
export function rememberSoFar(context: Context, events: readonly RunEvent[]): void {
  const file = resolve(context.cwd, LAST_RUN);
  if (makeFolder(dirname(file)) === undefined) writeWhole(file, events.map(eventLine).join(''));
}

/** Saved cases are worth keeping in a repository; the last run is not, and says so to git itself. */
function makeFolder(folder: string): string | undefined {
  try {
    mkdirSync(folder, { recursive: true });
    const ignore = join(folder, '.gitignore');
    if (!existsSync(ignore)) writeFileSync(ignore, `/${basename(LAST_RUN)}\n`);
    return undefined;
  } catch (error) {
    return cannotBeWritten(error);
  }
}
