// A failure that was found is on the disk before it is made smaller: whatever ends the run then, the case stays and is run first next time.
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { MAIN, running } from '../../../scripts/misbehaving/measure.ts';
import { pythonCollate } from '../world.ts';

/** Of every case, and so slow that shrinking is not over when the run is ended. */
const WRONG = '[[id + 1 for id in row] for row in rows if time.sleep(0.2) is None]';

const ENDS: readonly (readonly NodeJS.Signals[])[] = [
  ['SIGKILL'],
  ['SIGINT', 'SIGINT'],
  ['SIGTERM', 'SIGTERM'],
  ['SIGHUP'],
  ['SIGHUP', 'SIGHUP'],
  ['SIGINT', 'SIGKILL'],
];

test.each(ENDS.map((signals) => [signals.join(', '), signals] as const))('%s', async (_, signals) => {
  const folder = mkdtempSync(join(tmpdir(), 'loss proof ü '));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'adapter.py'), pythonCollate(WRONG, 'import time'));
  const words = ['check', '--only', 'collate/rows-survive', '--cases', '20', '--shrink-time', '600'];
  const command = ['--no-profile', '--', 'python3', 'adapter.py'];
  const { child, ended, text } = running([MAIN, ...words, ...command], folder, 300);
  const cases = join(folder, '.lossproof', 'cases');
  const saved = (): string[] =>
    existsSync(cases) ? readdirSync(cases).filter((name) => /^\w+\.json$/.test(name)) : [];
  while (saved().length === 0 && child.exitCode === null) await sleep(20);
  expect(child.exitCode, text()).toBeNull();
  for (const signal of signals) {
    child.kill(signal);
    await sleep(100);
  }
  await ended;
  const [name = ''] = saved();
  expect(name, text()).not.toBe('');
  const replay = running([MAIN, 'replay', name.slice(0, -'.json'.length), '--trust'], folder, 300);
  expect((await replay.ended).code, replay.text()).toBe(1);
});
