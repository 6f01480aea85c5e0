// The course of a series, as rules over shapes see it: all of it, however long it is.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeCurve } from '../../../src/monitor/history/curve.ts';

test('holds every finite value once: short ones as they are, long ones as means of stretches of one length', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof({ weight: 9, arbitrary: fc.integer({ min: -50, max: 50 }) }, fc.constant(Number.NaN)),
        {
          maxLength: 2000,
        },
      ),
      (values) => {
        const curve = makeCurve();
        values.forEach((value, step) => {
          curve.add(step, value);
        });
        const finite = values.flatMap((value, step) => (Number.isFinite(value) ? [{ step, value }] : []));
        const { steps, means, points } = curve.course();
        expect(points).toBe(finite.length);
        const most = Math.max(1, 2 ** Math.ceil(Math.log2(finite.length / 240)));
        expect(means.length).toBe(Math.ceil(finite.length / most));
        means.forEach((mean, at) => {
          const own = finite.slice(at * most, (at + 1) * most);
          expect(mean).toBeCloseTo(own.reduce((sum, { value }) => sum + value, 0) / own.length, 9);
          expect(steps[at]).toBe(own[0]?.step);
        });
      },
    ),
  );
});

const along = (
  steps: readonly number[],
  value: (step: number) => number = (step) => step,
): ReturnType<typeof makeCurve> => {
  const curve = makeCurve();
  for (const step of steps) curve.add(step, value(step));
  return curve;
};
const to = (from: number, end: number): number[] =>
  Array.from({ length: end - from + 1 }, (_, at) => from + at);

test('what a resumed run logs again replaces what was logged behind the step to which it went back', () => {
  const curve = makeCurve();
  for (const step of to(1, 60)) curve.add(step, 1);
  for (const step of to(41, 80)) curve.add(step, 2);
  const { steps, means, points } = curve.course();
  expect(steps).toEqual(to(1, 80));
  expect(means).toEqual(to(1, 80).map((step) => (step <= 40 ? 1 : 2)));
  expect(points).toBe(80);
  expect(curve.points().map(({ step }) => step)).toEqual(to(1, 80));
});

test('of a long one, too, but for a stretch', () => {
  const curve = along([...to(1, 10_000), ...to(6_001, 12_000)]);
  const { steps, means } = curve.course();
  expect(steps).toEqual(steps.toSorted((a, b) => a - b));
  expect(means).toEqual(means.toSorted((a, b) => a - b));
  expect(steps.at(-1)).toBeGreaterThan(11_900);
});

test('one line that comes late replaces nothing, nor do ranks that take turns; the last one is not known yet', () => {
  expect(along([...to(1, 50), 20, ...to(51, 60)]).course().points).toBe(61);
  expect(along(to(1, 50).flatMap((step) => [step + 1, step])).course().points).toBe(99);
});
