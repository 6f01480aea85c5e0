// Workers and their GPUs, through the whole command: what each process finds in its environment.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeWorld, pythonCollate } from '../world.ts';

const NOTES = `import os
with open("seen", "a") as file: file.write(os.environ.get("CUDA_VISIBLE_DEVICES", "unset") + "\\n")
`;
const ADAPTER = ['--', 'python3', 'adapter.py'];
const seenIn = (folder: string): string[] =>
  readFileSync(join(folder, 'seen'), 'utf8').trim().split('\n').sort();

/** Answers nothing before two processes have begun: who has not said hello when all is judged is not waited for. */
const MEETS = `${NOTES}
import time
def met():
    until = time.monotonic() + 60
    while len(open("seen").readlines()) < 2 and time.monotonic() < until: time.sleep(0.01)
`;

test('each worker sees its own', async () => {
  const world = makeWorld(undefined, { env: { CUDA_VISIBLE_DEVICES: '4,7' } });
  world.write('adapter.py', MEETS + pythonCollate('(met(), rows)[1]'));
  const options = ['--level', 'may', '--cases', '20', '--no-profile', '--op-timeout', '90', '--workers', '2'];
  expect(await world.run('check', ...options, '--gpus-per-worker', '1', ...ADAPTER)).toBe(0);
  expect(seenIn(world.folder)).toEqual(['4', '7']);
});

test('one worker sees as many as it is given', async () => {
  const world = makeWorld(undefined, { env: { CUDA_VISIBLE_DEVICES: '1,2,3' } });
  world.write('adapter.py', NOTES + pythonCollate());
  expect(await world.run('check', '--cases', '20', '--gpus-per-worker', '2', ...ADAPTER)).toBe(0);
  expect(seenIn(world.folder)).toEqual(['1,2']);
});

test('more workers than GPUs is one sentence and exit 2, and no trainer is started', async () => {
  const world = makeWorld(undefined, { env: { CUDA_VISIBLE_DEVICES: '4,7' } });
  world.write('adapter.py', NOTES + pythonCollate());
  expect(await world.run('check', '--workers', '3', '--gpus-per-worker', '1', ...ADAPTER)).toBe(2);
  expect(world.err()).toBe(
    'lossproof: 3 workers with --gpus-per-worker 1 do not fit, CUDA_VISIBLE_DEVICES allows 2 GPUs: say --workers 2, or --gpus-per-worker 0.5\n',
  );
  expect(() => seenIn(world.folder)).toThrow();
});
