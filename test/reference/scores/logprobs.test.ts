import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entropyOf, fullKlOf, logprobsOf, logSoftmax, logSumExp } from '../../../src/reference/index.ts';
import { scoring } from '../cases.ts';

describe('logSumExp', () => {
  it('agrees with the value that SciPy prints for 0 to 9', () => {
    expect(logSumExp([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])).toBeCloseTo(9.45862974442671, 13);
  });

  it('adds the constant that is added to every logit, however large', () => {
    for (const shift of [0, 1e3, -1e3, 1e6, -1e6]) {
      expect(logSumExp([shift, shift + Math.log(3)])).toBeCloseTo(shift + Math.log(4), 9);
    }
  });

  it('is -Infinity for nothing at all and ignores impossible tokens', () => {
    expect(logSumExp([])).toBe(-Infinity);
    expect(logSumExp([-Infinity, -Infinity])).toBe(-Infinity);
    expect(logSumExp([-Infinity, 2])).toBe(2);
    expect(logSumExp([Infinity, 2])).toBe(Infinity);
    expect(logSumExp([Number.NaN, 2])).toBeNaN();
    expect(logSumExp([2, Number.NaN, 3])).toBeNaN();
    expect(logSumExp([Number.NaN])).toBeNaN();
    expect(logSumExp([Number.NaN, Infinity])).toBeNaN();
  });
});

describe('logSoftmax', () => {
  it('agrees with the closed form for two tokens', () => {
    const [first, second] = logSoftmax([0, Math.log(3)]);
    expect(first).toBeCloseTo(Math.log(0.25), 15);
    expect(second).toBeCloseTo(Math.log(0.75), 15);
  });

  it('sums to probability 1 and is never above 0', () => {
    fc.assert(
      fc.property(scoring, ({ logits }) => {
        for (const row of logits.flat()) {
          const logps = logSoftmax(row);
          expect(logps.reduce((sum, logp) => sum + Math.exp(logp), 0)).toBeCloseTo(1, 12);
          expect(Math.max(...logps)).toBeLessThanOrEqual(0);
        }
      }),
    );
  });

  it('has no NaN where infinities meet', () => {
    expect(logSoftmax([-Infinity, 5])).toEqual([-Infinity, 0]);
    expect(logSoftmax([-Infinity, -Infinity])).toEqual([-Infinity, -Infinity]);
    expect(logSoftmax([Infinity, 1, Infinity])).toEqual([-Math.LN2, -Infinity, -Math.LN2]);
    expect(logSoftmax([1e308, -1e308])).toEqual([0, -Infinity]);
  });
});

describe('logprobsOf', () => {
  // Every position has its own distribution, so that each wrong shift gives another number.
  const logits = [[1, 2, 3, 4].map((peak) => [0, Math.log(peak), Math.log(10 * peak)])];

  it('scores token t with the logits of position t - 1', () => {
    const [row] = logprobsOf(logits, [[2, 1, 0, 2]]);
    expect(row?.[0]).toBeNaN();
    expect(row?.[1]).toBeCloseTo(Math.log(1 / 12), 14);
    expect(row?.[2]).toBeCloseTo(Math.log(1 / 23), 14);
    expect(row?.[3]).toBeCloseTo(Math.log(30 / 34), 14);
  });

  it('divides the logits by the temperature', () => {
    const [row] = logprobsOf(logits, [[2, 1, 0, 2]], 0.5);
    expect(row?.[2]).toBeCloseTo(Math.log(1 / (1 + 4 + 400)), 14);
  });

  it('gives NaN for a token outside the vocabulary and refuses a temperature of 0', () => {
    expect(logprobsOf(logits, [[0, 3, 1, 1]])[0]?.[1]).toBeNaN();
    expect(() => logprobsOf(logits, [[0, 1]], 0)).toThrow('temperature must be above 0, not 0');
  });

  it('refuses logits with fewer rows or positions than the ids', () => {
    expect(() => logprobsOf(logits, [[0], [0, 1]])).toThrow('outside an array of 1');
    expect(() => logprobsOf([[[0, 1]]], [[0, 1, 1]])).toThrow('outside an array of 1');
  });
});

describe('entropyOf', () => {
  it('is log V when uniform, 0 when certain, and unchanged by impossible tokens', () => {
    expect(entropyOf([7, 7, 7, 7])).toBeCloseTo(Math.log(4), 14);
    expect(entropyOf([0, -Infinity])).toBe(0);
    expect(entropyOf([1, -Infinity, 1])).toBeCloseTo(Math.LN2, 14);
  });

  it('agrees with the closed form for one biased coin', () => {
    expect(entropyOf([0, Math.log(3)])).toBeCloseTo(-(0.25 * Math.log(0.25) + 0.75 * Math.log(0.75)), 14);
  });
});

describe('fullKlOf', () => {
  it('is sum p log(p / q), worked out by hand', () => {
    const [p, q] = [
      [0, Math.log(3)],
      [0, 0],
    ];
    expect(fullKlOf(p ?? [], q ?? [])).toBeCloseTo(0.25 * Math.log(0.5) + 0.75 * Math.log(1.5), 14);
    expect(fullKlOf(q ?? [], p ?? [])).toBeCloseTo(0.5 * Math.log(2) + 0.5 * Math.log(2 / 3), 14);
  });

  it('is 0 against itself, and against logits that are higher by a constant', () => {
    expect(fullKlOf([1, -2, 3], [1, -2, 3])).toBe(0);
    expect(fullKlOf([1, -2, 3], [5, 2, 7])).toBeCloseTo(0, 14);
  });

  it('leaves out what the policy cannot produce, and is infinite where only the reference cannot', () => {
    expect(fullKlOf([0, -Infinity], [0, 0])).toBeCloseTo(Math.LN2, 14);
    expect(fullKlOf([0, -Infinity], [0, -Infinity])).toBe(0);
    expect(fullKlOf([0, 0], [0, -Infinity])).toBe(Infinity);
  });
});
