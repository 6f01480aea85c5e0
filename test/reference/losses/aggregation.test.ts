import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aggregate, type LossSettings, policyLoss, tokenFactors } from '../../../src/reference/index.ts';
import { lossSettings, policyLossInput } from '../cases.ts';

describe('aggregation', () => {
  const mask = [
    [0, 1, 0, 0],
    [1, 1, 1, 0],
  ];
  const of = (aggregation: LossSettings['aggregation'], rows = mask, emptyRows?: 'skip') =>
    aggregate(
      rows.map((row) => row.map((m) => (m === 1 ? 2.5 : Number.NaN))),
      rows,
      emptyRows === undefined ? { aggregation, norm: 10 } : { aggregation, norm: 10, emptyRows },
    );

  it('gives c, c, 2c and 4c/norm for a constant c over rows of 1 and 3 tokens', () => {
    expect(of('token-mean')).toBeCloseTo(2.5, 14);
    expect(of('seq-mean-token-mean')).toBeCloseTo(2.5, 14);
    expect(of('seq-mean-token-sum')).toBeCloseTo(5, 14);
    expect(of('token-sum-norm')).toBeCloseTo(1, 14);
  });

  it('counts rows without tokens, or skips them, only in the means over rows', () => {
    const padded = [...mask, [0, 0, 0, 0]];
    expect(of('token-mean', padded)).toBe(of('token-mean'));
    expect(of('seq-mean-token-mean', padded)).toBeCloseTo((2.5 * 2) / 3, 14);
    expect(of('seq-mean-token-mean', padded, 'skip')).toBeCloseTo(2.5, 14);
    expect(of('seq-mean-token-sum', padded, 'skip')).toBeCloseTo(5, 14);
  });

  it('is 0 for an empty mask in every mode', () => {
    fc.assert(
      fc.property(lossSettings, (settings) => {
        expect(aggregate([[1, Number.NaN]], [[0, 0]], settings)).toBe(0);
        expect(tokenFactors([[0, 0]], settings)).toEqual([[0, 0]]);
        expect(aggregate([], [], settings)).toBe(0);
      }),
    );
  });

  it('divides by rows times the constant where the constant is per row', () => {
    const settings = { aggregation: 'token-sum-norm', norm: 5, normPer: 'row' } as const;
    expect(
      tokenFactors(
        [
          [1, 0],
          [1, 1],
        ],
        settings,
      ),
    ).toEqual([
      [0.1, 0],
      [0.1, 0.1],
    ]);
  });

  it('is what policyLoss sums, for every setting', () => {
    fc.assert(
      fc.property(policyLossInput, lossSettings, (input, settings) => {
        const bare = { ...settings, kl: null, clipLow: Infinity, clipHigh: Infinity };
        const perToken = input.logprobs.map((row, b) =>
          row.map(
            (logprob, t) =>
              -Math.exp(logprob - (input.old_logprobs[b]?.[t] ?? 0)) * (input.advantages[b] ?? 0),
          ),
        );
        const expected = aggregate(perToken, input.mask, settings);
        const { loss } = policyLoss(input, bare);
        expect(Math.abs(loss - expected)).toBeLessThan(1e-9 * Math.max(1, Math.abs(expected)));
      }),
    );
  });
});
