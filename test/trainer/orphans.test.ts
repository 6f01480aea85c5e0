import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { expectNobodyLeft, FOLDER } from './misbehave.ts';

const ABANDON = fileURLToPath(new URL('abandon.ts', import.meta.url));

test.each(['exit', 'throw', 'SIGTERM', 'SIGINT', 'SIGHUP'])(
  'a harness that ends by %s leaves no trainer and no grandchild',
  async (how) => {
    const folder = mkdtempSync(join(tmpdir(), 'lossproof-'));
    const pids = join(folder, 'pids');
    writeFileSync(pids, '');
    const harness = spawn(
      process.execPath,
      ['--import', 'jiti/register', ABANDON, how, join(FOLDER, 'dies/leaves_a_grandchild.py')],
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
    expect(noted).toHaveLength(2);
    await expectNobodyLeft(noted);
    rmSync(folder, { recursive: true });
  },
);
