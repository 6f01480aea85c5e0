// The matcher asked of a trainer, for what a failed assertion says.
import '../../properties/vitest.ts';
import { expect } from 'vitest';
import type { Holding } from '../../properties/matchers.ts';

export const quick = { cases: 10, seed: 7, shrinkSeconds: 5 };

/** What the failed assertion says. */
async function complaint(assertion: Promise<void>): Promise<string> {
  try {
    await assertion;
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the assertion passed');
}

export const positive = (trainer: unknown, what?: Holding, options: object = quick): Promise<string> =>
  complaint(expect(trainer).toHold(what, options));
/** The same behind `.not`. */
export const negative = (trainer: unknown, what?: Holding, options: object = quick): Promise<string> =>
  complaint(expect(trainer).not.toHold(what, options));
