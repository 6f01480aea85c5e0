// The rolling window agrees with sorting the window, forgets what left it, and is not moved by outliers.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rolling } from '../../src/monitor/rolling.ts';

/** Without -0, which is sorted among the zeros as it comes. */
const number = fc
  .double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 })
  .map((value) => value + 0);

describe('a rolling window', () => {
  test('has the percentiles of the last values', () => {
    fc.assert(
      fc.property(
        fc.array(number, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        (values, window) => {
          const usual = rolling(window);
          for (const value of values) usual.add(value);
          const kept = values.slice(-window).sort((a, b) => a - b);
          expect(usual.count).toBe(kept.length);
          for (const share of [0, 0.1, 0.5, 0.9, 1])
            expect(usual.quantile(share)).toBe(
              kept[Math.min(kept.length - 1, Math.floor(share * kept.length))],
            );
        },
      ),
    );
  });

  test('an outlier in ten hardly widens it', () => {
    const usual = rolling(40);
    for (let at = 0; at < 40; at++) usual.add(at % 11 === 0 ? 1e9 : 1 + (at % 5) / 10);
    expect(usual.median()).toBeCloseTo(1.2, 5);
    expect(usual.spread()).toBeGreaterThan(0);
    usual.add(Number.NaN);
    expect(usual.count).toBe(40);
  });

  test('is about the standard deviation of a normal distribution', () => {
    const usual = rolling(1000);
    for (let at = 0; at < 1000; at++)
      usual.add(Math.sqrt(-2 * Math.log((at + 0.5) / 1000)) * Math.cos(2 * Math.PI * ((at * 0.618034) % 1)));
    expect(usual.spread()).toBeGreaterThan(0.9);
    expect(usual.spread()).toBeLessThan(1.6);
  });

  test('is empty before the first value', () => {
    expect(rolling(5).median()).toBeNaN();
  });
});
