import { describe, expect, it } from 'vitest';
import { allowed, close, tolerance } from '../../src/reference/index.ts';

const single = tolerance('float32');

describe('tolerance', () => {
  it('widens as the precision falls', () => {
    const widths = (['float64', 'float32', 'float16', 'bfloat16'] as const).map((d) => tolerance(d).absolute);
    expect(widths).toEqual(widths.toSorted((a, b) => a - b));
  });

  it('grows with the terms summed, from a hundred on, and says so', () => {
    expect(tolerance('float32', { terms: 100 })).toEqual(single);
    const summed = tolerance('float32', { terms: 1000 });
    expect(summed.absolute).toBeCloseTo(1e-4, 12);
    expect(summed.reason).toBe(
      'the trainer computes in float32: off by at most 0.0001, or 0.0001 of the value, for a sum of 1000 terms',
    );
  });

  it('covers what float32 really loses on a sum of a thousand terms', () => {
    let sum = 0;
    for (let i = 0; i < 1000; i++) sum = Math.fround(sum + Math.fround(0.1));
    expect(close(sum, 100, tolerance('float32', { terms: 1000 }))).toBe(true);
    expect(close(sum, 100, tolerance('float64', { terms: 1000 }))).toBe(false);
  });
});

describe('close', () => {
  it('takes the wider of the absolute and the relative band', () => {
    expect(close(0.000009, 0, single)).toBe(true);
    expect(close(0.00002, 0, single)).toBe(false);
    expect(close(1000.09, 1000, single)).toBe(true);
    expect(close(1000.11, 1000, single)).toBe(false);
    expect(allowed(-1000, single)).toBeCloseTo(0.1, 12);
  });

  it('takes NaN for NaN and an infinity for itself, never for each other or a number', () => {
    expect(close(Number.NaN, Number.NaN, single)).toBe(true);
    expect(close(Number.NaN, 1, single)).toBe(false);
    expect(close(0, Number.NaN, single)).toBe(false);
    expect(close(Infinity, Infinity, single)).toBe(true);
    expect(close(-Infinity, Infinity, single)).toBe(false);
    expect(close(1e308, Infinity, single)).toBe(false);
    expect(close(Infinity, 1e308, single)).toBe(false);
    expect(allowed(Infinity, single)).toBe(0);
  });
});
