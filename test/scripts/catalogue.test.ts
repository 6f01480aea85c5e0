import { expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { bugs } from '../../scripts/catalogue.ts';
import { listMutants } from '../../scripts/wrong-trainers.ts';

/** Bugs that no process which answers single requests can show are few; more of them would be an excuse. */
const MOST_UNSHOWN = 12;

const known = new Set(bugs.map(({ id }) => id));

test('the catalogue says of 137 bugs what goes wrong, each as a sentence', () => {
  expect(bugs).toHaveLength(137);
  for (const { id, what } of bugs) {
    expect(id).toMatch(/^[A-Z]+-\d\d$/);
    expect(what, id).toMatch(/^[A-Z].*\.$/);
  }
});

test('few bugs are not shown, each with its reason', () => {
  const unshown = bugs.filter((bug) => bug.unshown !== undefined);
  expect(unshown.length).toBeLessThanOrEqual(MOST_UNSHOWN);
  for (const { id, unshown: why } of unshown) expect(why, id).toMatch(/\.$/);
});

test('mutants are named after bugs of the catalogue and no two alike', () => {
  const mutants = listMutants();
  expect(mutants.flatMap(({ rows }) => rows).filter((row) => !known.has(row))).toEqual([]);
  expect(new Set(mutants.map(({ id }) => id)).size).toBe(mutants.length);
});

test('what properties catch stands in the catalogue', () => {
  expect(properties.flatMap(({ catches }) => catches).filter((row) => !known.has(row))).toEqual([]);
});
