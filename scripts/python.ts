// How scripts find the Python package without installing it.
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../src/version.ts';

export function pythonEnvironment(): Record<string, string> {
  return { PYTHONPATH: join(PACKAGE_ROOT, 'src', 'python') };
}
