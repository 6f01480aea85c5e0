import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { signalGroup } from '../../src/trainer/processes/orphans.ts';
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

// Nobody has run it on Windows: this is the line that it would start there.
test('on Windows a tree of processes is killed by taskkill, and is not asked to end', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-'));
  const said = join(folder, 'said');
  writeFileSync(join(folder, 'taskkill'), `#!/bin/sh\nprintf '%s ' "$@" >'${said}'\n`);
  chmodSync(join(folder, 'taskkill'), 0o755);
  const platform = vi.spyOn(process, 'platform', 'get').mockReturnValue('win32');
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`);
  onTestFinished(() => {
    platform.mockRestore();
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });
  signalGroup(2_000_000_000, 'SIGTERM');
  expect(existsSync(said)).toBe(false);
  signalGroup(2_000_000_000, 'SIGKILL');
  expect(readFileSync(said, 'utf8')).toBe('/pid 2000000000 /t /f ');
});
