// The conformance suite in short: the examples pass every property at a few cases, and each convention, undeclared, and each
// object trainer passes what it can be asked at one. `conformance.long.test.ts` asks more, and `npm run test:conformance` at many seeds.
import { afterAll, expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { startResident } from '../resident.ts';
import { conventions, EXAMPLES, falsePositivesOf, LEGAL, whileOpen } from './correct.ts';

const SEED = 5;
/** Enough for the examples together to pass every property: some judge only a part of their cases. */
const CASES = 2;

const resident = startResident();
afterAll(() => resident.stop());
const passed = new Set<string>();

test.each(EXAMPLES)('no false positive: $name', async (example) => {
  const results = await whileOpen(example, (judge) => judge(properties, SEED, CASES), resident);
  expect(falsePositivesOf(results, example)).toEqual([]);
  for (const { id, verdict } of results) if (verdict === 'pass') passed.add(id);
});

/** Those of whole models and of a real vocabulary cost more than all others, and find the same code in the examples. */
const cheap = properties.filter(({ mostCases }) => mostCases === undefined);

/** Declared, the same choices are made and less is measured: the long suite's business. */
const undeclared = conventions().filter(({ name }) => name.endsWith('-undeclared'));

test.each(undeclared)('no false positive: $name', async (convention) => {
  const results = await whileOpen(convention, (judge) => judge(cheap, SEED, 1), resident);
  expect(falsePositivesOf(results, convention)).toEqual([]);
});

test('what no example passes, because its tokenizer lacks a token, another trainer does', async () => {
  const missing = properties.filter(({ id }) => !passed.has(id));
  expect(missing.length).toBeLessThan(3);
  for (const legal of LEGAL) {
    const results = await whileOpen(legal, (judge) => judge(missing, SEED, CASES));
    for (const { id, verdict } of results) if (verdict === 'pass') passed.add(id);
    if (missing.every(({ id }) => passed.has(id))) return;
  }
  expect(missing.map(({ id }) => id).filter((id) => !passed.has(id))).toEqual([]);
});

test.each(LEGAL)('no false positive: $name', async (legal) => {
  const results = await whileOpen(legal, (judge) => judge(properties, SEED, 1));
  expect(falsePositivesOf(results, legal)).toEqual([]);
});
