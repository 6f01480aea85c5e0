// The conformance suite: trainers that are right fail nothing, as the command judges them. The examples, every convention
// with and without its declaration, and one object trainer for each legal choice beside those. Here some cases;
// `npm run test:conformance` does the same at length, `conformance.slow.test.ts` with a few.
import { describe, expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import type { PropertyResult } from '../../src/index.ts';
import { type Correct, conventions, EXAMPLES, falsePositivesOf, LEGAL, whileOpen } from './correct.ts';

/** The examples at some length; all others, of which there are many, have short runs here. Not the seed of that command. */
const SEEDS = [2];
const CASES = 60;
const LEGAL_SEEDS = [3];
const LEGAL_CASES = 25;
/** No bound on the work, only on a trainer that hangs: what takes half a minute alone takes minutes on a busy machine. */
const TIMEOUT = { timeout: 600_000 };
const CONVENTION_SEEDS = [6];
const CONVENTION_CASES = 8;

const results = (correct: Correct, seeds: readonly number[], cases: number): Promise<PropertyResult[]> =>
  whileOpen(correct, async (judge) => {
    const all: PropertyResult[] = [];
    for (const seed of seeds) all.push(...(await judge(properties, seed, cases)));
    return all;
  });

const passed = (all: readonly PropertyResult[]): string[] =>
  all.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id);

const seen = new Set<string>();

test.each(EXAMPLES)('no false positive: $name', TIMEOUT, async (example) => {
  const all = await results(example, SEEDS, CASES);
  expect(falsePositivesOf(all, example)).toEqual([]);
  for (const id of passed(all)) seen.add(id);
});

test('together the examples pass every property', () => {
  expect(properties.map(({ id }) => id).filter((id) => !seen.has(id))).toEqual([]);
});

describe('conventions', () => {
  test.each(conventions())('no false positive: $name', TIMEOUT, async (convention) => {
    const all = await results(convention, CONVENTION_SEEDS, CONVENTION_CASES);
    expect(falsePositivesOf(all, convention)).toEqual([]);
    expect(passed(all).length, 'most of the catalogue is checked').toBeGreaterThan(properties.length / 3);
  });
});

describe('legal conventions', () => {
  test.each(LEGAL)('no false positive: $name', TIMEOUT, async (legal) => {
    const all = await results(legal, LEGAL_SEEDS, LEGAL_CASES);
    expect(falsePositivesOf(all, legal)).toEqual([]);
    expect(passed(all).length, 'it is checked at all').toBeGreaterThan(0);
  });
});
