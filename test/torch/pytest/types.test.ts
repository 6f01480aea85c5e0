// `py.typed` is a promise: mypy takes what users write as it is, and finds a mistake in each line that has one.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { PYTHON } from './pytest.ts';

const FILES = join(import.meta.dirname, 'types');
const PACKAGES = join(PACKAGE_ROOT, 'src', 'python');

/** `wrong.py:22 attr-defined`, of every error. */
let found: readonly string[] = [];
let said = '';

beforeAll(async () => {
  const cache = mkdtempSync(join(tmpdir(), 'lossproof-mypy-'));
  try {
    const shown = ['--no-error-summary', '--hide-error-context', '--no-color-output'];
    const words = ['-m', 'mypy', ...shown, '--cache-dir', cache, 'right.py', 'wrong.py'];
    // As pip has it: mypy asks this Python for its packages, and takes the types of those that have a py.typed.
    const ran = await execa(PYTHON, words, { cwd: FILES, env: { PYTHONPATH: PACKAGES }, reject: false });
    said = ran.stdout + ran.stderr;
    found = [...said.matchAll(/^(\w+\.py):(\d+): error: .*\[([\w-]+)\]$/gm)].map(
      ([, file, line, code]) => `${file}:${line} ${code}`,
    );
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
});

test('what is right is taken as it is', () => {
  expect(found.length, said).toBeGreaterThan(0);
  expect(
    found.filter((each) => each.startsWith('right.py')),
    said,
  ).toEqual([]);
});

test('each planted mistake is found, where it is, and as what it is', () => {
  const planted = readFileSync(join(FILES, 'wrong.py'), 'utf8')
    .split('\n')
    .flatMap((line, at) => {
      const [, codes] = /\S {2}# ([\w-]+(?:, [\w-]+)*)$/.exec(line) ?? [];
      return (codes?.split(', ') ?? []).map((code) => `wrong.py:${at + 1} ${code}`);
    });
  expect(planted.length).toBeGreaterThan(40);
  expect([...found].sort()).toEqual(planted.sort());
});

test('the stub of `lossproof` has the names that the package has', async () => {
  const stub = readFileSync(join(PACKAGES, 'lossproof', '__init__.pyi'), 'utf8');
  const declared = [...stub.matchAll(/^(?:from \S+ import \w+ as (\w+)|def ([a-z]\w*))/gm)].map(
    ([, imported, defined]) => imported ?? defined,
  );
  const asked = 'import json, lossproof; print(json.dumps(lossproof.__all__ + list(lossproof._LAZY)))';
  const { stdout } = await execa(PYTHON, ['-c', asked], { env: { PYTHONPATH: PACKAGES } });
  expect([...new Set(declared)].sort()).toEqual((JSON.parse(stdout) as string[]).sort());
});
