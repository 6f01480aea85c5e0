import { describe, expect, test } from 'vitest';
import { withReproduced } from '../../src/trainer/explain.ts';
import { askAll, askOne, failureOf, kindsOf, MARK, withTrainer } from './misbehave.ts';

const NOT_AGAIN =
  'It did not happen again when the unanswered requests were sent one at a time to a fresh process.';

const AGAIN = 'It did so again when this advantages request was sent alone to a fresh process.';

describe('one case fails the process: it alone is blamed, the others are answered', () => {
  test.each([
    ['dies/on_one_case', 'crash', 'The trainer exited with code 3 while it owed an answer to advantages.'],
    [
      'dies/kills_itself',
      'crash',
      'The trainer was killed by SIGKILL while it owed an answer to advantages.',
    ],
    [
      'dies/bunches_replies',
      'crash',
      'The trainer exited with code 3 while it owed an answer to advantages.',
    ],
    [
      'dies/no_newline_then_exit',
      'crash',
      'The trainer exited (code 0) while it owed an answer to advantages. Its last output had no newline: {"id": 2, "ok": {"advantages": [0.0]}}',
    ],
    [
      'garbles/prints_in_the_middle',
      'garbage',
      'The trainer printed a line that is no answer where an answer to advantages was due: step 13: loss 0.25',
    ],
    [
      'garbles/glues_a_print',
      'garbage',
      'The trainer printed a line that is no answer where an answer to advantages was due: progress... {"id": 2, "ok": {"advantages": [13.0, 1.0]}}',
    ],
    [
      'garbles/invalid_utf8',
      'garbage',
      'The trainer wrote a line that is not UTF-8 where an answer to advantages was due: {"id": 2, "reject": "r\ufffdjet\ufffd"}',
    ],
    [
      'garbles/wrong_id',
      'garbage',
      'The trainer answered with another id than 2, which was due: {"id": 102, "ok": {"advantages": [13.0, 1.0]}}',
    ],
    [
      'dies/leaves_a_grandchild',
      'crash',
      'The trainer exited with code 7 while it owed an answer to advantages.',
    ],
  ])('%s', async (name, kind, message) => {
    await withTrainer(name, async (trainer) => {
      const outcomes = await askAll(trainer, [3, MARK, 4, 5]);
      const kinds = kindsOf(outcomes);
      expect(kinds.filter((each) => each === kind)).toHaveLength(1);
      expect(kinds.filter((each) => each === 'ok')).toHaveLength(3);
      const failure = failureOf(outcomes.find((outcome) => outcome.kind === 'failure'));
      const id = /"id": \d+/g;
      expect(failure.message.replace(id, '"id": 2')).toBe(`${message.replace(id, '"id": 2')} ${AGAIN}`);
      expect(failure.reproduced).toBe(true);
      expect(kindsOf(await askAll(trainer, [6, 7]))).toEqual(['ok', 'ok']);
    });
  });
});

describe('failures that are not one case', () => {
  test('a death that does not come again is told so, on the oldest unanswered request', async () => {
    await withTrainer('dies/once', async (trainer) => {
      const outcomes = await askAll(trainer, [1, 2, 3, 4]);
      const failure = failureOf(outcomes.find((outcome) => outcome.kind === 'failure'));
      expect(kindsOf(outcomes).filter((kind) => kind === 'ok')).toHaveLength(3);
      expect(failure).toMatchObject({ kind: 'crash', exitCode: 5, reproduced: false });
      expect(failure.message).toBe(
        `The trainer exited with code 5 while it owed an answer to advantages. ${NOT_AGAIN}`,
      );
    });
  });

  test('only one that was too slow, and is not again, may be the machine', () => {
    const slow = { kind: 'hang', message: 'It was slow.', advice: '' } as const;
    const adviceOf = (kind: 'hang' | 'crash', again: 'never' | 'behind others'): string =>
      withReproduced({ ...slow, kind }, 'advantages', again).advice;
    expect(adviceOf('hang', 'never')).toContain('--op-timeout');
    expect(adviceOf('hang', 'behind others')).not.toContain('--op-timeout');
    expect(adviceOf('crash', 'never')).not.toContain('--op-timeout');
  });

  test('a death that comes again, but not alone, is told as state', async () => {
    await withTrainer('dies/at_its_fourth', async (trainer) => {
      const outcomes = await askAll(trainer, [1, 2, 3, 4, 5, 6, 7, 8]);
      const failures = outcomes.flatMap((outcome) => (outcome.kind === 'failure' ? [outcome.failure] : []));
      expect(failures[0]).toMatchObject({ kind: 'crash', exitCode: 7, reproduced: false });
      expect(failures.map(({ message }) => message).join('\n')).not.toContain(AGAIN);
      expect(failures[0]?.message).toContain(
        'It did so again in a fresh process that had answered other requests before, and did not when this advantages request was sent alone to another.',
      );
      expect(failures[0]?.advice).toContain('state that outlives a request');
    });
  });

  test('a second answer is noticed, on the request that follows it', async () => {
    await withTrainer('garbles/answers_twice', async (trainer) => {
      const outcomes = await askAll(trainer, [3, MARK, 4, 5]);
      expect(kindsOf(outcomes)).toEqual(['ok', 'ok', 'garbage', 'ok']);
      expect(failureOf(outcomes[2]).message).toBe(
        `The trainer answered one request twice: {"id": 3, "ok": {"advantages": [13.0, 1.0]}} ${NOT_AGAIN}`,
      );
    });
  });

  test('a death after the last answer is paid for by the next request, not lost', async () => {
    await withTrainer('dies/after_its_reply', async (trainer) => {
      expect(kindsOf([await askOne(trainer, MARK)])).toEqual(['ok']);
      const next = failureOf(await askOne(trainer, 1));
      expect(next).toMatchObject({ kind: 'crash', exitCode: 6, reproduced: false });
      expect(kindsOf([await askOne(trainer, 2)])).toEqual(['ok']);
    });
  });

  test('a death in a trial, right after the answer, belongs to the request that was tried', async () => {
    await withTrainer('dies/after_its_reply', async (trainer) => {
      const first = await askAll(trainer, [MARK, MARK]); // the second is unanswered when the first has killed it
      expect(kindsOf(first)).toEqual(['ok', 'crash']);
      expect(failureOf(first[1])).toMatchObject({ exitCode: 6, reproduced: true });
    });
  });

  test('a trainer that dies on every case uses up its restarts, and then nothing is asked', async () => {
    await withTrainer(
      'dies/on_every_case',
      async (trainer) => {
        const outcomes = await askAll(trainer, [1, 2, 3, 4]);
        expect(kindsOf(outcomes)).toEqual(['crash', 'crash', 'budget', 'budget']);
        expect(failureOf(outcomes[3]).message).toMatch(
          /^The trainer was restarted 4 times and failed again, so nothing more was asked. Last: The trainer exited with code 4/,
        );
        expect(kindsOf([await askOne(trainer, 5)])).toEqual(['budget']);
      },
      { maxRestarts: 4 },
    );
  });

  test('another hello after a restart ends it', async () => {
    await withTrainer('hello/changes_its_hello', async (trainer) => {
      const outcomes = await askAll(trainer, [MARK, 1]);
      expect(kindsOf(outcomes)).toEqual(['shape', 'shape']);
      expect(failureOf(outcomes[0]).message).toBe(
        'After a restart the trainer said another hello: name was "plain-0", now "plain-1".',
      );
    });
  });

  test('restart gives a fresh process and costs no budget', async () => {
    await withTrainer(
      'dies/once',
      async (trainer) => {
        expect(kindsOf(await askAll(trainer, [1, 2]))).toEqual(['ok', 'ok']);
        await trainer.restart(); // the third case would have killed the first process
        expect(kindsOf(await askAll(trainer, [3, 4]))).toEqual(['ok', 'ok']);
      },
      { maxRestarts: 0 },
    );
  });
});
