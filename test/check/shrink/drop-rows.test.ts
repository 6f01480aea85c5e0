import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dropRows, rowsOf, withoutRow } from '../../../src/check/shrink/drop-rows.ts';
import { dropTokens, withoutToken } from '../../../src/check/shrink/drop-tokens.ts';
import { shrink } from '../../../src/check/shrink/shrink.ts';
import { learnStructure } from '../../../src/check/shrink/structure.ts';
import {
  batch,
  logitBatch,
  objectTrainer,
  type Property,
  penalised,
  rollouts,
  tracks,
  worldOf,
} from '../../../src/index.ts';

const learn = (arbitrary: fc.Arbitrary<unknown>) =>
  learnStructure(fc.sample(arbitrary, { seed: 1, numRuns: 200 }));

test('a row leaves every field that has one entry per row, and no other', () => {
  const given = { prompts: [[1], [2]], completions: [[3], [4]], stops: [5, 6], pad: 0 };
  expect(withoutRow(given, { fields: ['prompts', 'completions'] }, 0)).toEqual({
    prompts: [[2]],
    completions: [[4]],
    stops: [5, 6],
    pad: 0,
  });
});

test('a token leaves every list that runs beside its own', () => {
  const given = {
    rows: [
      { ids: [1, 2], labels: [3, 4], n: 1 },
      { ids: [5], labels: [6] },
    ],
  };
  const paths = [
    ['rows', 'ids'],
    ['rows', 'labels'],
  ] as const;
  expect(withoutToken(given, { paths }, 0, 0)).toEqual({
    rows: [
      { ids: [2], labels: [4], n: 1 },
      { ids: [5], labels: [6] },
    ],
  });
  expect(withoutToken({ prompts: [[1, 2]], x: 3 }, { paths: [['prompts']] }, 0, 1)).toEqual({
    prompts: [[1]],
    x: 3,
  });
});

test('what is no batch has no rows', () => {
  expect(rowsOf({ prompts: [[1]], completions: [] })).toBe(1);
  expect(rowsOf({ prompts: [[1]], completions: [[1], [2]] })).toBeUndefined();
  expect(rowsOf({ messages: [{ role: 'user' }] })).toBeUndefined();
  expect(rowsOf([1, 2])).toBeUndefined();
});

test('rows and tokens of the generators are found, and what hangs together is left alone', () => {
  expect(learn(batch({ tokens: undefined, minRows: 2 }))).toEqual({
    rows: [{ fields: ['prompts', 'completions'], least: 2, below: [] }],
    tokens: [
      { paths: [['prompts']], least: 1, below: [] },
      { paths: [['completions']], least: 1, below: [] },
    ],
  });
  const numbers = learn(tracks());
  expect(numbers.rows).toEqual([{ fields: ['rows'], least: 1, below: [] }]);
  expect(numbers.tokens.map(({ paths }) => paths)).toEqual([[['rows', 'tokens']]]);
  // A prompt of all tokens would leave nothing to score.
  const [logits] = learn(logitBatch({ temperatures: false })).tokens;
  expect(logits?.below).toContainEqual({ path: ['rows', 'prompt'], margin: 1 });
  // Every row has generated equally much; only the prompts are their own.
  expect(learn(penalised(['presence'])).tokens.map(({ paths }) => paths)).toEqual([[['rows', 'prompt']]]);
  expect(learn(rollouts(undefined)).tokens.map(({ paths }) => paths)).toEqual([[['rows', 'sampled']]]);
});

test.each<[string, fc.Arbitrary<unknown>]>([
  [
    'messages',
    fc.record({
      messages: fc.array(fc.record({ role: fc.constant('user') }), { maxLength: 4, size: 'max' }),
    }),
  ],
  ['a partition', fc.nat(4).map((n) => ({ parts: Array.from({ length: n }, (_, at) => [at]) }))],
  ['groups of a size', fc.nat(3).map((n) => ({ rows: Array.from({ length: 2 * n }, () => [1]) }))],
  ['a number per row', fc.nat(3).map((n) => ({ rows: Array(n).fill([1]), group: Array(n).fill(0) }))],
  [
    'now and then a list',
    fc.nat(3).map((n) => ({ rows: Array(n).fill([1]), ...(n > 1 ? { more: [] } : {}) })),
  ],
  ['no object', fc.array(fc.array(fc.nat()))],
])('%s: what is not known to be free is not left out', (_, arbitrary) => {
  expect(learn(arbitrary).rows).toEqual([]);
});

test('mates on either side of the faulty row go, and as many stay as the generator always has', async () => {
  const faulty = async ({ rows }: { rows: readonly number[] }): Promise<boolean> => rows.includes(7);
  const groups = (least: number) => [{ fields: ['rows'], least, below: [] }];
  expect(await dropRows({ rows: [1, 7, 2, 3] }, groups(1), faulty)).toEqual({ rows: [7] });
  expect(await dropRows({ rows: [1, 7, 2, 3] }, groups(3), faulty)).toEqual({ rows: [1, 7, 2] });
  const indexed = [{ fields: ['rows'], least: 1, below: [{ path: ['at'] as const, margin: 1 }] }];
  expect(await dropRows({ rows: [1, 2, 3], at: 1 }, indexed, async () => true)).toEqual({
    rows: [1, 2],
    at: 1,
  });
});

test('tokens go, but not the last of a row, nor one of the two longest rows', async () => {
  const groups = [{ paths: [['rows']] as const, least: 0, below: [] }];
  const all = async (): Promise<boolean> => true;
  expect(
    await dropTokens(
      {
        rows: [
          [1, 2, 3, 4],
          [5, 6],
        ],
      },
      groups,
      all,
    ),
  ).toEqual({ rows: [[4], [6]] });
  expect(
    await dropTokens(
      {
        rows: [
          [1, 2],
          [5, 6],
        ],
      },
      groups,
      all,
    ),
  ).toEqual({
    rows: [
      [1, 2],
      [5, 6],
    ],
  });
  const short = [{ paths: [['rows']] as const, least: 3, below: [] }];
  expect(await dropTokens({ rows: [[1, 2, 3, 4, 5]] }, short, all)).toEqual({
    rows: [[1, 2, 5]],
  });
});

test('what is left out of a batch of completions leaves one that a sampler could have made', async () => {
  const arbitrary = batch({ tokens: undefined });
  const { rows, tokens } = learn(arbitrary);
  for (const given of fc.sample(arbitrary, { seed: 3, numRuns: 200 })) {
    let at = 0;
    const some = async (): Promise<boolean> => at++ % 3 !== 0;
    const smaller = await dropTokens(await dropRows(given, rows, some), tokens, some);
    const { prompts, completions, stops } = smaller;
    const width = Math.max(...completions.map(({ length }) => length));
    expect(prompts).toHaveLength(completions.length);
    for (const row of completions) {
      const stop = row.findIndex((id) => stops.includes(id));
      // Ended by its stop token, or cut at the limit.
      expect(stop < 0 ? row.length : stop).toBe(stop < 0 ? width : row.length - 1);
    }
  }
});

test('a shrunk case keeps only the rows that it needs, and survives a check that cannot read a smaller one', async () => {
  interface Case {
    readonly rows: readonly (readonly number[])[];
  }
  const given = { rows: [[1], [7, 2], [2]] };
  const property = (needed: number): Property<Case> => ({
    id: 'extract/toy',
    title: 'A test',
    stage: 'extract',
    level: 'must',
    why: 'A test.',
    catches: [],
    ops: [],
    // The rows cannot shrink by themselves: only what leaves rows out can.
    given: () => fc.constantFrom(given, { rows: [[1], [2, 3]] }, { rows: [[1]] }),
    async check(_, { rows }) {
      if (rows.length < needed) throw new Error('too few rows');
      return rows.some((row) => row.includes(7)) ? { kind: 'seven', sentence: 'Seven.' } : undefined;
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
      given,
      outcome: { kind: 'fails', finding: { kind: 'seven', sentence: 'Seven.' } },
      milliseconds: 1_000,
    });
  expect((await shrunk(1)).given).toEqual({ rows: [[7, 2]] });
  expect((await shrunk(2)).given.rows).toHaveLength(2);
});
