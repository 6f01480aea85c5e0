import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sweepTemporaries, temporaryOf } from '../../src/outside/temporary.ts';

/** Above what any system gives. */
const NOBODY = 2 ** 30;

test('what a killed process left is removed, and nothing else', () => {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof ü '));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const own = basename(temporaryOf(join(folder, 'mask.json')));
  const left = `.mask.json.${NOBODY}.tmp`;
  const other = `.kl.json.${NOBODY}.tmp`;
  const strangers = ['mask.json', `mask.json.${NOBODY}.tmp`, '.mask.json.tmp', `.of.init.1.tmp`];
  for (const name of [own, left, other, ...strangers]) writeFileSync(join(folder, name), '');
  sweepTemporaries(folder, 'mask.json');
  expect(readdirSync(folder).sort()).toEqual([own, other, ...strangers].sort());
  sweepTemporaries(folder);
  expect(readdirSync(folder).sort()).toEqual([own, ...strangers].sort());
  expect(() => sweepTemporaries(join(folder, 'none'))).not.toThrow();
});
