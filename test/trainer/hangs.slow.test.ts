// Real processes that hang, at their start and later: killed at the deadline, and blamed alone.
import { expect, test } from 'vitest';
import { diedOfMemory } from '../../src/trainer/out-of-memory.ts';
import { askAll, askOne, failureOf, kindsOf, MARK, startFailure, withTrainer } from './misbehave.ts';

/** Milliseconds, as a sentence below says: long enough for a busy machine to answer what is not slow. */
const DEADLINE = 5_000;

const AGAIN = 'It did so again when this advantages request was sent alone to a fresh process.';

test.each(['hangs/on_one_case', 'hangs/ignores_sigterm'])(
  '%s: killed at the deadline, blamed alone',
  async (name) => {
    await withTrainer(
      name,
      async (trainer) => {
        const outcomes = await askAll(trainer, [3, MARK, 4]);
        expect(kindsOf(outcomes)).toEqual(['ok', 'hang', 'ok']);
        const failure = failureOf(outcomes[1]);
        expect(failure.message).toBe(
          `The trainer did not answer advantages within 5 s and was killed. ${AGAIN}`,
        );
        expect(failure.advice).toContain('--op-timeout');
        expect(diedOfMemory(failure)).toBe(false);
      },
      { opMilliseconds: DEADLINE },
    );
  },
);

test('one that has closed its standard output is told so at once, and not called a hang', async () => {
  await withTrainer('hangs/closes_stdout', async (trainer) => {
    const outcomes = await askAll(trainer, [3, MARK, 4]);
    expect(kindsOf(outcomes)).toEqual(['ok', 'crash', 'ok']);
    const failure = failureOf(outcomes[1]);
    expect(failure.message).toBe(
      `The trainer closed its standard output while it owed an answer to advantages, and was killed, because it can send no more answers. ${AGAIN}`,
    );
    expect(failure.advice).toContain('Leave file descriptor 1 open');
  });
});

test('so it is where the deadline ends before it is known that it lives on', async () => {
  await withTrainer(
    'hangs/closes_stdout',
    async (trainer) => {
      const outcomes = await askAll(trainer, [MARK]);
      expect(failureOf(outcomes[0]).message).toMatch(/^The trainer closed its standard output .* alone/);
    },
    { opMilliseconds: 700 },
  );
});

test('a trainer that overhears the end of its input is killed by stop', async () => {
  await withTrainer('hangs/on_shutdown', async (trainer) => {
    expect(kindsOf(await askAll(trainer, [1]))).toEqual(['ok']);
  });
});

test('requests in flight when the harness stops are settled', async () => {
  await withTrainer('hangs/on_one_case', async (trainer) => {
    const asked = askAll(trainer, [MARK, 1]);
    await trainer.stop();
    const outcomes = await asked;
    expect(kindsOf(outcomes)).toEqual(['stopped', 'stopped']);
    expect(failureOf(outcomes[0]).message).toBe('The harness stopped the trainer before it answered.');
    expect(kindsOf([await askOne(trainer, 1)])).toEqual(['stopped']);
  });
});

test('a trainer that never says hello is killed at the hello deadline', async () => {
  expect(await startFailure('hello/never_says_hello', { helloMilliseconds: 300 })).toMatchObject({
    kind: 'start',
    message: 'The trainer did not say hello within 0.3 s.',
  });
});
