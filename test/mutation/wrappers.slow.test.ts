// Each cell of the matrix of relations can turn red: the wrapper that breaks a relation is killed by the property that asks
// this relation of this op, and not by its neighbours alone.
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { drawSeed } from '../../src/check/cases.ts';
import { RULES } from '../../src/check/relations/rules.ts';
import { runCase } from '../../src/check/subject.ts';
import { supportOf } from '../../src/check/support.ts';
import { unasked } from '../../src/index.ts';
import { withMutant } from '../mutants/list.ts';
import { wrapperOf, wrappers } from '../mutants/wrappers.ts';
import { startResident } from '../resident.ts';

const CASES = 60;
const resident = startResident();
afterAll(() => resident.stop());

const cells = wrappers.flatMap(({ op, way }) =>
  way.breaks
    .filter((relation) => unasked(op, relation) === undefined)
    .map((relation) => ({ op, way, relation })),
);

test.each(cells)('$op that $way.name fails $relation', async ({ op, way, relation }) => {
  const asking = properties.filter(
    ({ id, ops }) => ops.length === 1 && ops[0] === op && id.endsWith(RULES[relation].id),
  );
  const verdicts = await withMutant(
    wrapperOf(op, way),
    async (trainer, world) => {
      const found: string[] = [];
      for (const property of asking.filter((each) => supportOf(each, world) === undefined)) {
        const drawn = fc.sample(property.given(world), { seed: drawSeed(1, property), numRuns: CASES });
        for (const given of drawn) {
          const { kind } = await runCase(property, trainer, world, given);
          found.push(kind);
          if (kind === 'fails') return found;
        }
      }
      return found;
    },
    resident,
  );
  expect(verdicts).toContain('fails');
});
