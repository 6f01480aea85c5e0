// What a machine does to a run: its disk is full, its clock jumps, the process is stopped for longer than any deadline. None of it is
// the trainer's fault, and none of it changes the verdict.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import type { RunEvent } from '../../../src/index.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';

const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
const CHECK = ['check', '--seed', '1', '--cases', '20', '--only', 'collate,mask', '--no-profile'];
const WRONG = ['--', 'python3', '-m', 'lossproof.examples.faulty', 'mask-for-right-padding'];
const options = { reject: false, all: true, env: { NO_COLOR: '1' } } as const;

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof ü '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What a person reads, less how long it took. */
const said = (all: string): string => all.replaceAll(/ · [\d.]+ m?s\b/g, '');

test('where the clock jumps by days, back and forth, the same is said', async () => {
  const folder = emptyFolder();
  writeFileSync(
    join(folder, 'jump.mjs'),
    `const real = Date; let asked = 0;
       const jumped = () => real.now() + ((asked++ % 3) - 1) * 86_400_000;
       globalThis.Date = class extends real {
         constructor(...words) { super(...(words.length > 0 ? words : [jumped()])); }
         static now() { return jumped(); }
       };`,
  );
  const run = (words: readonly string[], name: string) => {
    const cwd = join(folder, name);
    mkdirSync(cwd);
    return execa(process.execPath, [...words, MAIN, ...CHECK, ...WRONG], { ...options, cwd });
  };
  const right = await run([], 'right');
  const jumping = await run(['--import', join(folder, 'jump.mjs')], 'jumping');
  expect(right.exitCode, right.all).toBe(1);
  expect(jumping.exitCode).toBe(1);
  expect(said(jumping.all)).toBe(said(right.all));
  const events = readFileSync(join(folder, 'jumping', '.lossproof', 'last-run.ndjson'), 'utf8').trim();
  const lines = events.split('\n').map((line) => JSON.parse(line) as RunEvent);
  const results = lines.filter((event) => event.type === 'property-end');
  expect(results.length).toBeGreaterThan(5);
  for (const {
    result: { milliseconds },
  } of results) {
    expect(milliseconds).toBeGreaterThanOrEqual(0);
    expect(milliseconds).toBeLessThan(600_000);
  }
});

test('a harness that is stopped for longer than the deadline does not blame the trainer', async () => {
  const folder = emptyFolder();
  const words = ['check', '--bundled', '--seed', '1', '--cases', '150', '--op-timeout', '1', '--no-profile'];
  const child = execa(process.execPath, [MAIN, ...words, '--only', 'collate,mask'], {
    ...options,
    cwd: folder,
  });
  const file = join(folder, '.lossproof', 'last-run.ndjson');
  await expect.poll(() => existsSync(file), { timeout: 60_000, interval: 20 }).toBe(true);
  let stops = 0;
  for (; stops < 3 && child.exitCode === null; stops++) {
    child.kill('SIGSTOP');
    await sleep(1_500);
    child.kill('SIGCONT');
    await sleep(40);
  }
  const { exitCode, all } = await child;
  expect(exitCode, all).toBe(0);
  expect(stops).toBeGreaterThan(0);
  expect(all).not.toContain('did not answer');
});

const mounts = spawnSync('unshare', ['--map-root-user', '--mount', 'true']).status === 0;

test.skipIf(!mounts)(
  'on a disk that is full the verdict is said all the same, and what is not kept',
  async () => {
    const folder = emptyFolder();
    const script = `mkdir full && mount -t tmpfs -o size=64k tmpfs full && cd full && head -c 57344 /dev/zero >fill
      "$@"; code=$?; cp -r .lossproof/cases ../kept; exit $code`;
    const command = [process.execPath, MAIN, ...CHECK, ...WRONG];
    const { exitCode, all } = await execa(
      'unshare',
      ['--map-root-user', '--mount', 'bash', '-c', script, 'bash', ...command],
      { ...options, cwd: folder },
    );
    expect(exitCode, all).toBe(1);
    expect(all).toContain('✗ mask/');
    expect(all).toMatch(/^lossproof: .*ENOSPC/m);
    // What is kept is whole.
    for (const name of readdirSync(join(folder, 'kept')))
      for (const line of readFileSync(join(folder, 'kept', name), 'utf8')
        .trim()
        .split('\n'))
        expect(() => JSON.parse(line), name).not.toThrow();
  },
);
