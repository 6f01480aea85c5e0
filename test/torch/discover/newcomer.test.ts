// A newcomer's path: a trainer of 141 lines in an empty folder, no line written by hand, to the first true verdict: it holds, and once
// a bug is put into the trainer, that is found.
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { makeWorld } from '../../cli/world.ts';

const OWN = fileURLToPath(new URL('own/grpo.py', import.meta.url));

test('from init --from to a verdict, and to a bug that is put in', async () => {
  const world = makeWorld(properties);
  const trainer = join(world.folder, 'trainer.py');
  copyFileSync(OWN, trainer);
  const python = join(PACKAGE_ROOT, '.venv', 'bin', 'python');
  expect(await world.run('init', '--from', 'trainer.py', '--python', python)).toBe(0);
  const check = ['check', '--cases', '10', '--no-corpus', '--seed', '1'];
  expect(await world.run(...check), world.both()).toBe(0);

  // Its spread divides by all rows of a group, and no longer by one less.
  const text = readFileSync(trainer, 'utf8');
  world.write('trainer.py', text.replace('.std(1, keepdim=True)', '.std(1, keepdim=True, unbiased=False)'));
  expect(await world.run(...check)).toBe(1);
  expect(world.out()).toContain('advantages/equal-the-declared-formula');
});
