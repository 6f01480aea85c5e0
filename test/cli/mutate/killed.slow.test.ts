// `mutate` as a process that is killed: nothing outlives it, and what was judged is not judged again.
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { judgedIn, start, until } from './started.ts';
import { ADAPTER, mutateWorld, TRAINER, type Written } from './trainer.ts';

const ARGUMENTS = ['mutate', '--only', 'collate/*', '--cases', '10', '--seed', '1', '--workers', '2'];

/** Processes that a run in this folder has started: they have it for their working folder. */
function alive(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      const environ = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/environ`, 'utf8') : '';
      return (
        environ.includes(`PWD=${folder}`) &&
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('adapter.py')
      );
    } catch {
      return false;
    }
  });
}

/** Folders that the engine and the trainer share, in the system's temporary one. */
function sharedBy(folder: string): string[] {
  const all = readdirSync(tmpdir()).filter((name) => name.startsWith('lossproof-mutate-'));
  return all.filter((name) => {
    try {
      return readFileSync(join(tmpdir(), name, 'asked.json'), 'utf8').includes(JSON.stringify(folder));
    } catch {
      return false;
    }
  });
}

test.skipIf(process.platform !== 'linux')(
  'after kill -9 nothing is left running, and --resume loses nothing',
  async () => {
    const { folder, write } = mutateWorld();
    const trainer = TRAINER.replace('    while at < len(rows):\n        at += 1\n', '');
    write('trainer.py', trainer);
    // As slow as a model: it is killed in the middle.
    write(
      'adapter.py',
      ADAPTER.replace('    counted(input_ids)', '    import time; time.sleep(0.005)\n    counted(input_ids)'),
    );
    const command = ['--', 'python3', 'adapter.py'];
    const killed = start(folder, ...ARGUMENTS, ...command);
    await until(() => judgedIn(folder).length >= 3 || killed.child.exitCode !== null);
    killed.child.kill('SIGKILL');
    await killed.code;
    const before = judgedIn(folder);
    expect(before.length, killed.text()).toBeGreaterThanOrEqual(3);
    // The guard waits for two seconds, in which a trainer ends by itself.
    // Who removes what they shared may be the last to go, and it waits for no end of its own: only a hang ends the test.
    while (alive(folder).length > 0 || sharedBy(folder).length > 0) await sleep(100);

    const resumed = start(folder, ...ARGUMENTS, '--resume', '--json', 'out.json', ...command);
    expect(await resumed.code, resumed.text()).toBe(0);
    const after = judgedIn(folder);
    expect(after.slice(0, before.length)).toEqual(before);
    const ids = after.map((line) => (JSON.parse(line) as { readonly id: string }).id);
    expect(new Set(ids).size).toBe(ids.length);
    const result = JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8')) as Written;
    expect(result.left).toBe(0);
    expect(ids).toHaveLength(result.changes.length);
    expect(readFileSync(join(folder, 'trainer.py'), 'utf8')).toBe(trainer);
  },
);
