// Work that grows with what is read, and no faster: four times as much takes at most some four times the steps, whatever its shape.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { scan } from '../../src/view/scan.ts';
import { qwen } from '../view/rows.ts';
import { CONVERSATIONS, JOBS } from './jobs.ts';

/** Of four times as much: tables double, and a few steps are taken once. A square would be sixteen. */
const MOST_TIMES = 6;
const ONCE = 10_000;

const script = join(PACKAGE_ROOT, 'dist', 'scripts', 'misbehaving', 'count-steps.js');
const counted: Readonly<Record<string, readonly [few: number, many: number]>> = JSON.parse(
  execFileSync(process.execPath, [script], { encoding: 'utf8' }),
);

test.each([...JOBS.keys()])('%s is read, or refused, in steps that grow with its length', (name) => {
  const [few = Number.NaN, many = Number.NaN] = counted[name] ?? [];
  expect(many).toBeLessThan(MOST_TIMES * few + ONCE);
});

test('a row of more messages and calls than any conversation has is refused, and ends nothing', () => {
  const rows = [
    CONVERSATIONS['messages without a word']?.(40_000),
    CONVERSATIONS['calls in messages']?.(20_000),
    CONVERSATIONS['calls in one message']?.(40_000),
  ];
  const viewed = rows.map((value) => scan([{ number: 1, value }], qwen, { most: 1 }).counts[0]);
  expect(viewed).toEqual(
    rows.map(() =>
      expect.objectContaining({
        id: 'too-long',
        example: expect.stringMatching(/messages and calls; 32,768/),
      }),
    ),
  );
});
