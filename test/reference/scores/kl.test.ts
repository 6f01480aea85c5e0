import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  describeKl,
  entropyOf,
  type KlVariant,
  klClampOf,
  klOf,
  klOfRow,
  klPerToken,
  klTerm,
  klVariants,
  logSoftmax,
} from '../../../src/reference/index.ts';
import { klVariant } from '../cases.ts';

const PLAIN: KlVariant = { estimator: 'k3', clamp: null, clampWhere: null, ratioCorrection: false };
const vocabulary = fc.array(fc.double({ min: -4, max: 4, noNaN: true }), { minLength: 5, maxLength: 5 });

/** KL(pi || ref) by its definition, and each token's probability. */
function enumerated(policyLogits: number[], referenceLogits: number[]) {
  const logpi = logSoftmax(policyLogits);
  const logref = logSoftmax(referenceLogits);
  const tokens = logpi.map((logp, v) => ({ p: Math.exp(logp), logp, ref: logref[v] ?? Number.NaN }));
  return { tokens, kl: tokens.reduce((sum, { p, logp, ref }) => sum + p * (logp - ref), 0) };
}

describe('the estimators, by full enumeration of a vocabulary of 5', () => {
  it('k1 and k3 have KL(policy || reference) as their mean under the policy, exactly', () => {
    fc.assert(
      fc.property(vocabulary, vocabulary, (policy, reference) => {
        const { tokens, kl } = enumerated(policy, reference);
        for (const estimator of ['k1', 'k3'] as const) {
          const mean = tokens.reduce((sum, { p, logp, ref }) => sum + p * klOf(logp, ref, estimator), 0);
          expect(Math.abs(mean - kl)).toBeLessThan(1e-12);
        }
      }),
    );
  });

  it('the importance ratio makes the mean under the behaviour policy the same', () => {
    fc.assert(
      fc.property(vocabulary, vocabulary, vocabulary, (policy, reference, behaviour) => {
        const { tokens, kl } = enumerated(policy, reference);
        const old = logSoftmax(behaviour);
        const mean = tokens.reduce((sum, { logp, ref }, v) => {
          const sampled = old[v] ?? Number.NaN;
          const { value } = klTerm(logp, ref, sampled, { ...PLAIN, ratioCorrection: true });
          return sum + Math.exp(sampled) * value;
        }, 0);
        expect(Math.abs(mean - kl)).toBeLessThan(1e-12 * Math.max(1, kl) * 10);
      }),
    );
  });

  it('only k2 as a loss follows the gradient of the KL; k1 as a loss follows nothing', () => {
    fc.assert(
      fc.property(vocabulary, vocabulary, (policy, reference) => {
        const { tokens, kl } = enumerated(policy, reference);
        tokens.forEach((target, j) => {
          // The mean of slope times dlogp_v/dz_j, with dlogp_v/dz_j = [v = j] - p_j.
          const follows = (estimator: 'k1' | 'k2'): number =>
            tokens.reduce((sum, { p, logp, ref }, v) => {
              const { slope } = klTerm(logp, ref, logp, { ...PLAIN, estimator });
              return sum + p * slope * ((v === j ? 1 : 0) - target.p);
            }, 0);
          // d KL / d z_j = p_j (log p_j - log ref_j - KL).
          expect(follows('k2')).toBeCloseTo(target.p * (target.logp - target.ref - kl), 12);
          expect(follows('k1')).toBeCloseTo(0, 12);
        });
      }),
    );
  });

  it('KL to the uniform reference is log V minus the entropy', () => {
    const policy = [0, 1, -2, 3];
    expect(enumerated(policy, [0, 0, 0, 0]).kl).toBeCloseTo(Math.log(4) - entropyOf(policy), 14);
  });
});

describe('the estimators, against the table in Schulman 2020', () => {
  // Policy N(0, 1), reference N(mean, 1), integrated on a grid. bias and deviation are in units of the true KL.
  const table = [
    { mean: 0.1, kl: 0.005, bias: { k1: 0, k2: 0.002, k3: 0 }, deviation: { k1: 20, k2: 1.42, k3: 1.42 } },
    { mean: 1, kl: 0.5, bias: { k1: 0, k2: 0.25, k3: 0 }, deviation: { k1: 2, k2: 1.73, k3: 1.7 } },
  ];
  for (const row of table) {
    it(`has the published bias and deviation for a reference ${row.mean} away`, () => {
      for (const estimator of ['k1', 'k2', 'k3'] as const) {
        let first = 0;
        let second = 0;
        const step = 1e-3;
        for (let x = -12; x <= 12; x += step) {
          const logp = -(x * x) / 2 - Math.log(2 * Math.PI) / 2;
          const ref = -((x - row.mean) ** 2) / 2 - Math.log(2 * Math.PI) / 2;
          const k = klOf(logp, ref, estimator);
          first += Math.exp(logp) * k * step;
          second += Math.exp(logp) * k * k * step;
        }
        expect((first - row.kl) / row.kl).toBeCloseTo(row.bias[estimator], 2);
        // Published with three digits, from samples.
        const deviation = Math.sqrt(second - first * first) / row.kl;
        expect(Math.abs(deviation / row.deviation[estimator] - 1)).toBeLessThan(0.02);
      }
    });
  }
});

describe('k3', () => {
  it('is never negative and keeps its digits near 0', () => {
    fc.assert(
      fc.property(fc.double({ min: -30, max: 30, noNaN: true }), (d) => {
        expect(klOf(0, d, 'k3')).toBeGreaterThanOrEqual(0);
      }),
    );
    expect(klOf(0, 1e-5, 'k3')).toBeCloseTo(5e-11, 15);
    expect(klOf(-2, -2, 'k3')).toBe(0);
    expect(klOf(-Infinity, -1, 'k3')).toBe(Infinity);
  });
});

describe('klTerm', () => {
  it('has the slope that finite differences see', () => {
    const logprob = fc.double({ min: -3, max: 3, noNaN: true });
    fc.assert(
      fc.property(logprob, logprob, logprob, klVariant, (lp, ref, old, variant) => {
        const h = 1e-6;
        const { slope } = klTerm(lp, ref, old, variant);
        const below = klTerm(lp - h, ref, old, variant);
        const above = klTerm(lp + h, ref, old, variant);
        // A clamp that starts to bind between the two has no derivative to compare.
        fc.pre(Math.abs(above.slope - below.slope) < 1e-2 * Math.max(1, Math.abs(slope)));
        const difference = (above.value - below.value) / (2 * h);
        expect(Math.abs(difference - slope)).toBeLessThan(1e-6 * Math.max(1, Math.abs(slope)) + 1e-5);
      }),
    );
  });

  it('straight through, has the value of one estimator and the slope of k2 within and beyond its clamp', () => {
    const held = { ...PLAIN, clamp: 10, clampWhere: 'estimate', slopeOf: 'k2' } as const;
    for (const [logprob, ref] of [
      [-1, -1.5],
      [-30, -1],
    ] as const) {
      const { value, slope } = klTerm(logprob, ref, logprob, held);
      const { slopeOf: _, ...own } = held;
      expect(value).toBe(klTerm(logprob, ref, logprob, own).value);
      expect(slope).toBe(logprob - ref);
    }
  });

  it('clamps the log-ratio or the estimate, and a binding clamp stops the gradient', () => {
    const at = (clampWhere: 'log-ratio' | 'estimate') =>
      klTerm(-30, 0, -30, { ...PLAIN, clamp: 10, clampWhere });
    expect(at('log-ratio')).toEqual({ value: Math.expm1(10) - 10, slope: 0 });
    expect(at('estimate')).toEqual({ value: 10, slope: 0 });
  });

  it('abs falls towards the reference on both sides and is flat on it', () => {
    const abs = { ...PLAIN, estimator: 'abs' as const };
    expect(klTerm(-1, -3, -1, abs)).toEqual({ value: 2, slope: 1 });
    expect(klTerm(-3, -1, -3, abs)).toEqual({ value: 2, slope: -1 });
    expect(Math.abs(klTerm(-1, -1, -1, abs).slope)).toBe(0);
    expect(klTerm(-30, 0, -30, { ...abs, clamp: 10, clampWhere: 'log-ratio' }).value).toBe(10);
  });

  it('is 0, not NaN, where the policy is the reference and the ratio overflows', () => {
    expect(klTerm(-1, -1, -1e4, { ...PLAIN, ratioCorrection: true })).toEqual({ value: 0, slope: 0 });
  });
});

it('klPerToken keeps the shape and reads each cell of the three matrices', () => {
  const k1 = { ...PLAIN, estimator: 'k1' as const, ratioCorrection: true };
  const values = klPerToken(
    [
      [0, -1],
      [-2, 0],
    ],
    [
      [-1, -1],
      [-4, -3],
    ],
    [
      [0, -1],
      [-2, -Math.LN2],
    ],
    k1,
  );
  expect(values).toEqual([
    [1, 0],
    [2, 6],
  ]);
  expect(() => klPerToken([[0, 0]], [[0]], [[0, 0]], PLAIN)).toThrow('outside an array of 1');
});

describe('a KL of rows', () => {
  it('is estimated of the mean or the sum of the log-ratios in the mask, and has their slope', () => {
    const [logprobs, ref, mask] = [
      [-1, -2, -3],
      [-2, -2.5, 0],
      [1, 1, 0],
    ];
    const mean = { ...PLAIN, ofRow: 'mean' } as const;
    expect(klOfRow(logprobs, ref, mask, mean).value).toBeCloseTo(Math.exp(-0.75) + 0.75 - 1);
    expect(klOfRow(logprobs, ref, mask, mean).slope).toBeCloseTo(-(Math.exp(-0.75) - 1) / 2);
    expect(klOfRow(logprobs, ref, mask, { ...mean, ofRow: 'sum' }).value).toBeCloseTo(
      Math.exp(-1.5) + 1.5 - 1,
    );
    expect(klPerToken([logprobs], [ref], [logprobs], mean, [mask])[0]).toEqual(
      Array(3).fill(klOfRow(logprobs, ref, mask, mean).value),
    );
    expect(klOfRow(logprobs, ref, [0, 0, 0], mean)).toEqual({ value: 0, slope: 0 });
  });

  it('is one variant for each of them where it is declared, and none otherwise', () => {
    const declared = { kl_estimator: 'k3', kl_clamp: null } as const;
    expect(klVariants({ ...declared, kl_level: 'sequence' }).map(({ ofRow }) => ofRow)).toEqual([
      'mean',
      'sum',
    ]);
    expect(klVariants(declared).some(({ ofRow }) => ofRow !== undefined)).toBe(false);
    expect(klVariants({ ...declared, kl_level: 'sequence', kl_ratio_correction: true })).toEqual([]);
  });
});

describe('a clamp of one side', () => {
  const atMost = { ...PLAIN, clamp: [null, 10], clampWhere: 'log-ratio' } as const;
  it('leaves the other side alone, in value and slope', () => {
    // d = ref - logprob.
    expect(klTerm(-13, -1, -13, atMost)).toEqual({ value: Math.expm1(10) - 10, slope: 0 });
    expect(klTerm(-1, -13, -1, atMost)).toEqual(klTerm(-1, -13, -1, PLAIN));
    const atLeast = { ...PLAIN, clamp: [-10, null], clampWhere: 'log-ratio' } as const;
    expect(klTerm(-1, -13, -1, atLeast)).toEqual({ value: Math.expm1(-10) + 10, slope: 0 });
    expect(describeKl(atMost)).toBe('k3, log-ratio clamped to at most 10');
    expect(describeKl({ ...atMost, clamp: [-5, 10] })).toBe('k3, log-ratio clamped to -5 to 10');
  });

  it('may be that of the log-ratio, either way round, or of the estimate', () => {
    const declared = { kl_estimator: 'k3', kl_clamp: [null, 10], kl_ratio_correction: false } as const;
    expect(klVariants(declared).map(describeKl)).toEqual([
      'k3, log-ratio clamped to at most 10',
      'k3, log-ratio clamped to at least -10',
      'k3, estimate clamped to at most 10',
    ]);
    expect(klVariants({ ...declared, kl_estimator: 'k1' })).toHaveLength(2);
  });
});

describe('klVariants', () => {
  it('has the clamp of each estimator where it is declared of each, and none of one that is not named', () => {
    const declared = { kl_clamp: { k2: 20, k3: [null, 10] }, kl_ratio_correction: false } as const;
    expect(klVariants(declared).map(describeKl)).toEqual([
      'k1',
      'abs',
      'k2, log-ratio clamped to ±20',
      'k2, estimate clamped to ±20',
      'k3, log-ratio clamped to at most 10',
      'k3, log-ratio clamped to at least -10',
      'k3, estimate clamped to at most 10',
    ]);
    expect(klVariants({ ...declared, kl_estimator: 'k3' }, 'k1').map(describeKl)).toEqual(['k1']);
    expect(klClampOf({ k3: 10, k2: null }, 'k3')).toBe(10);
    expect(klClampOf({ k3: 10, k2: null }, 'k2')).toBe(null);
    expect(klClampOf({}, 'abs')).toBe(null);
    expect(klClampOf([null, 10], 'k1')).toEqual([null, 10]);
    expect(klClampOf(undefined, 'k1')).toBe(undefined);
  });

  it('is one variant where all is declared', () => {
    expect(klVariants({ kl_estimator: 'k3', kl_clamp: null, kl_ratio_correction: false })).toEqual([PLAIN]);
  });

  it('lets the estimator that was asked for win over the declared one', () => {
    const estimators = klVariants({ kl_estimator: 'k3' }, 'k2').map(({ estimator }) => estimator);
    expect(new Set(estimators)).toEqual(new Set(['k2']));
  });

  it('ranges over every clamp and correction when only the estimator is declared, without duplicates', () => {
    const described = klVariants({ kl_estimator: 'k2' }).map(describeKl);
    expect(described).toHaveLength(10);
    expect(new Set(described).size).toBe(10);
    expect(described[0]).toBe('k2');
    expect(described).toContain('k2, estimate clamped to ±10, times the importance ratio');
  });

  it('covers all estimators when nothing is declared, and the declared clamp only when it is', () => {
    expect(klVariants({})).toHaveLength(2 * (3 + 5 + 5 + 3));
    expect(klVariants({ kl_clamp: 5 }).every(({ clamp }) => clamp === 5)).toBe(true);
  });
});
