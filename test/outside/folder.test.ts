import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolders } from '../../src/outside/folder.ts';

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof ü '));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('all folders of a path are made, also where some are there', () => {
  const folder = place();
  for (const name of ['a/b/c', 'a/b/c', 'a/d']) makeFolders(join(folder, name));
  expect(statSync(join(folder, 'a/b/c')).isDirectory()).toBe(true);
});

test.each([
  ['below a file', (path: string) => writeFileSync(path, '')],
  ['below a link to nothing', (path: string) => symlinkSync('nothing', path)],
  ['below a link to itself', (path: string) => symlinkSync(path, path)],
  ['where the kernel makes none', (path: string) => symlinkSync('/proc/self', path)],
  ['below a device', (path: string) => symlinkSync('/dev/null', path)],
])('%s it throws, and comes to an end', (_, lay) => {
  const folder = place();
  lay(join(folder, 'at'));
  expect(() => makeFolders(join(folder, 'at', 'cases', 'more'))).toThrow();
});
