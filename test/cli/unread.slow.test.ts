// A standard output that nobody reads any more (`check | head -1`), or that is full, changes no verdict and loses no failure. Every
// command in this way: exits/exits.long.test.ts.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ONE, WRONG } from './exits/stated.ts';
import { pythonCollate } from './world.ts';

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');
const MAIN = resolve('src/cli/main.ts');

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof unread ü '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function start(cwd: string, argv: readonly string[], output: 'gone' | 'full'): ChildProcess {
  const full = output === 'full' ? openSync('/dev/full', 'w') : undefined;
  const child = spawn(process.execPath, ['--import', LOADER, MAIN, ...argv], {
    cwd,
    stdio: ['pipe', full ?? 'pipe', 'pipe'],
  });
  if (full !== undefined) closeSync(full);
  // Before the program has begun: its first word finds no reader.
  child.stdout?.destroy();
  child.stderr?.resume();
  return child;
}

const ended = (child: ChildProcess): Promise<unknown> =>
  new Promise((done) => child.on('close', (code, signal) => done(signal ?? code)));

test.each(['--version', '--help'])('%s that is not written whole is no success', async (word) => {
  expect(await ended(start(emptyFolder(), [word], 'gone'))).toBe(0);
  expect(await ended(start(emptyFolder(), [word], 'full'))).toBe(2);
});

test('a run whose outputs are both gone is judged to its end, and kept', async () => {
  const cwd = emptyFolder();
  writeFileSync(join(cwd, 'wrong.py'), pythonCollate('[row[:-1] for row in rows]'));
  const child = start(cwd, ['check', ...ONE, '--', ...WRONG], 'gone');
  child.stderr?.destroy();
  expect(await ended(child)).toBe(1);
  expect(readdirSync(join(cwd, '.lossproof')).sort()).toEqual([
    '.gitignore',
    'cases',
    'history.json',
    'last-run.ndjson',
  ]);
});

test('a session that cannot answer ends, while its input stays open', async () => {
  const child = start(emptyFolder(), ['session'], 'gone');
  child.stdin?.write('this is no request\n');
  expect(await ended(child)).toBe(2);
});
