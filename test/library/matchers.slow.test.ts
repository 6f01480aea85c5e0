// A matcher in a test whose time is nearly over.
import { describe, expect, test } from 'vitest';
import type { Trainer } from '../../properties/library.ts';
import { positive, quick } from './holding.ts';
import { klTrainer } from './trainers.ts';

/** Of a test whose time runs out: what is kept for the last words, 15 % of it, outlasts a pause of a busy machine. */
const BRIEF = 8_000;

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
