// Wrong trainers that hide their bug: each ends in exit code 1 or 2, or docs/hostile.md says why it cannot be detected.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import pMap from 'p-map';
import { expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { FAILED, HOLDS, NO_VERDICT } from '../../src/cli/exit.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { makeWorld } from '../cli/world.ts';
import { WAYS, WRONG } from './ways.ts';

const TRAINER = join(PACKAGE_ROOT, 'test', 'trainers', 'hiding.py');
const CASES = 60;
const docs = readFileSync(join(PACKAGE_ROOT, 'docs', 'hostile.md'), 'utf8');

test.each(WRONG)('%s is found, however it hides', { timeout: 1_800_000 }, async (mutant) => {
  const others: Record<string, string> = {};
  await pMap(
    Object.entries(WAYS),
    async ([way, { unseen, errs, deadline }]) => {
      const world = makeWorld(properties);
      const limits = deadline === undefined ? [] : ['--op-timeout', `${deadline}`];
      const argv = ['check', '--seed', '7', '--cases', `${CASES}`, '--no-corpus', ...limits];
      const code = await world.run(...argv, '--', 'python3', TRAINER, way, mutant);
      const meant = unseen === undefined ? [FAILED, NO_VERDICT] : [HOLDS];
      // An error where none is meant would hide that the way itself is not found.
      const isMeant = meant.includes(code) && (errs === true || !/\d errors?\b/.test(world.both()));
      if (!isMeant) others[way] = `ends in ${code}: ${world.both().slice(-400)}`;
    },
    { concurrency: availableParallelism() },
  );
  expect(others).toEqual({});
});

test('docs/hostile.md lists the ways that cannot be detected, with the reason', () => {
  const said = docs.replaceAll(/\s+/g, ' ');
  for (const [way, { unseen }] of Object.entries(WAYS))
    if (unseen !== undefined) expect(said).toContain(`- It ${way}: ${unseen}.`);
});
