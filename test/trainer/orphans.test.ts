import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { expectNobodyLeft, FOLDER } from './misbehave.ts';

const ABANDON = fileURLToPath(new URL('abandon.ts', import.meta.url));

test.each([
  ['exit', 'dies/leaves_a_grandchild'],
  ['throw', 'dies/leaves_a_grandchild'],
  ['SIGTERM', 'dies/leaves_a_grandchild'],
  ['SIGINT', 'dies/leaves_a_grandchild'],
  ['SIGHUP', 'dies/leaves_a_grandchild'],
  // Who has left the group is found on Linux only.
  ...(process.platform === 'linux'
    ? ['exit', 'SIGTERM', 'SIGKILL'].map((how) => [how, 'dies/leaves_daemons'])
    : []),
  // A trainer that reads nothing more does not see the end of its input.
  ['SIGKILL', 'hangs/is_deaf'],
])('a harness that ends by %s leaves nobody: %s', async (how = '', name = '') => {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-'));
  const pids = join(folder, 'pids');
  writeFileSync(pids, '');
  const harness = spawn(
    process.execPath,
    ['--import', 'jiti/register', ABANDON, how, join(FOLDER, `${name}.py`)],
    { env: { ...process.env, PID_FILE: pids, PYTHONPATH: FOLDER }, stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const exited = once(harness, 'exit');
  if (how.startsWith('SIG')) {
    await once(harness.stdout, 'data');
    harness.kill(how as NodeJS.Signals);
  }
  const [, signal] = await exited;
  expect(signal).toBe(how.startsWith('SIG') ? how : null);
  const noted = readFileSync(pids, 'utf8').split('\n').filter(Boolean).map(Number);
  expect(noted.length).toBeGreaterThan(1);
  await expectNobodyLeft(noted);
  rmSync(folder, { recursive: true });
});

test('a trainer that was stopped leaves no timer: the harness ends at once', () => {
  const argv = ['--import', 'jiti/register', ABANDON, 'stop', join(FOLDER, 'hangs/on_one_case.py')];
  const env = { ...process.env, PID_FILE: '/dev/null', PYTHONPATH: FOLDER };
  expect(execFileSync(process.execPath, argv, { env, encoding: 'utf8' })).not.toContain('Timeout');
});
