// Answers of 8.4 MB, of the shapes that take most: a run ends with a verdict, and in the memory that docs/hostile.md promises.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { MAIN, running } from '../../scripts/misbehaving/measure.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { SHAPES } from '../outside/shapes.ts';

const BYTES = 8_400_000;
const MOST_BYTES = 2 ** 30;
const CASES = '12';
/** Half a minute each at most; test/outside/work.slow.test.ts has all shapes. */
const WORST =
  /^(lists without|one wide|one object of many|many keys|pairs of quotes|a text of quotes|deep objects)/;
const worst = Object.entries(SHAPES).filter(([name]) => WORST.test(name));

test.each(worst)('an answer of %s ends in a verdict, within a gibibyte', async (_, shape) => {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof wide '));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'wide.json'), shape(BYTES));
  const trainer = join(PACKAGE_ROOT, 'test', 'trainers', 'wide.py');
  const words = [
    MAIN,
    'check',
    '--seed',
    '7',
    '--cases',
    CASES,
    '--only',
    'extract/exact-under-left-padding',
  ];
  const { code, bytes, text } = await running([...words, '--', 'python3', trainer, 'wide.json'], folder, 600)
    .ended;
  expect(text).not.toContain('defect of lossproof');
  expect(text).toContain('extract/exact-under-left-padding');
  expect([1, 2]).toContain(code);
  expect(bytes).toBeLessThan(MOST_BYTES);
});
