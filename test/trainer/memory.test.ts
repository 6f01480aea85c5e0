// The memory of real processes, read from outside.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { residentBytes } from '../../src/trainer/processes/memory.ts';

/** In a group of its own; it ends with its standard input. */
async function started(code: string): Promise<number> {
  const child = spawn('python3', ['-c', code], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.stdin.end());
  await once(child.stdout, 'data');
  if (child.pid === undefined) throw new Error('no pid');
  return child.pid;
}

test('of a process and of those that it started, together', async () => {
  const alone = await started("import sys; kept = b'x' * 60_000_000; print(1, flush=True); sys.stdin.read()");
  const two = await started(
    "import os, sys\nif os.fork(): sys.stdin.read()\nelse:\n kept = b'x' * 60_000_000; print(1, flush=True); sys.stdin.read()",
  );
  for (const group of [alone, two]) {
    expect(residentBytes(group)).toBeGreaterThan(60e6);
    expect(residentBytes(group)).toBeLessThan(160e6);
  }
});

test('of a group that is gone nothing is known', () => {
  expect(residentBytes(2 ** 22 + 1)).toBeUndefined();
});
