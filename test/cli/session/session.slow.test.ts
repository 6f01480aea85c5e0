// `session` as a process: how it ends, and the trainer with it.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { isAlive } from '../../trainer/misbehave.ts';
import { makeWorld, pythonCollate } from '../world.ts';

test.each([
  ['the end of its input', (child: ChildProcess) => void child.stdin?.end()],
  ['SIGTERM', (child: ChildProcess) => void child.kill('SIGTERM')],
])('%s ends it and the trainer that is being judged, and Ctrl-C does not', async (_, end) => {
  const world = makeWorld();
  const file = join(world.folder, 'pid');
  const slow = `import os, time; open(${JSON.stringify(file)}, "w").write(str(os.getpid()))`;
  world.write('slow.py', pythonCollate('(time.sleep(600), rows)[1]', slow));
  const child = spawn(process.execPath, ['--import', LOADER, MAIN, 'session'], { cwd: world.folder });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8');
  });
  const gone = new Promise((resolve) => void child.on('close', resolve));
  const isTold = (text: string): Promise<void> => expect.poll(() => out.includes(text)).toBe(true);
  const open = { id: 1, do: 'open', command: 'python3 slow.py', only: ['collate'], op_timeout: 600 };
  child.stdin.write(`${JSON.stringify(open)}\n`);
  await isTold('"of":1');
  child.kill('SIGINT');
  child.stdin.write('{"id":2}\n');
  await isTold('"id":2');
  child.stdin.write('{"id":3,"do":"check","of":1,"property":"collate/rows-survive","seed":1}\n');
  await isTold('property-start');
  const trainer = Number(readFileSync(file, 'utf8'));
  expect(isAlive(trainer)).toBe(true);
  end(child);
  await gone;
  await expect.poll(() => isAlive(trainer)).toBe(false);
  expect(out).not.toContain('"id":3,"ok"');
});

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');
const MAIN = resolve('src/cli/main.ts');
