// Ctrl-C and --max-time while a file is imported or a function called that does not come back: what was found is told at once.
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { makeWorld, type World } from '../world.ts';
import { foldersOfDiscover, ownTemporaryFolder } from './left-behind.ts';

beforeEach(ownTemporaryFolder);

const GOOD =
  'import math\n\n\ndef kl_k3_estimate(logprobs, ref_logprobs):\n    return [[math.expm1(r - p) - (r - p) for p, r in zip(*rows)] for rows in zip(logprobs, ref_logprobs)]\n';
/** Python's own signal handlers wait for such a call to end. It works in its temporary folder, and says there that it has begun. */
const hang = (indent: string): string =>
  `${indent}open("begun", "w").close()\n${indent}ctypes.CDLL(None).sleep(3600)\n`;
const IMPORTED = `import ctypes\n\n${hang('')}\n\ndef kl(logprobs, ref_logprobs):\n    return logprobs\n`;
const CALLED = `import ctypes\n\n\ndef kl(logprobs, ref_logprobs):\n${hang('    ')}    return logprobs\n`;
/** Seconds in which the first function is bound on a busy machine, too; an import is waited for longer. */
const MAX_TIME = '60';
const LAST = '2 functions: 1 bound, 0 nearly, 0 open, 0 fit nothing, 0 not called, 1 had no turn';

function worldOf(text: string): World {
  const world = makeWorld(properties, { columns: 200 });
  world.write('a_good.py', GOOD);
  world.write('b.py', text);
  return world;
}

const WORDS = ['discover', '.', '--python', 'python3', '--only', 'kl'];

test.each([
  { text: IMPORTED, doing: 'imported' },
  { text: CALLED, doing: 'looked at' },
])('Ctrl-C within a function that is $doing', async ({ text, doing }) => {
  const world = worldOf(text);
  const running = world.run(...WORDS);
  while (!foldersOfDiscover().some((name) => existsSync(join(tmpdir(), name, 'begun')))) await sleep(20);
  world.interrupt();
  expect(await running).toBe(130);
  expect(world.out()).toMatch(/✓ kl +kl_k3_estimate/);
  expect(world.out()).toMatch(new RegExp(`Broken off while kl b\\.py:\\d+ was ${doing}\\.`));
  expect(world.out()).toContain('(2 functions)');
  expect(world.out()).toContain(LAST);
  expect(foldersOfDiscover()).toEqual([]);
});

test('--max-time within a function', async () => {
  const world = worldOf(IMPORTED);
  expect(await world.run(...WORDS, '--max-time', MAX_TIME)).toBe(0);
  expect(world.out()).toMatch(/Broken off while kl b\.py:\d+ was imported\./);
  expect(world.out()).toContain(LAST);
});
