// Ctrl-C in every command of the program, where it is at work and would go on: it ends, with 130 or as a shell sees a program
// that the signal has ended, and leaves no process. How long each takes to: `npm run measure:misbehaving`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pMap from 'p-map';
import { expect, test } from 'vitest';
import { factOf, processes } from '../../src/trainer/processes/proc.ts';
import { commandNames } from './commands.ts';
import { INTERRUPTIBLE, OURS } from './interruptible.ts';

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');
const MAIN = resolve('src/cli/main.ts');
/** Milliseconds behind which a command is taken for one that no Ctrl-C ends. */
const LONG = 300_000;

test('each command of the program is one of those that are interrupted', async () => {
  expect(Object.keys(INTERRUPTIBLE).sort()).toEqual(await commandNames());
});

test('Ctrl-C ends each of them', { timeout: 600_000 }, async () => {
  const ended: Record<string, unknown> = {};
  await pMap(
    Object.entries(INTERRUPTIBLE),
    async ([name, { prepare, at, input }]) => {
      const cwd = mkdtempSync(join(tmpdir(), 'loss proof interrupted ü '));
      const argv = ['--import', LOADER, MAIN, ...name.split(' '), ...prepare(cwd)];
      const child = spawn(process.execPath, argv, { cwd, env: { ...process.env, ...OURS, NO_COLOR: '1' } });
      let text = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
      const exit = new Promise<unknown>((done) => {
        child.on('close', (code, signal) => done(signal ?? code));
      });
      const gone = exit.then(() => true);
      let isGone = false;
      while (!isGone && !at(cwd, text)) isGone = (await Promise.race([gone, sleep(20)])) === true;
      child.kill('SIGINT');
      if (input === 'ends') child.stdin.end();
      const how = await Promise.race([exit, sleep(LONG).then(() => 'it goes on')]);
      // Whoever asks a session hears of the signal, too, and is answered.
      const isEnded = how === 130 || how === 'SIGINT' || (input === 'ends' && how === 0);
      if (isGone || !isEnded) ended[name] = `${how}: ${text.slice(-300)}`;
      child.kill('SIGKILL');
      rmSync(cwd, { recursive: true, force: true });
    },
    { concurrency: 4 },
  );
  expect(ended).toEqual({});
  const [[name, value] = []] = Object.entries(OURS);
  const left = (): readonly number[] =>
    processes().filter((pid) => factOf(pid, 'environ')?.split('\0').includes(`${name}=${value}`));
  await expect.poll(left).toEqual([]);
});

test('Ctrl-C ends a run that is busy, whatever it is busy with', { timeout: 600_000 }, async () => {
  const argv = ['--import', LOADER, MAIN, 'check', '--bundled', '--cases', '1000000', '--no-profile'];
  const ended = await pMap(
    ['render', 'mask', 'kl', 'collate', 'sft-loss', 'gae'],
    async (stage, index) => {
      const cwd = mkdtempSync(join(tmpdir(), 'loss proof interrupted ü '));
      const child = spawn(process.execPath, [...argv, '--only', stage], { cwd });
      const exit = once(child, 'exit');
      await Promise.race([once(child.stdout, 'data'), exit]);
      await sleep(1_000 + 50 * index);
      child.kill('SIGINT');
      const how = await Promise.race([exit, sleep(LONG).then(() => 'it goes on')]);
      child.kill('SIGKILL');
      rmSync(cwd, { recursive: true, force: true });
      return [stage, how];
    },
    { concurrency: 2 },
  );
  for (const [stage, how] of ended) expect(how, String(stage)).toEqual([130, null]);
});

test.each([
  ['does not end', 'while (true) {}'],
  ['waits for what never comes', 'await new Promise(() => setInterval(() => {}, 1_000));'],
])('Ctrl-C ends a command whose configuration %s', async (_, text) => {
  const cwd = mkdtempSync(join(tmpdir(), 'loss proof interrupted ü '));
  const mark = "import { writeFileSync } from 'node:fs';\nwriteFileSync('read', '');\n";
  writeFileSync(join(cwd, 'lossproof.config.mjs'), `${mark}${text}\nexport default {};\n`);
  const child = spawn(process.execPath, ['--import', LOADER, MAIN, 'check'], { cwd, stdio: 'ignore' });
  const exit = once(child, 'exit');
  while (!existsSync(join(cwd, 'read'))) await sleep(20);
  child.kill('SIGINT');
  expect(await exit).toEqual([null, 'SIGINT']);
  rmSync(cwd, { recursive: true });
});
