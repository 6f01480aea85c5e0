// The events of a run in a file, line by line as they happen, so that a run that is killed has left what it knew and
// another process can follow it. Begun with the first event: a run that never began leaves the file as it was.
import { closeSync, writeSync } from 'node:fs';
import type { RunEvent } from '../../check/events.ts';
import { eventWriter } from '../../report/machine/ndjson.ts';
import { cannotBeWritten, openAnew } from './written.ts';

export interface EventFile {
  readonly emit: (event: RunEvent) => void;
  /** Why it does not hold the whole run. */
  problem(): string | undefined;
  close(): void;
}

/** A disk that fails ends the file, not the run; `complain` is told once. */
export function openEventFile(file: string, complain: (why: string) => void): EventFile {
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
  return {
    emit: eventWriter(
      (line) =>
        attempt(() => {
          descriptor ??= openAnew(file);
          writeAll(descriptor, line);
        }),
      () => performance.now(),
    ),
    problem: () => problem,
    close: () =>
      attempt(() => {
        if (descriptor !== undefined) closeSync(descriptor);
        descriptor = undefined;
      }),
  };
}

/** One call may write less than it was given. */
function writeAll(descriptor: number, line: string): void {
  const bytes = Buffer.from(line);
  for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
}
