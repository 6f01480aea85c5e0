// A gap as it is drawn: bounded, and the largest of it is not lost.
import { describe, expect, test } from 'vitest';
import { pictureOf } from '../../src/gap/picture.ts';
import type { Rollout } from '../../src/gap/read/read.ts';
import { tokensOf } from '../../src/gap/tokens.ts';

/** A row whose gaps are these; ids are its own. */
const gapping = (gaps: readonly number[], ids = gaps.map((_, at) => at)): Rollout => ({
  prompt: [901, 902],
  ids,
  sampling: Float64Array.from(gaps, () => -5),
  trainer: Float64Array.from(gaps, (gap) => -5 + gap),
  written: () => true,
  where: 'a.jsonl row 7',
  names: { sampling: 's', trainer: 't' },
});
const drawn = (rollouts: readonly Rollout[]) => pictureOf(tokensOf(rollouts), rollouts);

test('of many tokens some are drawn, from the first to the last', () => {
  const { points } = drawn(Array.from({ length: 100 }, () => gapping(Array(100).fill(0.1))));
  expect(points).toHaveLength(2_000);
  expect(points[0]).toEqual([-5, -4.9]);
});

describe('the largest gaps', () => {
  test('come first, to either side, with row, place and what stands before', () => {
    const { largest } = drawn([gapping([0.1, -3, 2, 0.5])]);
    expect(largest.map(({ position }) => position)).toEqual([1, 2, 3]);
    expect(largest[0]).toEqual({
      where: 'a.jsonl row 7',
      position: 1,
      id: 1,
      before: [901, 902, 0],
      sampling: -5,
      trainer: -8,
    });
  });

  test('are three of a row at most, so that one row does not take all places', () => {
    const rows = [gapping(Array(50).fill(4)), ...Array.from({ length: 9 }, () => gapping([1, 0.5]))];
    const gaps = drawn(rows).largest.map(({ sampling, trainer }) => trainer - sampling);
    expect(gaps.filter((gap) => gap === 4)).toHaveLength(3);
    expect(gaps).toHaveLength(21);
  });

  test('are found among many, wherever they stand', () => {
    const rows = Array.from({ length: 300 }, (_, row) =>
      gapping(
        Array.from({ length: 100 }, (__, at) =>
          row % 30 === 29 && at === 50 ? 3 + row / 1000 : 0.5 - at / 1000,
        ),
      ),
    );
    const gaps = drawn(rows).largest.map(({ sampling, trainer }) => trainer - sampling);
    expect(gaps).toHaveLength(25);
    expect(gaps.filter((gap) => gap >= 3)).toHaveLength(10);
    expect(gaps[0]).toBeCloseTo(3.299, 9);
  });
});

test('places stand together two for each doubling, and hold each token once', () => {
  const { places, ends } = drawn([gapping([1, 1, 1, 1, 2, 2, 2, 2, 3])]);
  expect(
    places.map(({ from, to, tokens, meanAbs }) => [from, to, tokens, Number(meanAbs.toFixed(6))]),
  ).toEqual([
    [0, 0, 1, 1],
    [1, 1, 1, 1],
    [2, 2, 1, 1],
    [3, 3, 1, 1],
    [4, 5, 2, 2],
    [6, 7, 2, 2],
    [8, 11, 1, 3],
  ]);
  expect(ends[0]).toMatchObject({ from: 0, tokens: 1 });
  expect(ends[0]?.meanAbs).toBeCloseTo(3, 9);
});

test('ids have their share of the gap and of the tokens', () => {
  const { ids } = drawn([gapping([3, -1, 0, 0], [7, 8, 9, 9])]);
  expect(ids.slice(0, 2)).toEqual([
    { id: 7, tokens: 1, mean: 3, share: 0.75, frequency: 0.25 },
    { id: 8, tokens: 1, mean: -1, share: 0.25, frequency: 0.25 },
  ]);
  expect(drawn([gapping([0, 0])]).ids).toEqual([]);
});
