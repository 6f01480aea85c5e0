// The events of a run in a file, line by line as they happen, so that a run that is killed has left what it knew and
// another process can follow it. Begun with the first event: a run that never began leaves the file as it was.
import { closeSync } from 'node:fs';
import type { RunEvent } from '../../check/events.ts';
import { eventWriter } from '../../report/machine/ndjson.ts';
import { writeAll } from './sink.ts';
import { cannotBeWritten, openAnew, openBehind, openOwnAnew, whereItIs } from './written.ts';

export interface EventFile {
  readonly emit: (event: RunEvent) => void;
  /** Why it does not hold the whole run. */
  trouble(): string | undefined;
  close(): void;
}

export interface EventFileOptions {
  /** The run goes on with the one that the file ends with: what that has told already is not told again. */
  readonly append?: boolean;
  /** The file is ours, in our folder, and none that the user named. */
  readonly own?: boolean;
}

/** A disk that fails ends the file, not the run; `complain` is told once. */
export function openEventFile(
  file: string,
  complain: (why: string) => void,
  { append = false, own = false }: EventFileOptions = {},
): EventFile {
  let descriptor: number | undefined;
  let problem: string | undefined;
  const attempt = (work: () => void): void => {
    if (problem !== undefined) return;
    try {
      work();
    } catch (error) {
      problem = cannotBeWritten(error);
      complain(problem);
    }
  };
  const write = eventWriter(
    (line) =>
      attempt(() => {
        descriptor ??= append
          ? openBehind(own ? file : whereItIs(file))
          : own
            ? openOwnAnew(file)
            : openAnew(file);
        writeAll(descriptor, line);
      }),
    () => performance.now(),
  );
  return {
    emit: (event) => {
      if (!(append && event.type === 'property-end' && event.kept === true)) write(event);
    },
    trouble: () => problem,
    close: () =>
      attempt(() => {
        if (descriptor !== undefined) closeSync(descriptor);
        descriptor = undefined;
      }),
  };
}
