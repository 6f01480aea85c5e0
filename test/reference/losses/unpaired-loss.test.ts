import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  describeUnpaired,
  meanLogRatio,
  type UnpairedLossInput,
  type UnpairedSettings,
  unpairedLoss,
  unpairedSettings,
} from '../../../src/reference/index.ts';
import { unpairedLossInput, unpairedLossSettings } from '../cases.ts';

const KTO: UnpairedSettings = { objective: 'kto', beta: 0.5, desirableWeight: 1, undesirableWeight: 2 };

const one = (ratio: number, kind: number, kl: number): UnpairedLossInput => ({
  logprobs: [[-1, -1]],
  ref_logprobs: [[-1, -1 - ratio]],
  desirable: [kind],
  kl_logprobs: [[-1]],
  ref_kl_logprobs: [[-1 - kl]],
});

describe('unpairedLoss', () => {
  it('is half of a weight at the reference, and 1 - sigmoid elsewhere', () => {
    const of = (ratio: number, kind: number, kl = 0): number => unpairedLoss(one(ratio, kind, kl), KTO).loss;
    const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
    expect([of(0, 1), of(0, 0)]).toEqual([0.5, 1]);
    expect(of(3, 1, 1)).toBeCloseTo(1 - sigmoid(0.5 * 2), 14);
    expect(of(3, 0, 1)).toBeCloseTo(2 * (1 - sigmoid(-0.5 * 2)), 14);
    expect(of(3, 1, -1)).toBeCloseTo(1 - sigmoid(0.5 * 3), 14);
    expect(unpairedLoss(one(3, 1, 1), { ...KTO, objective: 'apo_zero' }).loss).toBeCloseTo(
      1 - sigmoid(1.5),
      14,
    );
  });

  it('is finite however far policy and reference are apart', () => {
    for (const ratio of [1e5, -1e5])
      for (const kind of [0, 1]) {
        const { loss, weights, kl } = unpairedLoss(one(ratio, kind, ratio), KTO);
        expect([loss, kl, ...weights.flat()].every(Number.isFinite)).toBe(true);
      }
  });

  it('has the weights that finite differences of it have, the KL held', () => {
    const step = 1e-5;
    fc.assert(
      fc.property(unpairedLossInput, unpairedLossSettings, (input, chosen) => {
        const { weights } = unpairedLoss(input, chosen);
        for (const [b, row] of weights.entries())
          for (const [t, weight] of row.entries()) {
            const at = (by: number): number => {
              const moved = input.logprobs.map((values, other) =>
                values.map((value, u) => (other === b && u === t ? value + by : value)),
              );
              return unpairedLoss({ ...input, logprobs: moved }, chosen).loss;
            };
            expect((at(step) - at(-step)) / (2 * step)).toBeCloseTo(weight, 6);
          }
      }),
      { numRuns: 50 },
    );
  });

  it('is the mean of its rows, under a KL that is not below 0', () => {
    fc.assert(
      fc.property(unpairedLossInput, unpairedLossSettings, (input, chosen) => {
        const { loss, losses, kl } = unpairedLoss(input, chosen);
        expect(loss).toBeCloseTo(losses.reduce((sum, each) => sum + each, 0) / losses.length, 12);
        expect(kl).toBe(chosen.objective === 'kto' ? Math.max(0, meanLogRatio(input)) : 0);
      }),
    );
  });
});

it('needs all four numbers, and says them', () => {
  const items = {
    unpaired_objective: 'kto',
    unpaired_beta: 0.5,
    desirable_weight: 1,
    undesirable_weight: 2,
  } as const;
  expect(unpairedSettings(items)).toEqual(KTO);
  for (const item of Object.keys(items))
    expect(unpairedSettings({ ...items, [item]: undefined })).toBe(undefined);
  expect(describeUnpaired(KTO)).toBe('kto with beta 0.5, desirable rows times 1, undesirable ones times 2');
});
