// `check --all` where one trainer is slow to start: the time that each has, and Ctrl-C.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEvents } from '../../../src/report/machine/ndjson.ts';
import { type Run, runNames, runsOf } from '../../../src/report/runs.ts';
import { DROPS_NOTHING, makeWorld, pythonCollate, type World, type WorldOptions, WRONG } from '../world.ts';

interface Written {
  readonly trainers?: object;
  readonly matrix?: object;
  readonly exclude?: object;
}

/** `good` holds, `bad` is bad at 30, `side` is bad where it is told `right`. */
function worldOf(written: Written, options: WorldOptions = {}): World {
  const world = makeWorld([DROPS_NOTHING], options);
  world.write('good.py', pythonCollate());
  world.write('bad.py', pythonCollate(WRONG));
  world.write('side.py', pythonCollate(`((${WRONG}) if sys.argv[1] == 'right' else rows)`));
  world.write('lossproof.config.json', JSON.stringify({ level: 'may', cases: 40, ...written }));
  return world;
}

const GOOD = { trainer: 'python3 good.py' };

function lastRuns(world: World): readonly Run[] {
  return runsOf(readEvents(readFileSync(join(world.folder, '.lossproof', 'last-run.ndjson'), 'utf8')).events);
}

/** With a seed of which `bad` meets its 30. */
async function check(world: World, ...argv: readonly string[]): Promise<number> {
  return await world.run('check', '--seed', '7', ...argv);
}

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
