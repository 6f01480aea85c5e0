import { describe, expect, it } from 'vitest';
import {
  atValueCorner,
  describeValueLoss,
  localValueLoss,
  type ValueLossInput,
  type ValueLossSettings,
  valueLoss,
  valueLossVariants,
} from '../../../src/reference/index.ts';

const PLAIN: ValueLossSettings = { aggregation: 'token-mean', factor: 1, clip: null };
const CLIPPED: ValueLossSettings = { ...PLAIN, clip: 0.5 };

/** One row of tokens as [value, old value, return], all of them trained. */
const row = (...tokens: readonly (readonly [number, number, number])[]): ValueLossInput => ({
  values: [tokens.map(([value]) => value)],
  old_values: [tokens.map(([, old]) => old)],
  returns: [tokens.map(([, , target]) => target)],
  mask: [tokens.map(() => 1)],
});

describe('valueLoss', () => {
  it('is the factor times the mean squared error of trained tokens', () => {
    const { loss, weights, tokens } = valueLoss(row([1, 9, 3], [2, 9, 1]), { ...PLAIN, factor: 0.5 });
    expect(loss).toBe((0.5 * (4 + 1)) / 2);
    expect(weights).toEqual([[0.5 * -2, 0.5 * 1]]);
    expect(tokens).toBe(2);
  });

  it('holds a value that has moved beyond its clip towards its return', () => {
    // Clipped to 0.5: its error is 2.5, and stays that wherever it goes.
    expect(valueLoss(row([2, 0, 3]), CLIPPED)).toMatchObject({ loss: 6.25, weights: [[0]] });
    expect(valueLoss(row([-2, 0, -3]), CLIPPED)).toMatchObject({ loss: 6.25, weights: [[0]] });
  });

  it('does not hold one that has moved away, or within its clip', () => {
    expect(valueLoss(row([2, 0, -1]), CLIPPED)).toMatchObject({ loss: 9, weights: [[6]] });
    expect(valueLoss(row([0.25, 0, 1]), CLIPPED)).toMatchObject({ loss: 0.5625, weights: [[-1.5]] });
  });

  it('does not hold one that has gone as far beyond its return as the clip is before it, and further', () => {
    expect(valueLoss(row([2, 0, 1]), CLIPPED)).toMatchObject({ loss: 1, weights: [[2]] });
  });

  it('reads nothing outside the mask, and is 0 where nothing is trained', () => {
    const nan = { ...row([Number.NaN, 0, 1], [1, 1, 2]), mask: [[0, 1]] };
    expect(valueLoss(nan, CLIPPED)).toEqual({ loss: 1, weights: [[0, -2]], tokens: 1 });
    expect(valueLoss({ ...nan, mask: [[0, 0]] }, CLIPPED)).toEqual({ loss: 0, weights: [[0, 0]], tokens: 0 });
  });

  it('is a mean over rows of means or of sums, empty rows counted or not', () => {
    const input: ValueLossInput = {
      values: [
        [1, 2],
        [3, 0],
        [0, 0],
      ],
      old_values: [
        [0, 0],
        [0, 0],
        [0, 0],
      ],
      returns: [
        [0, 0],
        [0, 0],
        [0, 0],
      ],
      mask: [
        [1, 1],
        [1, 0],
        [0, 0],
      ],
    };
    const of = (settings: Partial<ValueLossSettings>) => valueLoss(input, { ...PLAIN, ...settings }).loss;
    expect(of({ aggregation: 'seq-mean-token-mean' })).toBeCloseTo((2.5 + 9) / 3, 14);
    expect(of({ aggregation: 'seq-mean-token-mean', emptyRows: 'skip' })).toBeCloseTo((2.5 + 9) / 2, 14);
    expect(of({ aggregation: 'seq-mean-token-sum' })).toBeCloseTo(14 / 3, 14);
    const local = localValueLoss(input, PLAIN, [[0], [1, 2]]);
    expect(local.loss).toBeCloseTo((2.5 + 9) / 2, 14);
    expect(local.weights).toEqual([
      [0.5, 1],
      [3, 0],
      [0, 0],
    ]);
  });
});

it('a corner is at the edge of the clip, and where its error is that of the value beyond the return', () => {
  const at = (value: number, target: number) => atValueCorner(row([value, 0, target]), 0.5, [0, 0], 1e-9);
  expect(at(0.5, 3)).toBe(true);
  expect(at(1.5, 1)).toBe(true);
  expect(at(0.25, 3)).toBe(false);
  expect(at(1.25, 1)).toBe(false);
  expect(atValueCorner(row([0.5, 0, 3]), null, [0, 0], 1e-9)).toBe(false);
});

it('variants are those of a whole declaration, with empty rows counted or not', () => {
  expect(valueLossVariants({ value_clip: 0.2, value_loss_factor: 0.5 })).toEqual([]);
  const pieces = { value_clip: null, value_loss_factor: 0.5 };
  expect(valueLossVariants({ ...pieces, value_aggregation: 'token-mean' })).toHaveLength(1);
  const rows = valueLossVariants({ ...pieces, value_aggregation: 'seq-mean-token-mean' });
  expect(rows.map(describeValueLoss)).toEqual([
    'seq-mean-token-mean of 0.5 times squared errors, values not clipped',
    'seq-mean-token-mean of 0.5 times squared errors, rows without tokens not counted, values not clipped',
  ]);
});
