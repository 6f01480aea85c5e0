import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type LossSettings,
  localPolicyLoss,
  type PolicyLossInput,
  policyLoss,
} from '../../../src/reference/index.ts';
import { lossSettings, policyLossInput } from '../cases.ts';

const PLAIN: LossSettings = {
  aggregation: 'token-mean',
  norm: 1,
  clipLow: 0.2,
  clipHigh: 0.2,
  klCoef: 0,
  kl: null,
};
/** One token with this log-ratio and advantage. */
const token = (logRatio: number, advantage: number): PolicyLossInput => ({
  logprobs: [[logRatio]],
  old_logprobs: [[0]],
  ref_logprobs: [[0]],
  advantages: [advantage],
  mask: [[1]],
});

describe('the clipped surrogate', () => {
  // Ratio, advantage, loss, weight; the piecewise closed form of -min(r A, clip(r, 0.8, 1.2) A).
  const table = [
    [0.1, 2, -0.2, -0.2],
    [0.1, -2, 1.6, 0],
    [1, 2, -2, -2],
    [1, -2, 2, 2],
    [1.3, 2, -2.4, 0],
    [1.3, -2, 2.6, 2.6],
    [5, 2, -2.4, 0],
    [5, -2, 10, 10],
    [5, 0, 0, 0],
  ] as const;
  for (const [ratio, advantage, loss, weight] of table) {
    it(`is ${loss} with weight ${weight} at ratio ${ratio} and advantage ${advantage}`, () => {
      const result = policyLoss(token(Math.log(ratio), advantage), PLAIN);
      expect(result.loss).toBeCloseTo(loss, 12);
      expect(result.weights[0]?.[0]).toBeCloseTo(weight, 12);
      expect(result.tokens).toBe(1);
    });
  }

  it('clips each side by its own width', () => {
    const asymmetric = { ...PLAIN, clipLow: 0.1, clipHigh: 0.5 };
    expect(policyLoss(token(Math.log(0.3), -1), asymmetric).loss).toBeCloseTo(0.9, 14);
    expect(policyLoss(token(Math.log(3), 1), asymmetric).loss).toBeCloseTo(-1.5, 14);
    expect(policyLoss(token(Math.log(3), 1), { ...asymmetric, clipHigh: Infinity }).loss).toBeCloseTo(-3, 14);
    expect(policyLoss(token(-9, -1), { ...asymmetric, clipLow: Infinity }).loss).toBeCloseTo(
      Math.exp(-9),
      14,
    );
  });

  it('is a pessimistic bound: never below either -r A or -clip(r) A', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -3, max: 3, noNaN: true }),
        fc.double({ min: -3, max: 3, noNaN: true }),
        (logRatio, a) => {
          const { loss } = policyLoss(token(logRatio, a), PLAIN);
          const ratio = Math.exp(logRatio);
          expect(loss).toBeGreaterThanOrEqual(-ratio * a);
          expect(loss).toBeGreaterThanOrEqual(-Math.min(Math.max(ratio, 0.8), 1.2) * a);
        },
      ),
    );
  });

  it('stays finite where the clip binds on a ratio that overflowed', () => {
    expect(policyLoss(token(1e4, 1), PLAIN)).toEqual({ loss: -1.2, weights: [[0]], tokens: 1 });
    expect(policyLoss(token(1e4, 0), PLAIN)).toEqual({ loss: 0, weights: [[0]], tokens: 1 });
  });

  it('is 0 with weights that are not, on policy with advantages of mean 0', () => {
    const input = {
      logprobs: [
        [-1, -2],
        [-3, -1],
      ],
      old_logprobs: [
        [-1, -2],
        [-3, -1],
      ],
      ref_logprobs: [
        [0, 0],
        [0, 0],
      ],
      advantages: [1, -1],
      mask: [
        [1, 1],
        [1, 1],
      ],
    };
    expect(policyLoss(input, PLAIN)).toEqual({
      loss: 0,
      weights: [
        [-0.25, -0.25],
        [0.25, 0.25],
      ],
      tokens: 4,
    });
  });
});

/** One ratio per token or a sequence, with and without a dual clip. */
const everyRatio = fc
  .tuple(lossSettings, fc.constantFrom('token', 'sequence'), fc.constantFrom(3, 5, Infinity))
  .map(([settings, ratioLevel, dualClip]): LossSettings => ({ ...settings, ratioLevel, dualClip }));

describe('policyLoss with one ratio a sequence', () => {
  const input: PolicyLossInput = {
    logprobs: [[-1, -1, -1]],
    old_logprobs: [[-1.3, -0.9, -7]],
    ref_logprobs: [[-1, -1, -1]],
    advantages: [2],
    mask: [[1, 1, 0]],
  };

  it('takes the geometric mean of the ratios of the tokens in the mask, and shares its slope', () => {
    const ratio = Math.exp((0.3 - 0.1) / 2);
    const { loss, weights } = policyLoss(input, { ...PLAIN, ratioLevel: 'sequence' });
    expect(loss).toBeCloseTo(-2 * ratio, 14);
    expect(weights[0]?.[0]).toBeCloseTo((-2 * ratio) / 2, 14);
    expect(weights[0]?.[1]).toBeCloseTo((-2 * ratio) / 2, 14);
    expect(weights[0]?.[2]).toBe(0);
  });

  it('equals the token ratio where each row has one token', () => {
    const single = { ...input, mask: [[1, 0, 0]] };
    expect(policyLoss(single, { ...PLAIN, ratioLevel: 'sequence' })).toEqual(policyLoss(single, PLAIN));
  });
});

describe('policyLoss with a dual clip', () => {
  it('counts the ratio of a bad answer at most that much, and has no gradient beyond', () => {
    const settings = { ...PLAIN, dualClip: 3 };
    expect(policyLoss(token(2, -1.5), settings)).toEqual({ loss: 4.5, weights: [[0]], tokens: 1 });
    expect(policyLoss(token(1, -1.5), settings)).toEqual(policyLoss(token(1, -1.5), PLAIN));
    expect(policyLoss(token(2, 1.5), settings)).toEqual(policyLoss(token(2, 1.5), PLAIN));
  });
});

describe('policyLoss', () => {
  it('has the weights that finite differences see', () => {
    fc.assert(
      fc.property(policyLossInput, everyRatio, (input, settings) => {
        const h = 1e-6;
        const { weights } = policyLoss(input, settings);
        input.logprobs.forEach((row, b) => {
          row.forEach((logprob, t) => {
            const moved = (by: number) =>
              policyLoss({ ...input, logprobs: input.logprobs.with(b, row.with(t, logprob + by)) }, settings);
            const [below, above] = [moved(-h), moved(h)];
            const weight = weights[b]?.[t] ?? Number.NaN;
            const [left, right] = [below.weights[b]?.[t] ?? 0, above.weights[b]?.[t] ?? 0];
            // Around a corner (clip, clamp) the two sides differ and there is no derivative.
            if (Math.abs(left - right) > 1e-3 * Math.max(1, Math.abs(weight))) return;
            const scale = Math.max(1, Math.abs(weight), Math.abs(below.loss));
            expect(Math.abs((above.loss - below.loss) / (2 * h) - weight)).toBeLessThan(1e-5 * scale);
          });
        });
      }),
    );
  });

  it('reads nothing outside the mask', () => {
    fc.assert(
      fc.property(
        policyLossInput,
        lossSettings,
        fc.constantFrom(Number.NaN, Infinity, -Infinity, 1e30),
        (input, settings, poison) => {
          const poisoned = (matrix: PolicyLossInput['logprobs']) =>
            matrix.map((row, b) => row.map((x, t) => (input.mask[b]?.[t] === 1 ? x : poison)));
          const result = policyLoss(
            {
              ...input,
              logprobs: poisoned(input.logprobs),
              old_logprobs: poisoned(input.old_logprobs),
              ref_logprobs: poisoned(input.ref_logprobs),
            },
            settings,
          );
          expect(result).toEqual(policyLoss(input, settings));
        },
      ),
    );
  });

  it('adds beta times the KL, so that its derivative by beta is the mean KL', () => {
    const input = { ...token(0, 0), ref_logprobs: [[Math.LN2]] };
    const kl = { estimator: 'k3', clamp: null, clampWhere: null, ratioCorrection: false } as const;
    const { loss, weights } = policyLoss(input, { ...PLAIN, klCoef: 3, kl });
    expect(loss).toBeCloseTo(3 * (1 - Math.LN2), 14);
    expect(weights[0]?.[0]).toBeCloseTo(3 * (1 - 2), 14);
  });

  it('refuses a clip width below 0', () => {
    expect(() => policyLoss(token(0, 1), { ...PLAIN, clipLow: -0.2 })).toThrow('below 0');
  });
});

describe('localPolicyLoss', () => {
  it('equals the whole batch for one micro-batch, and differs for two of unequal length', () => {
    const input = {
      logprobs: [
        [0, 0, 0],
        [0, 0, 0],
      ],
      old_logprobs: [
        [0, 0, 0],
        [0, 0, 0],
      ],
      ref_logprobs: [
        [0, 0, 0],
        [0, 0, 0],
      ],
      advantages: [-1, -2],
      mask: [
        [1, 0, 0],
        [1, 1, 1],
      ],
    };
    expect(localPolicyLoss(input, PLAIN, [[0, 1]])).toEqual(policyLoss(input, PLAIN));
    const split = localPolicyLoss(input, PLAIN, [[1], [0]]);
    expect(split.loss).toBeCloseTo((1 + 2) / 2, 14);
    expect(policyLoss(input, PLAIN).loss).toBeCloseTo((1 + 2 * 3) / 4, 14);
    expect(split.weights[0]?.[0]).toBeCloseTo(1 / 2, 14);
    expect(split.weights[1]?.[2]).toBeCloseTo(2 / 6, 14);
    expect(split.tokens).toBe(4);
  });
});
