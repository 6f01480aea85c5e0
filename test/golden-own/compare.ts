// Answers compared with golden ones, at any depth: the same keys, the same lengths, numbers within a band.
import { close, type Tolerance } from '../../src/reference/index.ts';

/**
 * What the reference is held to: far below any formula that is slightly another, far above rounding. The largest rounding
 * seen where a golden number is 0 is 2e-15.
 */
export const HELD_TO: Tolerance = {
  absolute: 1e-14,
  relative: 1e-12,
  reason: 'both have sixteen digits or more',
};

/** Where and how the two first differ; undefined where they agree. */
export function difference(
  observed: unknown,
  expected: unknown,
  band: Tolerance = HELD_TO,
  path = 'answer',
): string | undefined {
  if (typeof expected === 'number' && typeof observed === 'number')
    return close(observed, expected, band) ? undefined : `${path}: ${observed}, golden ${expected}`;
  if (typeof expected !== 'object' || expected === null || typeof observed !== 'object' || observed === null)
    return observed === expected ? undefined : `${path}: ${show(observed)}, golden ${show(expected)}`;
  const [here, there] = [Object.keys(observed).sort(), Object.keys(expected).sort()];
  if (Array.isArray(observed) !== Array.isArray(expected) || here.join() !== there.join())
    return `${path} has ${here.join()}, golden ${there.join()}`;
  for (const key of there) {
    const found = difference(
      (observed as Record<string, unknown>)[key],
      (expected as Record<string, unknown>)[key],
      band,
      `${path}.${key}`,
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A number as a source prints it, and whether an exact one is within half a unit of its last digit. */
export function roundsTo(exact: number, printed: string): boolean {
  const digits = printed.split('.')[1]?.length ?? 0;
  // A tie is rounded either way; the last term is the float64 rounding of the two.
  return Math.abs(exact - Number(printed)) <= 0.5 * 10 ** -digits + 1e-12;
}

const show = (value: unknown): string => JSON.stringify(value) ?? 'nothing';
