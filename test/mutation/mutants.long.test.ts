// Mutation testing at one seed: every mutant is killed by a property of the ops that it has wrong, and every property
// kills one. `mutants.ts` asks many seeds, and how many cases it takes; `kills.test.ts` asks only the cases that kill.
import { describe, expect, test } from 'vitest';
import { listMutants } from '../mutants/list.ts';
import { matrixRow, propertyIds } from './matrix.ts';

/** Fewer than the command line's default, which the matrix is made with: nearly all are caught within ten. */
const OPTIONS = { seeds: [1], cases: 40, shrinkMilliseconds: 0 };

const mutants = listMutants();
const victims = new Map(propertyIds.map((id): [string, string[]] => [id, []]));

describe.concurrent('mutants', () => {
  test.each(mutants)('$id is killed by a property of its ops', { timeout: 300_000 }, async (mutant) => {
    const { by, asked, errors } = await matrixRow(mutant, OPTIONS);
    for (const property of by.keys()) victims.get(property)?.push(mutant.id);
    expect(errors, `${mutant.id} (${mutant.title}) has errors where it should have failures`).toEqual([]);
    expect(by.size, `${mutant.id} (${mutant.title}) survives ${asked} properties`).toBeGreaterThan(0);
  });
});

// After the group above: vitest runs what is not concurrent when the concurrent tests are done.
test.each(propertyIds)('%s kills a mutant', (id) => {
  expect(victims.get(id), `${id} kills nothing: no mutant fails it`).not.toEqual([]);
});
