// A trainer whose process is renewed while a run goes on: the same verdict, and that it was renewed is said wherever the
// run is shown.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeWorld, pythonCollate } from '../world.ts';

const SENTENCE = "The trainer's process was renewed 2 times, each after 40 requests.";

test('--renew-after: the run says how often and why, and so do its reports', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate());
  const reports = ['--events', 'events.ndjson', '--html', 'report.html', '--markdown', 'report.md'];
  const options = ['--no-profile', '--seed', '7', '--cases', '100', '--renew-after', '40'];
  expect(await world.run('check', ...options, ...reports, '--', 'python3', 'adapter.py')).toBe(0);
  expect(world.out()).toContain(`\n${SENTENCE}\n`);
  expect(world.out()).toContain('1 property: 1 holds · seed 7');
  const written = (name: string): string => readFileSync(join(world.folder, name), 'utf8');
  const last = JSON.parse(written('events.ndjson').trimEnd().split('\n').at(-1) ?? '');
  expect(last).toMatchObject({ type: 'run-end', renewed: [{ times: 2, why: 'after 40 requests' }] });
  for (const name of ['report.html', 'report.md'])
    expect(written(name).replaceAll('&#39;', "'").replaceAll('&#x27;', "'")).toContain(SENTENCE);
});

test('a process that is not renewed is not said to be', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate());
  expect(
    await world.run('check', '--cases', '20', '--renew-after', '10000', '--', 'python3', 'adapter.py'),
  ).toBe(0);
  expect(world.out()).not.toContain('renewed');
});

test('--renew-above less than a fresh process takes is one sentence and exit 2', async () => {
  const world = makeWorld();
  world.write('adapter.py', pythonCollate());
  expect(await world.run('check', '--renew-above', '0.001', '--', 'python3', 'adapter.py')).toBe(2);
  expect(world.err()).toMatch(
    /holds 0\.\d+ GB before its first request, so that a limit of 0\.001 GB cannot/,
  );
});

test('an object in this process cannot be renewed, and says so', async () => {
  const world = makeWorld();
  world.write(
    'lossproof.config.mjs',
    "export default { trainer: { hello: { protocol: 1, name: 'x', ops: { collate: {} } }, ops: { collate: () => ({}) } } };",
  );
  expect(await world.run('check', '--renew-after', '10')).toBe(2);
  expect(world.err()).toMatch(/is an object in this process, which cannot be renewed\n$/);
});
