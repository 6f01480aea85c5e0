import { expect, test } from 'vitest';
import { askAll, askOne, failureOf, kindsOf, MARK, withTrainer } from './misbehave.ts';

test('a wrong shape is a failure of that answer only, and the process lives on', async () => {
  await withTrainer('answers/wrong_shape', async (trainer) => {
    const outcomes = await askAll(trainer, [1, 13, 14, 15, 16, 17, 2]);
    expect(kindsOf(outcomes)).toEqual(['ok', 'shape', 'shape', 'shape', 'shape', 'shape', 'ok']);
    expect(outcomes.slice(1, 6).map((outcome) => failureOf(outcome).message)).toEqual([
      'The answer to advantages is wrong: the op was given 2 rows and answered 3 values in ok.advantages: values are added or repeated.',
      'The answer to advantages is wrong: ok.advantages[0] is "x", expected a number.',
      'The answer to advantages is wrong: ok.advantages[0] is null, expected a number (NaN is written NaN).',
      'The answer to advantages is wrong: ok has an unknown key "advantage", did you mean "advantages"?',
      'The answer to advantages is wrong: ok.advantages is missing.',
    ]);
  });
});

test('ragged rows are named with both widths', async () => {
  await withTrainer('answers/ragged_rows', async (trainer) => {
    const outcome = await trainer.ask('logprobs', {
      input_ids: [
        [1, 2, 3],
        [1, 2, 0],
      ],
      attention_mask: [
        [1, 1, 1],
        [1, 1, 0],
      ],
      logits: [[[0], [0], [0]]],
      prompt_width: 1,
      temperature: 1,
    });
    expect(outcome).toMatchObject({
      kind: 'failure',
      failure: {
        message: 'The answer to logprobs is wrong: ok.logprobs[1] has 2 columns, row 0 has 3.',
        advice: 'logprobs answers {"logprobs": ...}. PROTOCOL.md has an example.',
      },
    });
  });
});

test('rows that the trainer lost are said in its own words, with advice about the trainer', async () => {
  await withTrainer('answers/wrong_shape', async (trainer) => {
    expect(failureOf(await askOne(trainer, 13)).advice).toContain('the trainer is wrong');
    expect(failureOf(await askOne(trainer, 14)).advice).toContain('PROTOCOL.md');
  });
});

test('an exception is an error with its traceback, and the process lives on', async () => {
  await withTrainer('answers/raises', async (trainer) => {
    const outcomes = await askAll(trainer, [1, MARK, 2]);
    expect(kindsOf(outcomes)).toEqual(['ok', 'error', 'ok']);
    const failure = failureOf(outcomes[1]);
    expect(failure.message).toBe("advantages raised: ZeroDivisionError('float division by zero')");
    expect(failure.traceback).toContain('in whiten');
  });
});

test('NaN, Infinity and -0.0 come through, and floats arrive as floats', async () => {
  await withTrainer('answers/special_numbers', async (trainer) => {
    const outcome = await trainer.ask('advantages', { rewards: [1, -0, Number.NaN], group_ids: [0, 0, 0] });
    expect(outcome).toEqual({ kind: 'ok', ok: { advantages: [Number.NaN, Number.NEGATIVE_INFINITY, -0] } });
  });
});

test('an answer in two writes, cut inside a character, with CRLF, is one answer', async () => {
  await withTrainer('answers/splits_replies', async (trainer) => {
    expect(await askOne(trainer, 1)).toEqual({ kind: 'reject', why: 'naïve ✂ case' });
  });
});

test('300 kB on stderr before every answer blocks nothing, and its end is kept', async () => {
  await withTrainer('answers/floods_stderr', async (trainer) => {
    expect(kindsOf(await askAll(trainer, [1, 2, 3]))).toEqual(['ok', 'ok', 'ok']);
    expect(trainer.stderrTail()).toContain('02999 UserWarning');
    expect(trainer.stderrTail().length).toBeLessThanOrEqual(64 * 1024);
  });
});

test('an op that hello does not name is skipped without asking', async () => {
  await withTrainer('answers/raises', async (trainer) => {
    expect(await trainer.ask('render', { route: 'sft', messages: [], add_generation_prompt: true })).toEqual({
      kind: 'skip',
      why: 'the trainer does not have the op render',
    });
  });
});

test('requests beyond the window are all answered, in order', async () => {
  await withTrainer('answers/raises', async (trainer) => {
    const rewards = Array.from({ length: 500 }, (_, i) => i + 100);
    const outcomes = await askAll(trainer, rewards);
    expect(outcomes).toEqual(rewards.map((r, i) => ({ kind: 'ok', ok: { advantages: [r, i] } })));
  });
});
