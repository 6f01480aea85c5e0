// Whole trainers with one bug each: what is wrong is shown or left alone and never bound as right, and all else of the same file is bound
// as it is without the bug.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { parseStrict } from '../../../src/outside/json.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { makeWorld } from '../../cli/world.ts';
import { PLANTED } from './planted.ts';

const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');

interface Json {
  readonly bound: readonly {
    readonly function: string;
    readonly op: string;
    readonly answers: readonly string[];
  }[];
}

const textOf = (trainer: string): string =>
  readFileSync(fileURLToPath(new URL(`own/${trainer}.py`, import.meta.url)), 'utf8');

/** `op function fields`, of all that are bound: a field that is left out is none that holds. */
async function boundIn(text: string): Promise<string[]> {
  const world = makeWorld(properties);
  world.write('trainer.py', text);
  await world.run('discover', 'trainer.py', '--python', PYTHON, '--json');
  const parsed = parseStrict(world.out());
  if (!('ok' in parsed)) throw new Error(parsed.complaint);
  const { bound } = parsed.ok as Json;
  return bound.map(({ op, function: name, answers }) => `${op} ${name} ${answers.join()}`).sort();
}

describe.each(['grpo', 'ppo', 'plain'])('%s.py', (trainer) => {
  const text = textOf(trainer);
  let whole: Promise<string[]> | undefined;

  test.each(PLANTED.filter((each) => each.trainer === trainer))(
    '$bug in $wrong.0',
    async ({ right: stretch, instead, wrong }) => {
      expect(text.split(stretch)).toHaveLength(2);
      const isWrong = (bound: string): boolean => wrong.some((name) => bound.includes(` ${name} `));
      whole ??= boundIn(text);
      const right = await whole;
      // Without the bug they are bound: with it, their absence says something.
      expect(right.filter(isWrong)).toHaveLength(wrong.length);
      expect(await boundIn(text.replace(stretch, instead))).toEqual(right.filter((each) => !isWrong(each)));
    },
  );
});

test('the page says how many there are', () => {
  const page = readFileSync(join(PACKAGE_ROOT, 'docs', 'discover.md'), 'utf8');
  expect(page).toContain(`one of ${PLANTED.length} planted bugs`);
});
