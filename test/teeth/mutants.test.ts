// The proof of the properties' teeth: every bundled faulty trainer is caught by a property of the op that it has
// wrong, and every property catches one. One process a trainer; failures are not shrunk.
import { describe, expect, test } from 'vitest';
import { kills, listMutants, propertyIds } from '../../scripts/matrix.ts';

/** The default of the command line. */
const CASES = 100;
const SEED = 1;

const mutants = listMutants();
const victims = new Map(propertyIds.map((id): [string, string[]] => [id, []]));

describe.concurrent('mutants', () => {
  test.each(mutants)('$id is killed by a property of its op $op', async (mutant) => {
    const { by, results } = await kills(mutant, SEED, CASES);
    for (const property of by.keys()) victims.get(property)?.push(mutant.id);
    const errors = results
      .filter(({ verdict }) => verdict === 'error')
      .map(({ id, failure }) => `${id}: ${failure?.trainerFailure?.message}`);
    expect(errors, `${mutant.id} (${mutant.title}) has errors where it should have failures`).toEqual([]);
    expect(by.size, `${mutant.id} (${mutant.title}) survives ${results.length} properties`).toBeGreaterThan(
      0,
    );
  });
});

// After the group above: vitest runs what is not concurrent when the concurrent tests are done.
test.each(propertyIds)('%s kills a mutant', (id) => {
  expect(victims.get(id), `${id} is toothless: no bundled faulty trainer fails it`).not.toEqual([]);
});
