// A standard output that nobody reads any more (`check | head -1`), or that is full, changes no verdict and loses no failure. Every
// command in this way: unread.long.test.ts.
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandNames } from './commands.ts';
import { COMMANDS, emptyFolder, ended, ONE, prepared, start, troublesOf, WRONG } from './unread.ts';

let folder = '';
beforeAll(async () => {
  folder = await prepared();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('each command of the program is one of those that are not read', () => {
  expect(Object.keys(COMMANDS).sort()).toEqual(commandNames());
});

test.each(['gone', 'full'] as const)(
  'with a standard output that is %s each exits with its own code',
  async (output) => {
    expect(
      await troublesOf(folder, ['check', 'golden check', 'replay', 'doctor', 'list', 'session'], output),
    ).toEqual({});
  },
);

test.each(['--version', '--help'])('%s that is not written whole is no success', async (word) => {
  expect(await ended(start(folder, [word], 'gone'))).toBe(0);
  expect(await ended(start(folder, [word], 'full'))).toBe(2);
});

test('a run whose outputs are both gone is judged to its end, and kept', async () => {
  const cwd = emptyFolder();
  cpSync(folder, cwd, { recursive: true });
  rmSync(join(cwd, '.lossproof'), { recursive: true });
  const child = start(cwd, ['check', ...ONE, ...WRONG], 'gone');
  child.stderr?.destroy();
  expect(await ended(child)).toBe(1);
  expect(readdirSync(join(cwd, '.lossproof')).sort()).toEqual([
    '.gitignore',
    'cases',
    'history.json',
    'last-run.ndjson',
  ]);
  rmSync(cwd, { recursive: true, force: true });
});

test('a session that cannot answer ends, while its input stays open', async () => {
  const child = start(folder, ['session'], 'gone', 'open');
  child.stdin?.write('this is no request\n');
  expect(await ended(child)).toBe(2);
});
