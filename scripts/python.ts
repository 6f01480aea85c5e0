// How scripts and tests find the Python package without installing it, and the mutants and correct trainers of the tests.
import { delimiter, join } from 'node:path';
import { PACKAGE_ROOT } from '../src/version.ts';

export function pythonEnvironment(): Record<string, string> {
  const folders = [join('src', 'python'), 'test'].map((folder) => join(PACKAGE_ROOT, folder));
  return { PYTHONPATH: folders.join(delimiter) };
}
