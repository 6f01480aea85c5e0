import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openTemporary, replaceWhole, sweepTemporaries, temporaryOf } from '../../src/outside/temporary.ts';

/** Above what any system gives. */
const NOBODY = 2 ** 30;
const CHANCE = '0123456789ab';

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof ü '));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('what a killed process left is removed, and nothing else', () => {
  const folder = place();
  const own = basename(temporaryOf(join(folder, 'mask.json')));
  const left = `.mask.json.${NOBODY}.${CHANCE}.tmp`;
  const other = `.kl.json.${NOBODY}.${CHANCE}.tmp`;
  const strangers = ['mask.json', `mask.json.${NOBODY}.tmp`, '.mask.json.tmp', `.of.init.1.tmp`];
  for (const name of [own, left, other, ...strangers]) writeFileSync(join(folder, name), '');
  sweepTemporaries(folder, 'mask.json');
  expect(readdirSync(folder).sort()).toEqual([own, other, ...strangers].sort());
  sweepTemporaries(folder);
  expect(readdirSync(folder).sort()).toEqual([own, ...strangers].sort());
  expect(() => sweepTemporaries(join(folder, 'none'))).not.toThrow();
});

test('no name comes twice, so that nobody can lay a link where the next file will be', () => {
  const names = Array.from({ length: 100 }, () => temporaryOf('/a/mask.json'));
  expect(new Set(names).size).toBe(100);
});

test('a link in the place of the file is replaced, and its target stays', () => {
  const folder = place();
  writeFileSync(join(folder, 'precious'), 'mine');
  symlinkSync('precious', join(folder, 'case.json'));
  replaceWhole(join(folder, 'case.json'), 'new');
  expect(readFileSync(join(folder, 'precious'), 'utf8')).toBe('mine');
  expect(readFileSync(join(folder, 'case.json'), 'utf8')).toBe('new');
});

test('a script that can be executed stays one', () => {
  const folder = place();
  writeFileSync(join(folder, 'adapter.py'), 'old');
  chmodSync(join(folder, 'adapter.py'), 0o755);
  replaceWhole(join(folder, 'adapter.py'), 'new');
  expect(statSync(join(folder, 'adapter.py')).mode & 0o777).toBe(0o755);
});

test('what cannot take its place leaves nothing behind', () => {
  const folder = place();
  mkdirSync(join(folder, 'case.json'));
  expect(() => replaceWhole(join(folder, 'case.json'), 'new')).toThrow();
  expect(() => openTemporary(join(folder, 'none', 'case.json'))).toThrow();
  expect(readdirSync(folder)).toEqual(['case.json']);
});
