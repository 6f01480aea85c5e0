// Rows of ranks that are processes: every row on one rank, and every request told.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeHello } from '../../src/protocol/hello.ts';
import { encodeArgs, wireArgs, wireOf } from '../../src/protocol/json.ts';
import type { Args, Hello } from '../../src/protocol/message.ts';
import { dealt, overRanks } from '../../src/protocol/ranks.ts';

const counts = { rows: fc.integer({ min: 1, max: 12 }), ranks: fc.integer({ min: 1, max: 5 }) };

test('rows are dealt out in their order, as many to each rank as to any other, or one more', () => {
  fc.assert(
    fc.property(counts.rows, counts.ranks, (rows, ranks) => {
      const parts = dealt(rows, ranks);
      expect(parts).toHaveLength(ranks);
      expect(parts.flat()).toEqual(Array.from({ length: rows }, (_, row) => row));
      const sizes = parts.map(({ length }) => length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
  );
});

test('a partition into more parts or fewer is one over these ranks', () => {
  expect(overRanks([[0], [1], [2]], 2)).toEqual([[0, 2], [1]]);
  expect(overRanks([[0, 1]], 3)).toEqual([[0, 1], [], []]);
});

const hello = (ranks: unknown): unknown => ({ protocol: 1, name: 'x', ops: { advantages: { ranks } } });

test('only a trainer with a number of ranks is told of them unasked', () => {
  const args: Args<'advantages'> = { rewards: [1, 2, 3], group_ids: [0, 0, 0] };
  const sent = (ranks: unknown, given: Args<'advantages'> = args): unknown => {
    const wire = wireOf(hello(ranks) as Hello);
    expect(wireArgs('advantages', given, wire)).toEqual(
      JSON.parse(encodeArgs('advantages', given, wire)) as unknown,
    );
    return wireArgs('advantages', given, wire).ranks;
  };
  expect(sent(true)).toBeUndefined();
  expect(sent(2)).toEqual([[0, 1], [2]]);
  expect(sent(2, { ...args, ranks: [[0, 1, 2]] })).toEqual([[0, 1], [2]]);
  expect(sent(2, { ...args, ranks: [[2], [1], [0]] })).toEqual([[2, 0], [1]]);
  expect(sent(3, { ...args, ranks: [[], [0, 1, 2], []] })).toEqual([[], [0, 1, 2], []]);
});

test.each([true, 1, 2, 1024])('ranks %j are declared', (ranks) => {
  expect(decodeHello(hello(ranks))).toHaveProperty('ok');
});

test.each([0, 1.5, -1, 1025, 'two'])('ranks %j are not', (ranks) => {
  expect(decodeHello(hello(ranks))).toHaveProperty('complaint');
});
