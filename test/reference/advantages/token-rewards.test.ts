import { describe, expect, it } from 'vitest';
import { rowReward, scoreColumns } from '../../../src/reference/index.ts';

describe('rowReward', () => {
  const given = {
    scores: [2, -1],
    processRewards: [
      [9, 0.5, 9, 0.25],
      [0, 0, 0, 0],
    ],
    kl: [
      [9, 1, 9, 3],
      [4, 4, 4, 4],
    ],
    mask: [
      [0, 1, 0, 1],
      [0, 0, 0, 0],
    ],
  };

  it('adds what trained tokens are worth and takes their KL off', () => {
    expect(rowReward(0, { ...given, klCoef: 0.5 })).toBe(2 + 0.75 - 0.5 * 4);
  });

  it('is the score alone where nothing is trained, or nothing else counts', () => {
    expect(rowReward(1, { ...given, klCoef: 0.5 })).toBe(-1);
  });
});

describe('scoreColumns', () => {
  it('are the last trained token and the slot behind it', () => {
    expect(scoreColumns([0, 1, 0, 1, 0, 0])).toEqual([3, 4]);
  });

  it('are the last trained token alone where the row ends with it', () => {
    expect(scoreColumns([0, 1, 1])).toEqual([2]);
  });

  it('are none where nothing is trained', () => {
    expect(scoreColumns([0, 0])).toEqual([]);
  });
});
