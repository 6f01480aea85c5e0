// A folder with all folders above it. Node's own way never returns where a parent takes no folders (/proc, as a link may point to).
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Throws if it cannot be made. */
export function makeFolders(path: string, mode?: number): void {
  const isThere = (): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isThere()) return;
  if (dirname(path) !== path) makeFolders(dirname(path), mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isThere()) throw error;
  }
}
