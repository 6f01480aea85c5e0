// Whether a trainer failed for want of memory.
import type { TrainerFailure } from './failure.ts';

/** By what the system did to it, or by its own words. */
export function diedOfMemory({
  signal,
  exitCode,
  kind,
  message,
  traceback,
  stderrTail,
}: TrainerFailure): boolean {
  if (kind === 'crash' && (signal === 'SIGKILL' || exitCode === 137)) return true;
  return WORDS.test([message, traceback ?? '', kind === 'crash' ? (stderrTail ?? '') : ''].join('\n'));
}

const WORDS = /MemoryError|out of memory|OutOfMemoryError|Cannot allocate memory/i;
