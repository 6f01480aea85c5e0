// Runs once before all tests: `python3` on PATH is the interpreter alone, in a virtual environment without packages. What is
// installed beside it does not reach a test, and it starts in a seventh of the time that a shim of pyenv takes: tests start
// hundreds.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

export function setup(): (() => void) | undefined {
  // On Windows an environment is more than a link. Once per run is enough: all projects share this process.
  if (process.platform === 'win32' || process.env[DONE] !== undefined) return undefined;
  const base = ['-c', 'import os, sys; print(os.path.realpath(sys.executable))'];
  const interpreter = spawnSync('python3', base, { encoding: 'utf8' }).stdout?.trim() ?? '';
  if (interpreter === '') return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-python-'));
  mkdirSync(join(folder, 'bin'));
  symlinkSync(interpreter, join(folder, 'bin', 'python3'));
  writeFileSync(join(folder, 'pyvenv.cfg'), `home = ${dirname(interpreter)}\n`);
  process.env[DONE] = folder;
  process.env.PATH = `${join(folder, 'bin')}${delimiter}${process.env.PATH ?? ''}`;
  return () => rmSync(folder, { recursive: true, force: true });
}

const DONE = 'TEST_PYTHON';
