// What a script says that it sampled becomes records as generate() has them: row by row, without padding.
import { beforeAll, expect, test } from 'vitest';
import { type Answered, casesOf } from './cases.ts';

let cases: ReadonlyMap<string, Answered>;
beforeAll(async () => {
  cases = await casesOf('declared_cases.py');
}, 120_000);

const out = (name: string): unknown => cases.get(name)?.out;

test('no case gave the tracer trouble', () => {
  expect(cases.size).toBe(5);
  for (const [name, { troubles }] of cases) expect(troubles, name).toEqual([]);
});

test('a row is recorded with its temperature and what stops it, and draws no number', () => {
  expect(out('one row')).toEqual({
    rows: [
      {
        prompt: [[5, 6, 7]],
        sequence: [[5, 6, 7, 8, 9, 2]],
        eos: [2],
        sampled: true,
        temperature: 0.7,
        index: expect.any(Number),
      },
    ],
    random: true,
  });
});

test('several rows are told at once, as lists or tensors, each with its prompt', () => {
  expect(out('several rows as tensors')).toMatchObject([
    { prompt: [[5, 6]], sequence: [[5, 6, 8, 2]], eos: [2, 3], temperature: null },
    { prompt: [[7]], sequence: [[7, 9]], sampled: false },
  ]);
  expect(out('several completions of one prompt')).toMatchObject([
    { sequence: [[5, 6, 8, 9]], sampled: false, temperature: null },
    { sequence: [[5, 6, 9, 2]] },
  ]);
});

test('what is no ids is not recorded, and said', () => {
  expect(out('what is no ids')).toMatchObject({ rows: [], said: [expect.stringContaining('token ids')] });
});

test('without a trace nothing happens', () => {
  expect(out('without a trace')).toEqual({ answer: null });
});
