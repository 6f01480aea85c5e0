// For whoever starts us from a program and may be killed: what they asked for ends with them.
import { pace } from '../bounds.ts';

/** Calls back once the process that started this one is gone, unless the returned function is called before. */
export function whenStarterEnds(callback: () => void): () => void {
  const starter = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === starter) return;
    clearInterval(watch);
    callback();
  }, WATCH_MILLISECONDS);
  // It is no reason to go on.
  watch.unref();
  return () => clearInterval(watch);
}

/** Set by the Python door, where nobody sits at a terminal: we end with the process that started us. */
export const TIED = 'LOSSPROOF_TIED';

const WATCH_MILLISECONDS = pace(1_000);
