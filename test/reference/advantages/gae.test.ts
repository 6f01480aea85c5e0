import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gaeAdvantages } from '../../../src/reference/index.ts';

const ALL = [[1, 1, 1]];

/** The recursion of the paper's algorithm, written the other way round: from the last step to the first. */
function recursion(
  rewards: readonly number[],
  values: readonly number[],
  gamma: number,
  lam: number,
): number[] {
  const out: number[] = [];
  let [nextValue, nextAdvantage] = [0, 0];
  for (const t of rewards.map((_, at) => rewards.length - 1 - at)) {
    const [reward = 0, value = 0] = [rewards[t], values[t]];
    nextAdvantage = reward + gamma * nextValue - value + gamma * lam * nextAdvantage;
    nextValue = value;
    out.unshift(nextAdvantage);
  }
  return out;
}

describe('gaeAdvantages', () => {
  it('with lambda 0 is the temporal difference of each step', () => {
    expect(gaeAdvantages([[1, 2, 4]], [[0.5, 1, 2]], ALL, 0.5, 0)).toEqual([[1, 2, 2]]);
  });

  it('with lambda 1 is the discounted return less the value', () => {
    // 1 + 2/2 + 4/4 = 3; 2 + 4/2 = 4; 4.
    expect(gaeAdvantages([[1, 2, 4]], [[0.5, 1, 2]], ALL, 0.5, 1)).toEqual([[2.5, 3, 2]]);
  });

  it('of one step is its reward less its value, whatever the factors', () => {
    expect(gaeAdvantages([[3]], [[1]], [[1]], 0.9, 0.3)).toEqual([[2]]);
  });

  it('is the recursion, for any row', () => {
    const number = fc.integer({ min: -8, max: 8 }).map((n) => n / 4);
    const row = fc.array(fc.tuple(number, number), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(row, fc.constantFrom(0, 0.5, 1), fc.constantFrom(0, 0.25, 1), (steps, gamma, lam) => {
        const [rewards, values] = [steps.map(([r]) => r), steps.map(([, v]) => v)];
        const [sum = []] = gaeAdvantages([rewards], [values], [steps.map(() => 1)], gamma, lam);
        const expected = recursion(rewards, values, gamma, lam);
        for (const [at, value] of sum.entries()) expect(value).toBeCloseTo(expected[at] ?? Number.NaN, 12);
      }),
    );
  });

  it('does not take masked columns for steps, wherever they are', () => {
    const mask = [[0, 1, 0, 0, 1, 1, 0]];
    const [out = []] = gaeAdvantages([[9, 1, 9, 9, 2, 4, 9]], [[9, 0.5, 9, 9, 1, 2, 9]], mask, 0.5, 0.5);
    const [kept = []] = gaeAdvantages([[1, 2, 4]], [[0.5, 1, 2]], ALL, 0.5, 0.5);
    expect(out).toEqual([0, kept[0], 0, 0, kept[1], kept[2], 0]);
  });

  it('keeps rows apart, and leaves an empty one at 0', () => {
    expect(
      gaeAdvantages(
        [
          [1, 0],
          [5, 5],
        ],
        [
          [0, 0],
          [5, 5],
        ],
        [
          [1, 1],
          [0, 0],
        ],
        1,
        1,
      ),
    ).toEqual([
      [1, 0],
      [0, 0],
    ]);
  });
});
