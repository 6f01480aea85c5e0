// What is written to as it stands: a pipe, a device, an open file. None of them may hold up the run: signals would not be heard. A pipe
// without a reader is refused at once, and a reader that takes nothing is waited for only so long.
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { bound, pace } from '../../bounds.ts';

/** Throws where nobody reads it. */
export function openSink(path: string): number {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NONBLOCK } = constants;
  try {
    // Windows has no such flag, and no such pipes.
    return openSync(path, O_WRONLY | O_CREAT | O_TRUNC | (O_NONBLOCK ?? 0));
  } catch (error) {
    throw codeOf(error) === 'ENXIO' ? new Error('no process reads this pipe; start its reader first') : error;
  }
}

export function writeSink(path: string, content: string): void {
  const descriptor = openSink(path);
  try {
    writeAll(descriptor, content);
  } finally {
    closeSync(descriptor);
  }
}

/** One call may write less than it was given, and a full pipe nothing. */
export function writeAll(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  let waited = 0;
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(descriptor, bytes, written);
      waited = 0;
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') throw error;
      if (waited >= READER_MILLISECONDS)
        throw new Error(`its reader took nothing for ${READER_MILLISECONDS / 1_000} s`);
      Atomics.wait(SLEEP, 0, 0, LOOK_MILLISECONDS);
      waited += LOOK_MILLISECONDS;
    }
  }
}

const READER_MILLISECONDS = bound({
  of: 'writing a report or events into a pipe, waiting for its reader to take something',
  wall: 10_000,
  over: 'exit code 2 unless a property fails: the output is incomplete; the verdicts stand',
});
const LOOK_MILLISECONDS = pace(10);
const SLEEP = new Int32Array(new SharedArrayBuffer(4));

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
