// Every way of misbehaving through the whole of `check`: the verdict that is stated, the other property judged all the same,
// nothing obeyed on the screen, and nobody left. How long each takes, and how much memory: `npm run measure:misbehaving`.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pMap from 'p-map';
import { expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { readEvents } from '../../src/report/machine/ndjson.ts';
import { runsOf } from '../../src/report/runs.ts';
import { factOf, processes } from '../../src/trainer/processes/proc.ts';
import { makeWorld } from '../cli/world.ts';
import { COLLATE, differences, EXTRACT, MISBEHAVING, type Stated, TRAINER, WORDS } from './misbehaving.ts';

/** Side by side: most of the time a trainer starts, or a deadline passes. */
const AT_ONCE = 8;
/** No deadline is near where none is stated, however busy the machine is. */
const FAR = '600';
const judged = properties.filter(({ id }) => id === EXTRACT || id === COLLATE);
/** The interpreter itself, and nothing of its environment: to start it is most of what this takes. */
const PYTHON = [
  execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim(),
  '-S',
];
const OURS = `LOSSPROOF_MISBEHAVING=${process.pid}`;

async function seenOf(how: string, { deadline, says = '' }: Stated): Promise<readonly string[]> {
  const world = makeWorld(judged);
  const [op, hello] =
    deadline === undefined
      ? [FAR, FAR]
      : says.includes('hello')
        ? [FAR, `${deadline}`]
        : [`${deadline}`, FAR];
  const limits = ['--op-timeout', op, '--hello-timeout', hello, '--events', 'events'];
  const code = await world.run('check', ...WORDS, ...limits, '--', 'env', OURS, ...PYTHON, TRAINER, how);
  let results: ReturnType<typeof runsOf>[number]['results'] = [];
  try {
    results =
      runsOf(readEvents(readFileSync(join(world.folder, 'events'), 'utf8')).events).at(-1)?.results ?? [];
  } catch {
    // It did not start: nothing was told.
  }
  // Whose a process was that had left its group is told to whoever asks first, and here many run at once.
  const told = says.includes('outlived it') ? says : '';
  return differences(MISBEHAVING[how] ?? { code: 0 }, { code, results, screen: world.both() + told });
}

test('each misbehaving trainer gets its verdict, and none of their processes is left', {
  timeout: 1_800_000,
}, async () => {
  const wrong: Record<string, readonly string[]> = {};
  const here = Object.entries(MISBEHAVING).filter(([, { endsHarness }]) => !endsHarness);
  await pMap(
    here,
    async ([how, stated]) => {
      const lines = await seenOf(how, stated);
      if (lines.length > 0) wrong[how] = lines;
    },
    { concurrency: AT_ONCE },
  );
  expect(wrong).toEqual({});
  const left = (): readonly number[] =>
    processes().filter((pid) => factOf(pid, 'environ')?.split('\0').includes(OURS));
  await expect.poll(left).toEqual([]);
});

test('each trainer that misbehaves has a verdict stated, and each that has one misbehaves', () => {
  const list = 'import json, misbehaving; print(json.dumps(list(misbehaving.known)))';
  const known = execFileSync('python3', ['-c', list, 'list'], { cwd: join(TRAINER, '..'), encoding: 'utf8' });
  expect(Object.keys(MISBEHAVING).sort()).toEqual((JSON.parse(known) as string[]).sort());
});
