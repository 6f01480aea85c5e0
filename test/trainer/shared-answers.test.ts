// Answers that properties share: each request is sent once, whoever asks it, unless it is asked anew; what failed, and what is too
// large, is asked again.
import { describe, expect, test } from 'vitest';
import { type Args, objectTrainer, type Trainer } from '../../src/index.ts';
import { sharedAnswers } from '../../src/trainer/shared-answers.ts';

const whiten = (value: number): Args<'whiten'> => ({
  values: [[value, 1]],
  completion_mask: [[1, 1]],
  prompt_width: 0,
});

/** Answers with the number of the call. */
function counting(answer: (call: number, args: Args<'whiten'>) => number[] = (call) => [call, 0]): {
  readonly trainer: Trainer;
  readonly calls: () => number;
} {
  let calls = 0;
  const trainer = objectTrainer({
    hello: { protocol: 1, name: 'counting', ops: { whiten: {} } },
    ops: { whiten: (args) => ({ values: [answer(++calls, args)] }) },
  });
  return { trainer, calls: () => calls };
}

describe('shared answers', () => {
  test('send a request once, also while its answer is awaited, and for another process of the same trainer', async () => {
    const [one, other] = [counting(), counting()];
    const answers = sharedAnswers();
    const asked = [one.trainer, one.trainer, other.trainer].map((trainer) =>
      answers.of(trainer).ask('whiten', whiten(2)),
    );
    const outcomes = await Promise.all(asked);
    expect(outcomes.map((outcome) => 'ok' in outcome && outcome.ok.values)).toEqual([
      [[1, 0]],
      [[1, 0]],
      [[1, 0]],
    ]);
    expect([one.calls(), other.calls()]).toEqual([1, 0]);
  });

  test('tell requests apart that differ in any number, also in the sign of zero and in what is no number', async () => {
    const { trainer, calls } = counting();
    const shared = sharedAnswers().of(trainer);
    const values = [0, -0, 1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const value of values) await shared.ask('whiten', whiten(value));
    expect(calls()).toBe(values.length);
  });

  test('do not hide that a trainer answers otherwise when asked anew', async () => {
    const { trainer } = counting();
    const shared = sharedAnswers().of(trainer);
    const [first, again] = [
      await shared.ask('whiten', whiten(2)),
      await shared.ask('whiten', whiten(2), { anew: true }),
    ];
    expect(again).not.toEqual(first);
  });

  test('ask again what failed', async () => {
    const { trainer, calls } = counting((call) => {
      if (call === 1) throw new Error('out of luck');
      return [call, 0];
    });
    const shared = sharedAnswers().of(trainer);
    expect((await shared.ask('whiten', whiten(2))).kind).toBe('failure');
    expect((await shared.ask('whiten', whiten(2))).kind).toBe('ok');
    expect(calls()).toBe(2);
  });

  test('of one that fails are not those of another that asked the same meanwhile', async () => {
    const dying = counting(() => {
      throw new Error('killed');
    });
    const living = counting();
    const answers = sharedAnswers();
    const asked = [dying.trainer, living.trainer].map((trainer) =>
      answers.of(trainer).ask('whiten', whiten(2)),
    );
    expect((await Promise.all(asked)).map(({ kind }) => kind)).toEqual(['failure', 'ok']);
  });

  test('keep no more than they may: the oldest is asked again', async () => {
    const { trainer, calls } = counting();
    const shared = sharedAnswers(1_500).of(trainer);
    for (const value of [1, 2, 3, 4, 4, 1]) await shared.ask('whiten', whiten(value));
    expect(calls()).toBe(5);
  });
});
