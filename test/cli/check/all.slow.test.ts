// `check --all` where one trainer is slow to start: the time that each has, and Ctrl-C.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runNames } from '../../../src/report/runs.ts';
import { pythonCollate } from '../world.ts';
import { check, GOOD, lastRuns, worldOf } from './shared/of-all.ts';

test('Ctrl-C before the next one has said hello writes the reports, and leaves', async () => {
  const world = worldOf(
    { trainers: { first: GOOD, silent: { trainer: 'python3 silent.py', helloTimeout: 2 }, last: GOOD } },
    {},
  );
  world.write('silent.py', 'import sys, time\nopen("started", "w").close()\ntime.sleep(60)\n');
  const done = check(world, '--all', '--html', 'r.html');
  await expect.poll(() => existsSync(join(world.folder, 'started')), { timeout: 30_000 }).toBe(true);
  world.interrupt();
  await expect.poll(() => world.exits, { timeout: 30_000 }).toEqual([130]);
  expect(readFileSync(join(world.folder, 'r.html'), 'utf8')).toContain(
    'The check was interrupted before it.',
  );
  expect(runNames(lastRuns(world))).toEqual(['first', 'silent', 'last']);
  expect(await done).toBe(130);
  expect(runNames(lastRuns(world))).toEqual(['first', 'silent', 'last']);
});

test('of --max-time each has an equal share of what is left, its start included', async () => {
  const slow = { trainer: 'python3 slow.py' };
  const world = worldOf({ trainers: { slow, good: GOOD } });
  // Longer than a share, and not than all of it.
  world.write('slow.py', pythonCollate('rows', 'import time; time.sleep(8)'));
  expect(await check(world, '--all', '--max-time', '15')).toBe(2);
  const [first, second] = lastRuns(world);
  expect(first?.end?.stopped).toBe('time');
  expect(first?.results.map(({ verdict, cases }) => [verdict, cases])).toEqual([['interrupted', 0]]);
  expect(second?.results.map(({ verdict }) => verdict)).toEqual(['pass']);
});
