// A newcomer's path as docs/start.md has it, word by word: an empty folder, a trainer of 141 lines in it, an active environment, and
// what the page says to type. No line is written by hand. The verdict is true: it holds, and where a bug is put into the trainer, that
// is found.
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { makeWorld } from '../../cli/world.ts';

const OWN = fileURLToPath(new URL('own/grpo.py', import.meta.url));
const PAGE = readFileSync(join(PACKAGE_ROOT, 'docs', 'start.md'), 'utf8');

/** Lines in the blocks of a part of the page, each what is typed. */
const typedIn = (part: string): string[] =>
  [...part.matchAll(/^```\n(.*?)^```$/gms)].flatMap(([, block = '']) => block.trim().split('\n'));

test('what the page says to type, to a verdict, and to a bug that is put in', async () => {
  const [head = '', ...parts] = PAGE.split(/^## /m);
  const own = parts.find((part) => part.startsWith('Your own trainer')) ?? '';
  const install = typedIn(head);
  const commands = typedIn(own);
  // Either way to install is one line: scripts/wheel-test.sh and scripts/package-test.sh type it in an empty folder.
  expect(install).toEqual(['pip install lossproof', 'npm install --save-dev lossproof']);
  expect(1 + commands.length).toBe(3);

  // As `activate` does it.
  const environment = join(PACKAGE_ROOT, '.venv');
  const env = {
    VIRTUAL_ENV: environment,
    PATH: `${join(environment, 'bin')}${delimiter}${process.env.PATH ?? ''}`,
  };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const world = makeWorld(properties, { env });
  expect(readdirSync(world.folder)).toEqual([]);
  const trainer = join(world.folder, 'trainer.py');
  copyFileSync(OWN, trainer);
  const type = (command: string): Promise<number> => {
    const [program, ...words] = command.split(/\s+/);
    expect(program).toBe('lossproof');
    return world.run(...words);
  };
  for (const command of commands) expect(await type(command), world.both()).toBe(0);
  expect(
    readdirSync(world.folder)
      .filter((name) => !/^[._]/.test(name))
      .sort(),
  ).toEqual(['adapter.py', 'lossproof.config.json', 'trainer.py']);

  // Its spread divides by all rows of a group, and no longer by one less.
  const text = readFileSync(trainer, 'utf8');
  world.write('trainer.py', text.replace('.std(1, keepdim=True)', '.std(1, keepdim=True, unbiased=False)'));
  expect(await type(commands.at(-1) ?? '')).toBe(1);
  expect(world.out()).toContain('advantages/equal-the-declared-formula');
});
