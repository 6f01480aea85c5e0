import { expect, test } from 'vitest';
import { valuesThatDoNotMatter } from '../../../src/check/shrink/any-value.ts';

interface Case {
  readonly rows: readonly { readonly id: number; readonly name: string }[];
  readonly left: boolean;
}

const samples: readonly Case[] = Array.from({ length: 20 }, (_, at) => ({
  rows: [{ id: at, name: `n${at}` }],
  left: at % 2 === 0,
}));
const given: Case = { rows: [{ id: 3, name: 'n3' }], left: true };
const failing = (fails: (given: Case) => boolean) => async (other: unknown) => fails(other as Case);

test('a value that no replacement saves does not matter', async () => {
  expect(
    await valuesThatDoNotMatter(
      given,
      samples,
      failing(({ left }) => left),
    ),
  ).toEqual([
    ['rows', 0, 'id'],
    ['rows', 0, 'name'],
  ]);
});

test('a value that one replacement saves does', async () => {
  expect(
    await valuesThatDoNotMatter(
      given,
      samples,
      failing(({ rows }) => rows[0]?.id !== 1),
    ),
  ).toEqual([['rows', 0, 'name'], ['left']]);
});

test('a value that was never another has not been tried', async () => {
  const alike = samples.map((sample) => ({ ...sample, left: true }));
  expect(
    await valuesThatDoNotMatter(
      given,
      alike,
      failing(() => true),
    ),
  ).not.toContainEqual(['left']);
});

test('a case of very many values is left alone', async () => {
  const ids = Array.from({ length: 1_000 }, (_, at) => at);
  expect(await valuesThatDoNotMatter({ ids }, [{ ids: [1, 2, 3, 4, 5, 6] }], async () => true)).toEqual([]);
});
