// The other half of the proof: trainers that are right are left in peace, as the command judges them. The examples, every
// convention with and without its declaration, and one object trainer for each legal choice beside those. Here few cases;
// `npm run seeds -- correct` does the same at length.
import { describe, expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { alarmsOf, type Correct, conventions, EXAMPLES, LEGAL, whileOpen } from '../../scripts/correct.ts';
import type { PropertyResult } from '../../src/index.ts';

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

test.each(EXAMPLES)('$name raises no alarm', TIMEOUT, async (example) => {
  const all = await results(example, SEEDS, CASES);
  expect(alarmsOf(all)).toEqual([]);
  for (const id of passed(all)) seen.add(id);
});

test('together the examples pass every property', () => {
  expect(properties.map(({ id }) => id).filter((id) => !seen.has(id))).toEqual([]);
});

describe('conventions', () => {
  test.each(conventions())('no alarm: $name', TIMEOUT, async (convention) => {
    const all = await results(convention, CONVENTION_SEEDS, CONVENTION_CASES);
    expect(alarmsOf(all)).toEqual([]);
    expect(passed(all).length, 'most of the catalogue is checked').toBeGreaterThan(properties.length / 3);
  });
});

describe('legal conventions', () => {
  test.each(LEGAL)('no alarm: $name', TIMEOUT, async (legal) => {
    const all = await results(legal, LEGAL_SEEDS, LEGAL_CASES);
    expect(alarmsOf(all)).toEqual([]);
    expect(passed(all).length, 'it is checked at all').toBeGreaterThan(0);
  });
});
