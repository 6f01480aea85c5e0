// The events of a run in a file, line by line as they happen, so that a run that is killed has left what it knew and
// another process can follow it. Begun with the first event: a run that never began leaves the file as it was.
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { RunEvent } from '../../check/events.ts';
import { eventWriter } from '../../report/machine/ndjson.ts';
import { cannotBeWritten, openAnew } from './written.ts';

export interface EventFile {
  readonly emit: (event: RunEvent) => void;
  /** Why it does not hold the whole run. */
  trouble(): string | undefined;
  close(): void;
}

export interface EventFileOptions {
  /** The run goes on with the one that the file ends with: what that has told already is not told again. */
  readonly append?: boolean;
}

/** A disk that fails ends the file, not the run; `complain` is told once. */
export function openEventFile(
  file: string,
  complain: (why: string) => void,
  { append = false }: EventFileOptions = {},
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
        descriptor ??= append ? openBehind(file) : openAnew(file);
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

/** Behind the last whole line: what a killed run left of another is cut off. */
function openBehind(file: string): number {
  const descriptor = openSync(file, 'r+');
  const whole = readFileSync(descriptor).lastIndexOf(NEWLINE) + 1;
  ftruncateSync(descriptor, whole);
  closeSync(descriptor);
  return openSync(file, 'a');
}

const NEWLINE = 0x0a;

/** One call may write less than it was given. */
function writeAll(descriptor: number, line: string): void {
  const bytes = Buffer.from(line);
  for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
}
