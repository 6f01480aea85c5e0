import { describe, expect, it } from 'vitest';
import {
  type FilterInput,
  type FilterRule,
  fatesIn,
  fatesUnder,
  unlikeRule,
} from '../../../src/reference/index.ts';

const KEEP: FilterRule = { equal: 'keep', truncated: 'keep', long: 'keep', rewards: 'none' };
const DAPO: FilterRule = { ...KEEP, equal: 'drop', truncated: 'mask' };
const batch = (rewards: readonly number[], more: Partial<FilterInput> = {}): FilterInput => ({
  rewards,
  group_ids: rewards.map(() => 0),
  lengths: rewards.map(() => 4),
  truncated: rewards.map(() => 0),
  max_length: 8,
  min_reward: -1.1,
  max_reward: 1.1,
  ...more,
});
const allowed = (rule: FilterRule, input: FilterInput) =>
  fatesUnder(rule, input).map((group) => group.allowed);

describe('fatesUnder', () => {
  it('drops equal rewards whatever they are, and no others', () => {
    for (const reward of [0, 1, -0.5])
      expect(allowed(DAPO, batch([reward, reward]))).toEqual([[['drop', 'drop']]]);
    for (const rewards of [
      [1, -1],
      [0, 1],
      [0.25, 0],
    ])
      expect(allowed(DAPO, batch(rewards))).toEqual([[['keep', 'keep']]]);
    // -0 is 0.
    expect(allowed(DAPO, batch([0, -0]))).toEqual([[['drop', 'drop']]]);
  });

  it('leaves to the trainer what only a threshold or rounding tells apart, and a row alone', () => {
    const either = [
      ['keep', 'keep', 'keep'],
      ['drop', 'drop', 'drop'],
    ];
    expect(allowed(DAPO, batch([0.1, 0.1, 0.1]))).toEqual([either]);
    expect(allowed(DAPO, batch([1, 1, 1 + 1e-5]))).toEqual([either]);
    expect(allowed(DAPO, batch([1]))).toEqual([[['keep'], ['drop']]]);
  });

  it('judges a group by all of its rows, or by those that another filter left', () => {
    // Without the truncated row, the rewards are equal.
    const cut = batch([1, 1, 0], { truncated: [0, 0, 1] });
    expect(allowed(DAPO, cut)).toEqual([
      [
        ['keep', 'keep', 'mask'],
        ['drop', 'drop', 'drop'],
      ],
    ]);
    // Where no row trains, the group may as well go.
    expect(allowed(DAPO, batch([1, 0], { truncated: [1, 1] }))).toEqual([
      [
        ['mask', 'mask'],
        ['drop', 'drop'],
      ],
    ]);
  });

  it('takes a row or a group for rewards out of bounds, by the rule', () => {
    const input = batch([1.5, 0.25, 0]);
    expect(allowed({ ...KEEP, rewards: 'rows' }, input)).toEqual([[['drop', 'keep', 'keep']]]);
    expect(allowed({ ...KEEP, rewards: 'groups' }, input)).toEqual([[['keep', 'keep', 'keep']]]);
    const high = batch([1.5, 1.25, 1.75]);
    expect(allowed({ ...KEEP, rewards: 'groups' }, high)).toEqual([[['drop', 'drop', 'drop']]]);
  });

  it('keeps groups apart, and long rows from truncated ones', () => {
    const input = batch([1, 1, 0, 1], { group_ids: [0, 1, 0, 1], lengths: [4, 4, 9, 4] });
    expect(fatesUnder({ ...DAPO, long: 'drop' }, input)).toEqual([
      {
        rows: [0, 2],
        allowed: [
          ['keep', 'drop'],
          ['drop', 'drop'],
        ],
      },
      { rows: [1, 3], allowed: [['drop', 'drop']] },
    ]);
  });
});

it('an answer is read row by row of the request, and the first group that differs is named', () => {
  const input = batch([1, 1, 0, 1], { group_ids: [0, 0, 1, 1], truncated: [0, 0, 0, 1] });
  expect(fatesIn({ kept: [2, 3], trained: [1, 0] }, 4)).toEqual(['drop', 'drop', 'keep', 'mask']);
  expect(unlikeRule(DAPO, input, ['drop', 'drop', 'keep', 'mask'])).toBeUndefined();
  expect(unlikeRule(DAPO, input, ['drop', 'drop', 'keep', 'keep'])?.rows).toEqual([2, 3]);
  expect(unlikeRule(DAPO, input, ['drop', 'keep', 'keep', 'mask'])?.rows).toEqual([0, 1]);
});
