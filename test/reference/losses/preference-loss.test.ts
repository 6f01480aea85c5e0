import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  marginOf,
  type PairNumbers,
  type PreferenceSettings,
  preferenceLoss,
  preferenceLossAt,
  preferenceSlopeAt,
  preferenceVariants,
  scoreOf,
} from '../../../src/reference/index.ts';

const DPO: PreferenceSettings = {
  objective: 'dpo',
  beta: 0.5,
  labelSmoothing: 0,
  smoothing: 'conservative',
  gamma: 0,
  length: 'sum',
};
/** One token a side, against a reference of 0. */
const pair = (chosen: number, rejected: number): PairNumbers => ({
  chosen: [chosen],
  rejected: [rejected],
  refChosen: [0],
  refRejected: [0],
});
const side = fc.array(
  fc.integer({ min: -256, max: 0 }).map((n) => n / 64),
  { minLength: 1, maxLength: 4 },
);
const margins = fc.integer({ min: -400, max: 400 }).map((n) => n / 16);

describe('preferenceLoss', () => {
  it('is log 2 at margin 0 and log(1 + exp(-beta d)) elsewhere, for DPO', () => {
    expect(preferenceLoss(pair(-1, -1), DPO)).toBeCloseTo(Math.LN2, 14);
    expect(preferenceLoss(pair(-1, -3), DPO)).toBeCloseTo(Math.log(1 + Math.exp(-1)), 14);
    expect(preferenceLoss(pair(-3, -1), DPO)).toBeCloseTo(Math.log(1 + Math.E), 14);
  });

  it('is linear where the sigmoid has no digits left', () => {
    expect(preferenceLoss(pair(-10_000, 0), DPO)).toBe(5000);
    expect(preferenceLoss(pair(0, -10_000), DPO)).toBe(0);
  });

  it('is a probability: exp(-loss) of a pair and of its mirror add up to 1', () => {
    fc.assert(
      fc.property(side, side, (chosen, rejected) => {
        const zeros = (row: readonly number[]): number[] => row.map(() => 0);
        const one = { chosen, rejected, refChosen: zeros(chosen), refRejected: zeros(rejected) };
        const mirrored = {
          chosen: rejected,
          rejected: chosen,
          refChosen: zeros(rejected),
          refRejected: zeros(chosen),
        };
        const sum = Math.exp(-preferenceLoss(one, DPO)) + Math.exp(-preferenceLoss(mirrored, DPO));
        expect(sum).toBeCloseTo(1, 12);
      }),
    );
  });

  it('smooths by mixing both losses, and its least loss is where the model believes the noise', () => {
    const smoothed = { ...DPO, beta: 1, labelSmoothing: 0.2 };
    const best = Math.log(0.8 / 0.2);
    const least = preferenceLoss(pair(best, 0), smoothed);
    // The entropy of the noise: -0.8 log 0.8 - 0.2 log 0.2.
    expect(least).toBeCloseTo(-0.8 * Math.log(0.8) - 0.2 * Math.log(0.2), 14);
    expect(preferenceLoss(pair(best + 0.1, 0), smoothed)).toBeGreaterThan(least);
    expect(preferenceLoss(pair(best - 0.1, 0), smoothed)).toBeGreaterThan(least);
  });

  it('robust: in expectation over flipped labels it is the loss without noise', () => {
    fc.assert(
      fc.property(margins, (margin) => {
        const robust = { ...DPO, labelSmoothing: 0.3, smoothing: 'robust' as const };
        const expected =
          0.7 * preferenceLoss(pair(margin, 0), robust) + 0.3 * preferenceLoss(pair(0, margin), robust);
        expect(expected).toBeCloseTo(preferenceLoss(pair(margin, 0), DPO), 10);
      }),
    );
  });

  it('ipo is 0 at its target margin 1 / (2 beta) and grows to both sides alike', () => {
    const ipo = { ...DPO, objective: 'ipo' as const, beta: 0.25 };
    expect(preferenceLoss(pair(2, 0), ipo)).toBe(0);
    expect(preferenceLoss(pair(5, 0), ipo)).toBe(9);
    expect(preferenceLoss(pair(-1, 0), ipo)).toBe(9);
  });

  it('hinge is 0 from margin 1 / beta on, and 1 at margin 0', () => {
    const hinge = { ...DPO, objective: 'hinge' as const };
    expect([0, 1, 2, 3].map((margin) => preferenceLoss(pair(margin, 0), hinge))).toEqual([1, 0.5, 0, 0]);
  });

  it('simpo reads no reference, counts length by means, and is log 2 at its target margin', () => {
    const simpo: PreferenceSettings = { ...DPO, objective: 'simpo', beta: 2, gamma: 0.5, length: 'mean' };
    const numbers = { chosen: [-1, -1, -1], rejected: [-1, -2], refChosen: [-9, 0, 0], refRejected: [0, -5] };
    expect(preferenceLoss(numbers, simpo)).toBeCloseTo(Math.LN2, 14);
  });
});

describe('preferenceSlopeAt', () => {
  const every: readonly PreferenceSettings[] = [
    DPO,
    { ...DPO, labelSmoothing: 0.2 },
    { ...DPO, labelSmoothing: 0.2, smoothing: 'robust' },
    { ...DPO, objective: 'ipo', beta: 0.25 },
    { ...DPO, objective: 'hinge' },
    { ...DPO, objective: 'simpo', beta: 2, gamma: 0.5, length: 'mean' },
  ];

  it.each(every)('is the slope of the loss by central differences: $objective, $smoothing', (settings) => {
    const step = 2 ** -12;
    fc.assert(
      // Between the grid of the margins: a hinge has no slope at its corner.
      fc.property(margins, (margin) => {
        const at = margin + 1 / 64;
        const difference =
          (preferenceLossAt(at + step, settings) - preferenceLossAt(at - step, settings)) / (2 * step);
        expect(preferenceSlopeAt(at, settings)).toBeCloseTo(difference, 6);
      }),
    );
  });
});

describe('scoreOf and marginOf', () => {
  it('sum or average the differences to the reference', () => {
    expect(scoreOf([-1, -2, -3], [-2, -2, -5], 'sum')).toBe(3);
    expect(scoreOf([-1, -2, -3], [-2, -2, -5], 'mean')).toBe(1);
    expect(scoreOf([-1, -2, -3], undefined, 'sum')).toBe(-6);
    expect(marginOf({ chosen: [-1], rejected: [-1, -1], refChosen: [0], refRejected: [0, 0] }, DPO)).toBe(1);
  });

  it('refuse a completion without tokens', () => {
    expect(() => scoreOf([], [], 'mean')).toThrow('without tokens');
  });
});

describe('preferenceVariants', () => {
  it('are none where a number that may be anything is missing', () => {
    expect(preferenceVariants({})).toEqual([]);
    expect(preferenceVariants({ preference_objective: 'dpo' })).toEqual([]);
    expect(preferenceVariants({ preference_objective: 'simpo', preference_beta: 2 })).toEqual([]);
  });

  it('hold to what is declared: sums for dpo, means for simpo, either for ipo', () => {
    const lengths = (semantics: Parameters<typeof preferenceVariants>[0]): string[] => [
      ...new Set(preferenceVariants({ preference_beta: 0.1, ...semantics }).map(({ length }) => length)),
    ];
    expect(lengths({ preference_objective: 'dpo' })).toEqual(['sum']);
    expect(lengths({ preference_objective: 'simpo', preference_gamma: 0 })).toEqual(['mean']);
    expect(lengths({ preference_objective: 'ipo' })).toEqual(['mean', 'sum']);
    expect(
      preferenceVariants({
        preference_objective: 'dpo',
        preference_beta: 0.1,
        preference_label_smoothing: 0.1,
      }).map(({ smoothing }) => smoothing),
    ).toEqual(['conservative', 'robust']);
  });
});
