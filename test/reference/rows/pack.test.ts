import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Place, placeExamples } from '../../../src/reference/index.ts';

const PAD = 0;
/** PAD is an ordinary token as well, as where it is the stop token. */
const examples = fc.array(fc.array(fc.nat(2), { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 5,
});

function place(
  rows: number[][],
  given: number[][],
  across = false,
  kinds?: number[],
): readonly Place[] | undefined {
  return placeExamples({
    rows: rows.length,
    width: rows[0]?.length ?? 0,
    lengths: given.map((ids) => ids.length),
    matches: (example, offset, row, column) => rows[row]?.[column] === given[example]?.[offset],
    fills: (row, column) => rows[row]?.[column] === PAD,
    required: () => true,
    across,
    ...(kinds === undefined ? {} : { kinds }),
  });
}

/** Each example in a row of its own or behind the one before, with `gap` columns of padding around. */
function packed(given: number[][], breaks: readonly boolean[], gap: number): number[][] {
  const rows: number[][] = [];
  for (const [at, ids] of given.entries()) {
    if (at === 0 || breaks[at % Math.max(1, breaks.length)]) rows.push([]);
    rows.at(-1)?.push(...ids, ...Array.from({ length: gap }, () => PAD));
  }
  const width = Math.max(...rows.map((row) => row.length));
  return rows.map((row) => [...row, ...Array.from({ length: width - row.length }, () => PAD)]);
}

describe('placeExamples', () => {
  it('reads any packing, and says where each example stands', () => {
    fc.assert(
      fc.property(examples, fc.array(fc.boolean(), { maxLength: 5 }), fc.nat(1), (given, breaks, gap) => {
        const rows = packed(given, breaks, gap);
        const places = place(rows, [...given].reverse()) ?? [];
        expect(places.map(({ example }) => example).sort()).toEqual(given.map((_, at) => at));
        for (const { example, row, start, length } of places)
          expect(rows[row]?.slice(start, start + length)).toEqual([...given].reverse()[example]);
      }),
    );
  });

  it('comes to an end with many examples that are alike, of which one has no place', () => {
    const given = [...Array.from({ length: 24 }, (_, at) => [1 + (at % 2)]), [3]];
    const row = [...given.slice(0, -1).flat(), PAD];
    const kinds = given.map(([id]) => id ?? 0);
    expect(place([row], given, false, kinds)).toBeUndefined();
    expect(place([row], given.slice(0, -1), false, kinds)).toHaveLength(given.length - 1);
  });

  it('finds no place for what was lost, added, or used twice', () => {
    const rows = [
      [1, 2, 3, PAD],
      [4, PAD, PAD, PAD],
    ];
    expect(place(rows, [[1, 2], [3], [4]])).toHaveLength(3);
    expect(place(rows, [[1, 2], [3], [4], [5]])).toBeUndefined();
    expect(place(rows, [[1, 2], [4]])).toBeUndefined();
    expect(
      place(
        [
          [1, 2],
          [1, 2],
        ],
        [[1, 2]],
      ),
    ).toBeUndefined();
  });

  it('follows an example into the next row only where rows are cut across examples', () => {
    const rows = [
      [1, 2, 3],
      [4, 5, 6],
    ];
    const given = [
      [1, 2],
      [3, 4, 5],
      [6, 7],
    ];
    expect(place(rows, given)).toBeUndefined();
    expect(place(rows, given, true)).toEqual([
      { example: 0, row: 0, start: 0, length: 2 },
      { example: 1, row: 0, start: 2, length: 3 },
      { example: 2, row: 1, start: 2, length: 1 },
    ]);
  });

  it('keeps the order of the examples where it is asked to', () => {
    const ordered = (given: number[][]) =>
      placeExamples({
        rows: 1,
        width: 3,
        lengths: given.map((ids) => ids.length),
        matches: (example, offset, _, column) => [1, 2, 3][column] === given[example]?.[offset],
        fills: () => false,
        required: () => true,
        ordered: true,
      });
    expect(ordered([[1, 2], [3]])).toHaveLength(2);
    expect(ordered([[3], [1, 2]])).toBeUndefined();
  });

  it('counts the tokens of each row where they are limited', () => {
    const limited = (rows: number[][], most: number) =>
      placeExamples({
        rows: rows.length,
        width: rows[0]?.length ?? 0,
        lengths: [1, 1, 1],
        matches: (example, _, row, column) => rows[row]?.[column] === [1, 1, PAD][example],
        fills: (row, column) => rows[row]?.[column] === PAD,
        required: () => true,
        most,
      });
    const rows = [
      [1, PAD, 1, PAD],
      [PAD, PAD, PAD, PAD],
    ];
    expect(limited(rows, 1)).toBeUndefined();
    expect(limited(rows, 2)?.map(({ row }) => row)).toEqual([0, 0, 1]);
    expect(limited([[1, 1, PAD]], 2)).toBeUndefined();
    expect(limited([[1, 1, PAD]], 3)).toHaveLength(3);
  });

  it('reads rows with thousands of columns of padding', () => {
    const row = [1, 2, ...Array.from({ length: 50_000 }, () => PAD)];
    expect(
      place(
        [row, row.with(0, 3)],
        [
          [3, 2],
          [1, 2],
        ],
      ),
    ).toHaveLength(2);
    expect(place([row], [[1], [3]])).toBeUndefined();
  });

  it('goes back where the first reading leads nowhere', () => {
    expect(place([[1, 1, 2]], [[1], [1, 2]])).toEqual([
      { example: 0, row: 0, start: 0, length: 1 },
      { example: 1, row: 0, start: 1, length: 2 },
    ]);
    expect(place([[PAD, PAD, 1]], [[PAD, 1]])).toEqual([{ example: 0, row: 0, start: 1, length: 2 }]);
  });
});
