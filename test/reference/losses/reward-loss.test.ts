import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeRewardLoss, rewardLoss } from '../../../src/reference/index.ts';

const scores = fc.integer({ min: -80, max: 80 }).map((n) => n / 8);
const batches = fc.array(fc.tuple(scores, scores, scores), { minLength: 1, maxLength: 4 }).map((rows) => ({
  chosen_scores: rows.map(([chosen]) => chosen),
  rejected_scores: rows.map(([, rejected]) => rejected),
  margins: rows.map(([, , margin]) => Math.abs(margin)),
}));
const coefficients = fc.constantFrom(0, 0.01, 0.5);

describe('rewardLoss', () => {
  it('is log 2 where nothing is told, and log(1 + exp(-d)) elsewhere', () => {
    const of = (chosen: number, rejected: number): number =>
      rewardLoss({ chosen_scores: [chosen], rejected_scores: [rejected] }, 0).loss;
    expect(of(3, 3)).toBeCloseTo(Math.LN2, 14);
    expect(of(3, 1)).toBeCloseTo(Math.log(1 + Math.exp(-2)), 14);
    expect(of(1, 3)).toBeCloseTo(Math.log(1 + Math.exp(2)), 14);
  });

  it('is finite however far two scores are apart', () => {
    const far = { chosen_scores: [1e4, -1e4], rejected_scores: [-1e4, 1e4] };
    expect(rewardLoss(far, 0)).toEqual({
      loss: 1e4,
      losses: [0, 2e4],
      chosen_weights: [0, -0.5],
      rejected_weights: [0, 0.5],
    });
  });

  it('takes a margin off the difference', () => {
    fc.assert(
      fc.property(batches, ({ margins, ...rest }) => {
        const nearer = rest.chosen_scores.map((score, row) => score - (margins[row] ?? 0));
        expect(rewardLoss({ ...rest, margins }, 0)).toEqual(
          rewardLoss({ ...rest, chosen_scores: nearer }, 0),
        );
      }),
    );
  });

  it('has the weights that finite differences of it have', () => {
    const step = 1e-5;
    fc.assert(
      fc.property(batches, coefficients, (batch, centering) => {
        const { chosen_weights, rejected_weights } = rewardLoss(batch, centering);
        for (const [name, weights] of [
          ['chosen_scores', chosen_weights],
          ['rejected_scores', rejected_weights],
        ] as const)
          for (const [row, weight] of weights.entries()) {
            const at = (by: number): number => {
              const moved = batch[name].map((score, other) => (other === row ? score + by : score));
              return rewardLoss({ ...batch, [name]: moved }, centering).loss;
            };
            expect((at(step) - at(-step)) / (2 * step)).toBeCloseTo(weight, 5);
          }
      }),
      { numRuns: 50 },
    );
  });

  it('is the mean of its pairs, and has the square of their sums', () => {
    fc.assert(
      fc.property(batches, coefficients, (batch, centering) => {
        const { loss, losses } = rewardLoss(batch, centering);
        expect(loss).toBeCloseTo(losses.reduce((sum, each) => sum + each, 0) / losses.length, 10);
        const plain = rewardLoss(batch, 0).losses;
        for (const [row, value] of losses.entries()) {
          const sum = (batch.chosen_scores[row] ?? 0) + (batch.rejected_scores[row] ?? 0);
          expect(value - (plain[row] ?? 0)).toBeCloseTo(centering * sum * sum, 10);
        }
      }),
    );
  });
});

it('is described with its coefficient', () => {
  expect(describeRewardLoss({})).toBe('Bradley-Terry');
  expect(describeRewardLoss({ reward_centering: 0.01 })).toBe(
    "Bradley-Terry and 0.01 times the square of both scores' sum",
  );
});
