// A trainer whose every answer is as large as its shape allows: a run ends with a verdict, in less than a gibibyte, and hears Ctrl-C.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { MAIN, type Running, running } from '../../scripts/misbehaving/measure.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { SHAPES } from '../outside/shapes.ts';

const MOST_BYTES = 2 ** 30;
/** Below the 2 ** 18 values that a row of an answer may have. */
const WITHIN = 520_000;
const LARGE = 8_400_000;
/** Nearly the longest line. */
const LONGEST = 60_000_000;
const ONLY = 'extract/exact-under-left-padding,extract/same-twice,extract/inputs-are-unchanged';

const of = (bytes: number, ...names: readonly (keyof typeof SHAPES)[]) =>
  names.map((name) => [name, bytes] as const);
/** The worst of them; test/outside/work.slow.test.ts counts the steps of all. */
const ANSWERS = [
  ...of(WITHIN, 'one wide row', 'fractions', 'texts that differ'),
  ...of(LARGE, 'lists without anything', 'deep objects', 'one object of many keys', 'pairs of quotes', 'NaN'),
  ...of(LONGEST, 'one wide row', 'a text of quotes', 'objects with one key'),
];

function checked(name: string, bytes: number, cases: string): Running {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof wide '));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'wide.json'), SHAPES[name]?.(bytes) ?? '');
  const trainer = join(PACKAGE_ROOT, 'test', 'trainers', 'wide.py');
  const words = [MAIN, 'check', '--seed', '7', '--cases', cases, '--only', ONLY, '--no-profile'];
  return running([...words, '--', 'python3', trainer, 'wide.json'], folder, 600);
}

test.each(ANSWERS)('%s, %d bytes each time: a verdict, within a gibibyte', async (name, size) => {
  const { code, bytes, text } = await checked(name, size, '12').ended;
  expect(text).not.toContain('defect of lossproof');
  expect(text).toContain('extract/exact-under-left-padding');
  expect(code).toBe(1);
  // Rows are quoted by their beginning and their end.
  expect(text.length).toBeLessThan(50_000);
  expect(bytes).toBeLessThan(MOST_BYTES);
});

test('rows that are padded to the length of a context are right, and not searched place by place', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof wide '));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const trainer = join(PACKAGE_ROOT, 'test', 'trainers', 'wide_padding.py');
  const words = [MAIN, 'check', '--seed', '7', '--cases', '4', '--only', 'collate', '--no-profile'];
  const env = { PYTHONPATH: join(PACKAGE_ROOT, 'src', 'python') };
  const { code, text } = await running([...words, '--', 'python3', trainer], folder, 300, env).ended;
  expect(text).toContain('9 hold, 1 skipped');
  expect(code).toBe(0);
});

test.each(of(LARGE, 'one wide row', 'a text of quotes', 'fractions'))(
  '%s, %d bytes each time: Ctrl-C is heard, and what was found is said',
  async (name, size) => {
    const run = checked(name, size, '100000');
    while (!run.text().includes('checking')) await sleep(50);
    await sleep(1_000);
    run.child.kill('SIGINT');
    const { code, text } = await run.ended;
    expect(code).toBe(130);
    expect(text).toMatch(/interrupted/);
  },
);
