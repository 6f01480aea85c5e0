// `discover` on verl's core algorithms: every binding is judged by what is known of the function, and none is wrong.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { type Found, judged } from '../../../scripts/discover/judged.ts';
import { packagesOf, SETS } from '../../../scripts/discover/sets.ts';
import { parseStrict } from '../../../src/outside/json.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { makeWorld } from '../../cli/world.ts';

const verl = SETS.find(({ title }) => title.startsWith('verl'));

test("verl's functions are bound with their variants, its own formulas are not, and nothing is bound wrongly", async () => {
  if (verl === undefined) throw new Error('verl is measured no more');
  const paths = verl.paths.map((path) => join(packagesOf(verl.environment), path));
  const world = makeWorld(properties);
  const python = join(PACKAGE_ROOT, verl.environment, 'bin', 'python');
  await world.run('discover', ...paths, '--python', python, '--json');
  const parsed = parseStrict(world.out());
  if (!('ok' in parsed)) throw new Error(parsed.complaint);
  const { right, own, wrong, unjudged } = judged(verl, parsed.ok as Found);
  expect(wrong).toEqual([]);
  expect(unjudged).toEqual([]);
  expect([...right, ...own].map(({ name }) => name).sort()).toEqual(
    verl.expected.map(({ name }) => name).sort(),
  );
});
