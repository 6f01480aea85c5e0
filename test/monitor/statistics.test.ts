// The statistics that rules over shapes rest on, beside their definitions and by what is known of them.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changePoint, mannKendall, median, noiseOf, quantile } from '../../src/monitor/statistics.ts';
import { dice, make } from './rules/logs.ts';

const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 2, maxLength: 40 });

test('the median has as many values below it as above, and is the middle of two', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(median([])).toBeNaN();
  fc.assert(
    fc.property(values, (list) => {
      const middle = median(list);
      expect(list.filter((value) => value < middle).length).toBeLessThanOrEqual(list.length / 2);
      expect(list.filter((value) => value > middle).length).toBeLessThanOrEqual(list.length / 2);
    }),
  );
});

test('a quantile is one of the values', () => {
  expect(quantile([5, 1, 3], 0)).toBe(1);
  expect(quantile([5, 1, 3], 1)).toBe(5);
  fc.assert(
    fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (list, share) =>
      list.includes(quantile(list, share)),
    ),
  );
});

test('noise is that of the values, whatever line or jump they lie on', () => {
  const by = dice(3);
  const noise = make(4000, () => 0.5 * by.normal());
  for (const level of [() => 0, (at: number) => at / 100, (at: number) => (at < 2000 ? 0 : 100)])
    expect(noiseOf(noise.map((value, at) => value + level(at)))).toBeCloseTo(0.5, 1);
});

test('Mann-Kendall: S by its definition; a line is 1, its mirror -1, and noise seldom above 3', () => {
  expect(mannKendall(make(50, (at) => at)).tau).toBe(1);
  expect(mannKendall(make(50, (at) => -at)).tau).toBe(-1);
  expect(mannKendall([7, 7, 7])).toEqual({ tau: 0, z: 0 });
  const by = dice(5);
  const far = make(2000, () => mannKendall(make(30, () => by.normal())).z).filter((z) => Math.abs(z) > 3);
  expect(far.length / 2000).toBeLessThan(0.006);
});

test('Pettitt: U by its definition, the place of a jump, and p that bounds what noise does', () => {
  expect(changePoint([1])).toBeUndefined();
  expect(changePoint([2, 2, 2])).toBeUndefined();
  fc.assert(
    fc.property(values, (list) => {
      const found = changePoint(list);
      const most = Math.max(
        ...list.map((_, t) =>
          Math.abs(
            list
              .slice(0, t)
              .reduce((sum, a) => sum + list.slice(t).reduce((all, b) => all + Math.sign(a - b), 0), 0),
          ),
        ),
      );
      const n = list.length;
      const p = Math.min(1, 2 * Math.exp((-6 * most ** 2) / (n ** 3 + n ** 2)));
      if (most === 0) expect(found).toBeUndefined();
      else expect(found?.p).toBeCloseTo(p, 10);
    }),
  );
  const by = dice(7);
  const jump = make(60, (at) => (at < 40 ? 0 : 3) + by.normal());
  expect(changePoint(jump)?.at).toBeGreaterThan(37);
  expect(changePoint(jump)?.at).toBeLessThan(43);
  const alarms = make(1000, () => changePoint(make(50, () => by.normal()))?.p ?? 1).filter((p) => p < 0.01);
  expect(alarms.length).toBeLessThan(20);
});
