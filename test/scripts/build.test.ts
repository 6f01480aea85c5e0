import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT, VERSION } from '../../src/version.ts';

test('a command that is linked from a clone runs after any build', async () => {
  const { stdout } = await execa(join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js'), ['--version']);
  expect(stdout).toContain(VERSION);
});

test('the lists name all that the folders hold, as a build leaves them', async () => {
  const { missing }: { missing: () => readonly { file: string }[] } = await import(
    join(PACKAGE_ROOT, 'scripts', 'lists.mjs')
  );
  expect(missing().map(({ file }) => file)).toEqual([]);
});
