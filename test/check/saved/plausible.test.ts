// What a property draws, and what it shrinks to, is never taken for a case of somebody else's.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { worldOf } from '../../../src/check/run.ts';
import { implausible } from '../../../src/check/saved/plausible.ts';
import { objectTrainer } from '../../../src/index.ts';

const world = worldOf(
  objectTrainer({
    hello: { protocol: 1, name: 'any', ops: { extract: {} } },
    ops: { extract: () => ({ completion_ids: [] }) },
  }),
  undefined,
);
const CASES = 5;

test('every case of every property is plausible, as its file has it', () => {
  const wrong: string[] = [];
  let judged = 0;
  for (const property of properties) {
    let drawn: unknown[];
    try {
      drawn = fc.sample(property.given(world), { numRuns: CASES, seed: 77 });
      const [first] = fc.sample(fc.noShrink(property.given(world)), { numRuns: 1, seed: 5 });
      drawn.push(first);
    } catch {
      continue; // it needs a tokenizer, or an op's declaration
    }
    const unlike = implausible(world, property);
    for (const each of drawn) {
      judged++;
      const said = unlike(JSON.parse(JSON.stringify(each)));
      if (said !== undefined) wrong.push(`${property.id}: ${said}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(judged).toBeGreaterThan(1_000);
});
