import { expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { bugs, bugsOf, threadUrl } from '../../src/bugs/index.ts';
import { listMutants } from '../mutants/list.ts';

/** Bugs that no process which answers single requests can show are few; more of them would be an excuse. */
const MOST_UNSHOWN = 12;
/** Classes of whole steps and of several processes, which scripts under trace show. */
const TRACED = /^(OPT|RNK)-/;
/** Bugs that nobody has reported in public: found in a document, or on the way to this harness. */
const UNREPORTED = [
  'LP-24',
  'ADV-15',
  'LOSS-16',
  'MOE-06',
  'VAL-13',
  'IMG-02',
  'IMG-04',
  'IMG-06',
  'IMG-07',
  'IMG-08',
  'PEN-03',
  'OPT-01',
  'OPT-04',
  'OPT-10',
  'NUM-07',
];

const known = new Set(bugs.map(({ id }) => id));

test('the catalogue says of 193 bugs what goes wrong, each as a sentence', () => {
  expect(bugs).toHaveLength(193);
  expect(known.size).toBe(bugs.length);
  for (const { id, what } of bugs) {
    expect(id).toMatch(/^[A-Z]+-\d\d$/);
    expect(what, id).toMatch(/^[A-Z].*\.$/);
  }
});

test('it says of each what to do, and where it was seen', () => {
  for (const { id, todo } of bugs) expect(todo, id).toMatch(/\S.{30,}\.$/);
  expect(bugs.filter(({ seen }) => seen.length === 0).map(({ id }) => id)).toEqual(UNREPORTED);
  for (const { id, seen } of bugs) {
    expect(new Set(seen).size, id).toBe(seen.length);
    for (const thread of seen) expect(thread, id).toMatch(/^[\w.-]+\/[\w.-]+(#[1-9]\d*|@[0-9a-f]{7,40})$/);
  }
});

test('what to do names only bugs that there are', () => {
  for (const { id, todo } of bugs)
    for (const [other] of todo.matchAll(/\b[A-Z]{2,4}-\d\d\b/g)) expect(known, id).toContain(other);
});

test('a thread has an address', () => {
  expect(threadUrl('a/b#12')).toBe('https://github.com/a/b/issues/12');
  expect(threadUrl('a/b.js@0123abc')).toBe('https://github.com/a/b.js/commit/0123abc');
});

test('bugs are looked up in the order that is asked for', () => {
  expect(bugsOf(['MSK-04', 'no such bug', 'TOK-01']).map(({ id }) => id)).toEqual(['MSK-04', 'TOK-01']);
});

test('few bugs are not shown, each with its reason', () => {
  const unshown = bugs.filter((bug) => bug.unshown !== undefined);
  expect(unshown.filter(({ id }) => !TRACED.test(id)).length).toBeLessThanOrEqual(MOST_UNSHOWN);
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
