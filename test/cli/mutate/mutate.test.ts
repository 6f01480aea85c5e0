// `mutate` as it is typed: what becomes of each change of a small trainer, and what is said of one that cannot be changed.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ADAPTER, ARGUMENTS, COMMAND, mutateWorld, TRAINER } from './trainer.ts';

test('a trainer that does not hold as it is has no score', async () => {
  const world = mutateWorld();
  world.write('trainer.py', TRAINER.replace('row + [pad]', 'row[1:] + [pad]'));
  expect(await world.run(...ARGUMENTS, ...COMMAND)).toBe(2);
  expect(world.err()).toMatch(/^lossproof: the trainer does not hold as it is: collate\/drops-nothing: /);
  expect(world.err()).toContain('Judge the trainer first: npx lossproof check -- python3 adapter.py');
});

test.each([
  ['a source that does not parse', ['--source', 'broken.py'], /broken\.py:1 does not parse/],
  [
    'a source that nobody imports',
    ['--source', 'other.py'],
    /--source other\.py: the adapter does not import it/,
  ],
  ['a source that is not there', ['--source', 'no.py'], /--source no\.py: there is no such file/],
])('%s', async (_, options, expected) => {
  const world = mutateWorld();
  world.write('other.py', 'x = 1\n');
  world.write('broken.py', 'def f(:\n');
  world.write(
    'adapter.py',
    ADAPTER.replace(
      'from trainer',
      'import sys, types\nsys.modules["broken"] = types.ModuleType("broken")\nsys.modules["broken"].__file__ = "broken.py"\nfrom trainer',
    ),
  );
  expect(await world.run(...ARGUMENTS, ...options, ...COMMAND), world.both()).toBe(2);
  expect(world.err()).toMatch(expected);
});

test('an adapter without Python', async () => {
  const world = mutateWorld();
  world.write(
    'adapter.mjs',
    `process.stdin.on('data', () => console.log(JSON.stringify({ id: 1, ok: { protocol: 1, name: 'n', ops: { collate: {} } } })));`,
  );
  expect(await world.run(...ARGUMENTS, '--', 'node', 'adapter.mjs'), world.both()).toBe(2);
  expect(world.err()).toMatch(/^lossproof: the trainer is not changed: mutate needs an adapter in Python/);
  expect(existsSync(join(world.folder, '.lossproof'))).toBe(false);
});

test('--max-time is counted from the beginning, and a run that had none of it is no run', async () => {
  const world = mutateWorld();
  expect(await world.run(...ARGUMENTS, '--max-time', '0.001', ...COMMAND), world.both()).toBe(2);
  expect(world.err()).toContain('--max-time was over before the trainer had been started and measured');
  expect(existsSync(join(world.folder, '.lossproof', 'mutate'))).toBe(false);
  expect(await world.run(...ARGUMENTS, '--resume', ...COMMAND)).toBe(2);
  expect(world.err()).toContain('--resume: no run of this trainer is kept');
});
