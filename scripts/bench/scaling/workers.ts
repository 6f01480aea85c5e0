// A run with several workers as a user starts it, watched from outside: what their trainers had to do.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { trainersOf } from './processes.ts';

/** Stages of many properties, each of some cases: enough to be dealt out evenly. */
const STAGES = 'mask,advantages,loss,reward';
const CASES = 300;
const LOOK_MILLISECONDS = 20;

/** Seconds of processor time of each trainer, to within a look. */
export async function timeOfWorkers(workers: number): Promise<readonly number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof-scaling-'));
  const main = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
  const options = ['--only', STAGES, '--cases', String(CASES), '--seed', '1', '--no-profile', '--quiet'];
  const child = execa(
    process.execPath,
    [main, 'check', '--bundled', ...options, '--workers', String(workers)],
    { cwd: folder, reject: false },
  );
  const seconds = new Map<number, number>();
  let ended = false;
  void child.then(() => {
    ended = true;
  });
  while (!ended) {
    if (child.pid !== undefined)
      for (const each of trainersOf(child.pid)) seconds.set(each.pid, each.seconds);
    await sleep(LOOK_MILLISECONDS);
  }
  const { exitCode, stdout, stderr } = await child;
  rmSync(folder, { recursive: true });
  if (exitCode !== 0) throw new Error(`${stdout}\n${stderr}`);
  if (seconds.size !== workers) throw new Error(`${seconds.size} trainers were seen, of ${workers}`);
  return [...seconds.values()];
}
