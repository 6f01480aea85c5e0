// A pip that changes nothing of the user's: in an environment of its own, made for one build.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export interface Pip {
  readonly file: string;
  readonly words: readonly string[];
}

/** `python3` is whichever Python is in the PATH; Debian's own has no pip outside of an environment. */
export function pipIn(folder: string): Pip {
  const windows = process.platform === 'win32';
  execFileSync(windows ? 'python' : 'python3', ['-m', 'venv', folder], { stdio: 'inherit' });
  return {
    file: windows ? join(folder, 'Scripts', 'python.exe') : join(folder, 'bin', 'python'),
    words: ['-m', 'pip', '--disable-pip-version-check'],
  };
}
