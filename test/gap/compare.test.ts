// The measures of a gap, on numbers that can be worked out by hand.
import { describe, expect, test } from 'vitest';
import { breakdowns, compare } from '../../src/gap/compare.ts';
import type { Rollout } from '../../src/gap/read/read.ts';
import { tokensOf } from '../../src/gap/tokens.ts';

function rollout(
  sampling: readonly number[],
  trainer: readonly number[],
  more: Partial<Rollout> = {},
): Rollout {
  return {
    prompt: [1],
    ids: sampling.map((_, at) => 10 + at),
    sampling: Float64Array.from(sampling),
    trainer: Float64Array.from(trainer),
    written: () => true,
    names: { sampling: 's', trainer: 't' },
    ...more,
  };
}
const partsOf = (rollouts: readonly Rollout[], by: string) =>
  breakdowns(tokensOf(rollouts))
    .find((each) => each.by === by)
    ?.parts.map(({ name, tokens, mean }) => [name, tokens, mean]);

test('equal sides have no gap, and all of the sample is left', () => {
  expect(compare(tokensOf([rollout([-1, -2], [-1, -2])]))).toMatchObject({
    rms: 0,
    k1: 0,
    k3: 0,
    meanWeight: 1,
    essTokens: 1,
    essRows: 1,
    clipped: 0,
    tis: 0,
    icepop: 0,
  });
});

test('weights are p(trainer) / p(sampling), per token and per completion', () => {
  // Weights 4 and 1/4 in one row, 1 and 1 in the other.
  const [four, quarter] = [Math.log(4), Math.log(1 / 4)];
  const measured = compare(
    tokensOf([rollout([-3, -3], [-3 + four, -3 + quarter]), rollout([-1, -1], [-1, -1])]),
  );
  expect(measured.meanWeight).toBeCloseTo((4 + 0.25 + 1 + 1) / 4, 12);
  expect(measured.essTokens).toBeCloseTo(6.25 ** 2 / (16 + 0.0625 + 1 + 1) / 4, 12);
  expect(measured.essRows).toBeCloseTo(1, 12);
  expect(measured).toMatchObject({ clipped: 0.5, tis: 0.25, icepop: 0.25 });
  expect(measured.k1).toBeCloseTo(0, 12);
  expect(measured.k3).toBeCloseTo((3 - four + (0.25 - 1 - quarter)) / 4, 12);
});

test('a weight of whole completions that overflows leaves one of them', () => {
  const far = rollout([-900, -900], [0, 0]);
  expect(compare(tokensOf([far, rollout([-1], [-1])])).essRows).toBeCloseTo(0.5, 6);
});

describe('the gap is broken down', () => {
  test('by token, position and length', () => {
    const rows = [rollout([-1, -1, -1], [-2, -1, -1.5]), rollout([-1], [-1])];
    expect(partsOf(rows, 'token')).toEqual([
      ['first', 2, -0.5],
      ['last', 1, -0.5],
      ['once in the file', 1, 0],
    ]);
    expect(partsOf(rows, 'position')).toEqual([
      ['0', 2, -0.5],
      ['1 to 3', 2, -0.25],
    ]);
    expect(partsOf([...rows, rollout(Array(5).fill(-1), Array(5).fill(-1))], 'length')).toEqual([
      ['1 to 3', 4, -0.375],
      ['4 to 15', 5, 0],
    ]);
  });

  test('by the age of the weights, which begins at 0 whatever the counters are', () => {
    const at = (step: number, version: number): Rollout =>
      rollout([-1], [-1 - (step - version)], { step, version: () => version });
    expect(partsOf([at(12, 9), at(12, 10), at(13, 11)], 'age of the weights')).toEqual([
      ['0', 2, -2],
      ['1', 1, -3],
    ]);
  });
});

test('tokens that the policy did not write are left out', () => {
  const rows = [rollout([-1, -9, -1], [-1, -1, -1], { written: (at) => at !== 1 })];
  expect(compare(tokensOf(rows))).toMatchObject({ tokens: 2, rms: 0 });
});
