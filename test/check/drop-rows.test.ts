import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dropRows, rowsOf, withoutRow } from '../../src/check/drop-rows.ts';
import { shrink } from '../../src/check/shrink.ts';
import { objectTrainer, type Property, worldOf } from '../../src/index.ts';

test('a row leaves every field that has one entry a row, and no other', () => {
  const given = { prompts: [[1], [2]], completions: [[3], [4]], stops: [5, 6], pad: 0 };
  expect(withoutRow(given, 0)).toEqual({ prompts: [[2]], completions: [[4]], stops: [5, 6], pad: 0 });
});

test('what is no batch has no rows', () => {
  expect(rowsOf({ prompts: [[1]], completions: [] })).toBeUndefined();
  expect(rowsOf({ groups: [[1]] })).toBeUndefined();
  expect(rowsOf([1, 2])).toBeUndefined();
});

test('mates on either side of the faulty row go, and one row stays', async () => {
  const faulty = async ({ rows }: { rows: readonly number[] }): Promise<boolean> => rows.includes(7);
  expect(await dropRows({ rows: [1, 7, 2, 3] }, faulty)).toEqual({ rows: [7] });
  expect(await dropRows({ rows: [1, 2] }, async () => true)).toEqual({ rows: [1] });
});

test('a shrunk case keeps only the rows that it needs, and survives a check that cannot read a smaller one', async () => {
  interface Case {
    readonly rows: readonly number[];
  }
  const property = (needed: number): Property<Case> => ({
    id: 'extract/toy',
    title: 'A test',
    stage: 'extract',
    level: 'must',
    why: 'A test.',
    catches: [],
    ops: [],
    // The rows cannot shrink by themselves: only what drops them can.
    given: () => fc.constant({ rows: [1, 7, 2] }),
    async check(_, { rows }) {
      if (rows.length < needed) throw new Error('too few rows');
      return rows.includes(7) ? { kind: 'seven', sentence: 'Seven.' } : undefined;
    },
  });
  const trainer = objectTrainer({ hello: { protocol: 1, name: 'toy', ops: {} }, ops: {} });
  const world = worldOf(trainer, undefined);
  const shrunk = (needed: number) =>
    shrink({
      property: property(needed),
      arbitrary: property(needed).given(world),
      trainer,
      world,
      seed: 1,
      index: 0,
      given: { rows: [1, 7, 2] },
      outcome: { kind: 'fails', finding: { kind: 'seven', sentence: 'Seven.' } },
      milliseconds: 1_000,
    });
  expect((await shrunk(1)).given).toEqual({ rows: [7] });
  expect((await shrunk(2)).given.rows).toHaveLength(2);
});
