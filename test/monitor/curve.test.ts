// The course of a series, as rules over shapes see it: all of it, however long it is.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeCurve } from '../../src/monitor/curve.ts';

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
