// Whether a program that ended by an error has too few open files. Loading opens hundreds at once, and Node calls one that it may not open a
// package that is missing.
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** What a start needs, with some to spare: 192 were too few. */
const LEAST_FILES = 512;

/** A sentence where the limit on open files may be why, undefined where it is not. `opens`: whether so many can be opened. */
export function filesComplaint(
  error: unknown,
  opens: (count: number) => boolean = canOpen,
): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'EMFILE' && code !== 'ENFILE' && opens(LEAST_FILES)) return undefined;
  return `too few files may be open at once. Raise the limit (ulimit -n ${2 * LEAST_FILES}) and run the same command again.`;
}

function canOpen(count: number): boolean {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync(devNull, 'r'));
    return true;
  } catch {
    return false;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}
