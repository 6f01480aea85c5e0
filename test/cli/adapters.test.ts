// doctor, list, init and demo: the commands that help to write an adapter, with the real properties.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { makeWorld, pythonCollate } from './world.ts';

test('init writes an adapter that runs at once, and never writes over a file', async () => {
  const world = makeWorld(properties);
  expect(await world.run('init')).toBe(0);
  expect(world.out()).toContain('Next:\n  npx trainproof doctor\n  npx trainproof check\n');
  expect(await world.run('doctor')).toBe(0);
  expect(world.out()).toMatch(/✓ mask +answers\n✓ kl +answers\n/);
  expect(await world.run('check', '--cases', '50')).toBe(0);
  expect(world.out()).toMatch(/\d+ properties: \d+ hold, \d+ unsupported/);

  const before = readFileSync(join(world.folder, 'adapter.py'), 'utf8');
  expect(before.split('\n').length).toBeLessThan(36);
  world.write('adapter.py', '# mine');
  expect(await world.run('init')).toBe(2);
  expect(world.err()).toBe(
    'trainproof: adapter.py and trainproof.config.json are already here; --force writes over\n',
  );
  expect(readFileSync(join(world.folder, 'adapter.py'), 'utf8')).toBe('# mine');
  expect(await world.run('init', '--force')).toBe(0);
  expect(readFileSync(join(world.folder, 'adapter.py'), 'utf8')).toBe(before);
});

test.each([
  ['raises', 'rows[99]', 'IndexError'],
  ['answers in the wrong shape', 'rows + [[1]]', 'input_ids'],
  ['dies', 'sys.exit(3)', '3'],
  ['prints to stdout', '(print("hi") or rows)', 'hi'],
])('doctor explains an op that %s, and exits 1', async (_, expression, word) => {
  const world = makeWorld(properties);
  world.write('adapter.py', pythonCollate(expression));
  expect(await world.run('doctor', '--', 'python3', 'adapter.py')).toBe(1);
  expect(world.out()).toContain('✗ collate');
  expect(world.out()).toContain(word);
  expect(world.out()).toContain('1 op declared, 1 tried, 1 with a complaint.');
});

test('doctor of a program that is not there exits 2', async () => {
  const world = makeWorld(properties);
  expect(await world.run('doctor', '--', 'no-such-python', 'adapter.py')).toBe(2);
  expect(world.err()).toContain('no-such-python adapter.py did not start');
});

test('list shows every property, and with a trainer which it can be checked for', async () => {
  const world = makeWorld(properties);
  expect(await world.run('list')).toBe(0);
  for (const { id } of properties) expect(world.out()).toContain(id);
  world.write('adapter.py', pythonCollate());
  expect(await world.run('list', '--', 'python3', 'adapter.py')).toBe(0);
  expect(world.out()).toContain('✓ collate/rows-survive');
  expect(world.out()).toContain('unsupported: the adapter has no op `mask`');
  expect(world.out()).toMatch(/tiny can be checked for \d of \d+ properties/);
});

test('demo catches the trainer that it is named, tells its story, and says how to see it again', async () => {
  const world = makeWorld(properties);
  expect(await world.run('demo', 'count-as-position', '--seed', '5')).toBe(0);
  expect(world.out()).toContain('Three real tokens, so the completion starts at column three');
  expect(world.out()).toContain('Reproduce   npx trainproof demo count-as-position --seed 5');
  expect(world.out()).toContain('✓ caught by extract/');
  expect(world.out()).toContain('1 of 1 caught · seed 5');
});

test('demo exits 1 where nothing catches the trainer', async () => {
  const world = makeWorld(properties.filter(({ stage }) => stage === 'kl'));
  expect(await world.run('demo', 'count-as-position', '--cases', '5')).toBe(1);
  expect(world.out()).toContain('not caught');
});

test('demo of an unknown name, or by a Python that is none, is one line', async () => {
  const world = makeWorld(properties);
  expect(await world.run('demo', 'count-as-positon')).toBe(2);
  expect(await world.run('demo', '--python', 'no-such-python')).toBe(2);
  expect(world.err().trimEnd().split('\n')).toEqual([
    'trainproof: no bundled trainer is called "count-as-positon", did you mean "count-as-position"?',
    'trainproof: no-such-python cannot list the bundled trainers (ENOENT); --python names another',
  ]);
});
