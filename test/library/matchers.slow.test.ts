// A matcher in a test whose time is nearly over.
import '../../properties/vitest.ts';
import { describe, expect, test } from 'vitest';
import type { Trainer } from '../../properties/library.ts';
import type { Holding } from '../../properties/matchers.ts';
import { klTrainer } from './trainers.ts';

/** Of a test whose time runs out: what is kept for the last words, 15 % of it, outlasts a pause of a busy machine. */
const BRIEF = 8_000;

const quick = { cases: 10, seed: 7, shrinkSeconds: 5 };

/** What the failed assertion says. */
async function complaint(assertion: Promise<void>): Promise<string> {
  try {
    await assertion;
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the assertion passed');
}

const positive = (trainer: unknown, what?: Holding, options: object = quick): Promise<string> =>
  complaint(expect(trainer).toHold(what, options));

describe('what says nothing fails both ways', () => {
  test('a test whose time is nearly over says so before vitest ends it', { timeout: BRIEF }, async () => {
    const slow: Trainer = {
      ...klTrainer(),
      ask: async (op, args) => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        return klTrainer().ask(op, args);
      },
    };
    expect(await positive(slow, 'kl', { ...quick, cases: 100_000 })).toContain('the time of the test');
  });
});
