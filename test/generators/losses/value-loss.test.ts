import fc from 'fast-check';
import { expect, test } from 'vitest';
import { layValues, valueCase, valueLabels } from '../../../src/index.ts';

const RUNS = { numRuns: 300, seed: 5 };

test('values, old values and returns are multiples of 1/16 within what half precision tells apart', () => {
  fc.assert(
    fc.property(valueCase({ gaps: true }), ({ rows }) => {
      for (const { value, old, target } of rows.flatMap(({ tokens }) => tokens))
        for (const number of [value, old, target])
          expect([Number.isInteger(number * 16), Math.abs(number) < 16]).toEqual([true, true]);
    }),
    RUNS,
  );
});

test('on the first pass values are as at sampling, and none is its return', () => {
  fc.assert(
    fc.property(valueCase({ firstPass: true }), ({ rows }) => {
      for (const { value, old, target } of rows.flatMap(({ tokens }) => tokens))
        expect([value === old, value === target]).toEqual([true, false]);
    }),
    RUNS,
  );
});

test('most batches have values that a clip holds, and values that it does not', () => {
  const labels = fc.sample(valueCase(), RUNS).map(valueLabels);
  for (const label of ['beyond the clip, towards its return', 'beyond the clip, away from its return'])
    expect(labels.filter((all) => all.includes(label)).length).toBeGreaterThan(RUNS.numRuns / 2);
});

test('rows are laid out by their micro-batch, each of them once', () => {
  fc.assert(
    fc.property(valueCase({ minRows: 2 }), (drawn) => {
      const every = drawn.rows.map((_, row) => row);
      expect(layValues(drawn).micro_batches.flat().toSorted()).toEqual(every);
      expect(layValues(drawn, { whole: true }).micro_batches).toEqual([every]);
    }),
    RUNS,
  );
});
