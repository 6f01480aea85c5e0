import { describe, expect, test } from 'vitest';
import { decodeAnswer, decodeHello, requestComplaint } from '../../src/protocol/decode.ts';
import type { Args } from '../../src/protocol/message.ts';
import type { Layout } from '../../src/vocabulary.ts';

const ROW: Layout = { alignment: 'token', span: 'row' };
const MASK: Args<'mask'> = {
  prompt_ids: [[5, 6], [9]],
  completion_ids: [[7], [4]],
  sequences: [
    [5, 6, 7],
    [0, 9, 4],
  ],
  attention_mask: [
    [1, 1, 1],
    [0, 1, 1],
  ],
  prompt_width: 2,
  pad_token_id: 0,
  eos_token_ids: [2],
};
const KL: Args<'kl'> = {
  logprobs: [[-1, -2]],
  old_logprobs: [[-1, -2]],
  ref_logprobs: [[-1, -2]],
  completion_mask: [[0, 1]],
  prompt_width: 1,
  kl_estimator: 'k3',
};

describe('an answer that breaks the protocol is told by path and both facts', () => {
  const good = [
    [0, 0, 1],
    [0, 0, 1],
  ];
  test.each([
    [
      {
        completion_mask: [
          [0, 0, 1],
          [0, 0],
        ],
      },
      'ok.completion_mask[1] has 2 columns, row 0 has 3',
    ],
    [{ completion_mask: [[0, 0, 'x']] }, 'ok.completion_mask[0][2] is "x", expected an integer'],
    [{ completion_mask: [[0, 0, true]] }, 'ok.completion_mask[0][2] is true, expected an integer (write 1)'],
    [{ completion_mask: [[0, 0, 0.5]] }, 'ok.completion_mask[0][2] is 0.5, expected an integer'],
    [
      { completion_mask: [[2 ** 60]] },
      'ok.completion_mask[0][0] is 1152921504606847000, beyond 2**53, where integers lose digits',
    ],
    [{ completion_mask: 1 }, 'ok.completion_mask is 1, expected a list of rows'],
    [
      { completion_mask: [[0, 0, 1]] },
      'ok.completion_mask has 1 row, the batch has 2: rows are lost or merged',
    ],
    [
      {
        completion_mask: [
          [0, 1],
          [0, 1],
        ],
      },
      'ok.completion_mask has 2 columns, the row has 3 tokens',
    ],
    [{ mask: good }, 'ok has an unknown key "mask", did you mean "completion_mask"?'],
    [{}, 'ok.completion_mask is missing'],
    [{ completion_mask: null }, 'ok.completion_mask is null, expected a list of rows'],
    [
      { completion_mask: good, input_ids: [[1, 2, 3]] },
      'the op was given 2 rows and answered 1 row in ok.input_ids: rows are lost or merged',
    ],
    [
      {
        completion_mask: good,
        input_ids: [
          [1, 2, 3],
          [1, 2, 3],
        ],
        attention_mask: [
          [1, 1],
          [1, 1],
        ],
      },
      'ok.attention_mask is (2, 2), ok.input_ids is (2, 3)',
    ],
    [
      { completion_mask: good, options: { pad_token_id: 7 } },
      'ok.options.pad_token_id is 7, the request asked for 0',
    ],
    [
      { completion_mask: { dtype: 'int32', shape: [9], data: '' } },
      'ok.completion_mask shape [9] of int32 is 36 bytes, its data has 0',
    ],
  ])('%j', (ok, complaint) => {
    expect(decodeAnswer('mask', { id: 1, ok }, MASK, ROW)).toEqual({ complaint });
  });

  test.each([
    [{ id: 1 }, 'the answer must have exactly one of ok, reject, skip, error, it has none'],
    [
      { id: 1, ok: {}, skip: '' },
      'the answer must have exactly one of ok, reject, skip, error, it has ok and skip',
    ],
    [{ id: 1, okay: {} }, 'unknown answer "okay", did you mean "ok"?'],
    [{ id: 1, reject: 3 }, 'reject is 3, expected the reason as a string'],
    [
      { id: 1, reject: '', written: [] },
      'the answer must have exactly one of ok, reject, skip, error, it has reject and written',
    ],
    [{ id: 1, error: 'x' }, 'error is "x", expected {"message": string, "traceback": string}'],
  ])('%j', (answer, complaint) => {
    expect(decodeAnswer('mask', answer, MASK, ROW)).toEqual({ complaint });
  });

  test('beside an answer stand the arguments that were written into, by their names', () => {
    const written = (names: unknown) => decodeAnswer('kl', { ok: { mean_kl: 0 }, written: names }, KL, ROW);
    expect(written(['logprobs'])).toEqual({ ok: { ok: { mean_kl: 0 }, written: ['logprobs'] } });
    expect(written(['rewards'])).toEqual({
      complaint: 'written is ["rewards"], expected a list of arguments of kl',
    });
  });

  test('kl needs one of its two fields', () => {
    expect(decodeAnswer('kl', { ok: {} }, KL, ROW)).toEqual({ complaint: 'ok has neither kl nor mean_kl' });
  });

  test('score answers one number a completion token', () => {
    const args = { prompt_ids: [[1]], completion_ids: [[2, 3]] };
    expect(decodeAnswer('score', { ok: { logprobs: [[-1]] } }, args, ROW)).toEqual({
      complaint: 'completion 0 has 2 tokens, and ok.logprobs[0] 1 value: values are lost or merged',
    });
  });
});

describe('a good answer', () => {
  test("comes back token-aligned on the trainer's own row where it answers one", () => {
    const ok = {
      input_ids: [
        [5, 6, 7, 0],
        [9, 4, 0, 0],
      ],
      completion_mask: [
        [0, 1, 0],
        [1, 0, 0],
      ],
    };
    expect(decodeAnswer('mask', { ok }, MASK, { alignment: 'predictor', span: 'row' })).toEqual({
      ok: {
        ok: {
          ...ok,
          completion_mask: [
            [0, 0, 1, 0],
            [0, 1, 0, 0],
          ],
        },
      },
    });
  });

  test('has NaN where its layout does not speak of a token, and weight 0', () => {
    const completion: Layout = { alignment: 'token', span: 'completion' };
    expect(decodeAnswer('kl', { ok: { kl: [[0.5]] } }, KL, completion)).toEqual({
      ok: { ok: { kl: [[Number.NaN, 0.5]] } },
    });
    const loss: Args<'loss'> = { ...KL, advantages: [1], micro_batches: [[0]] };
    expect(decodeAnswer('loss', { ok: { loss: 1, loss_weights: [[0.5]] } }, loss, completion)).toEqual({
      ok: { ok: { loss: 1, loss_weights: [[0, 0.5]] } },
    });
  });

  test('may hold NaN, echo the options that it used, and leave optional fields null', () => {
    const ok = { kl: [[0, Number.NaN]], mean_kl: null, options: { kl_estimator: 'k3', clamp: 10 } };
    expect(decodeAnswer('kl', { ok }, KL, ROW)).toEqual({ ok: { ok: { kl: [[0, Number.NaN]] } } });
  });
});

describe('hello', () => {
  const HELLO = { protocol: 1, name: 'x', ops: { mask: {} } };
  test.each([
    [{ ...HELLO, protocol: undefined }, 'the trainer names no protocol'],
    [{ ...HELLO, name: undefined }, 'hello.name is undefined'],
    [{ ...HELLO, op: {} }, 'hello has an unknown key "op", did you mean "ops"?'],
    [
      { ...HELLO, ops: { completion_mask: {} } },
      'hello.ops has an unknown op "completion_mask", did you mean "mask"?',
    ],
    [{ ...HELLO, ops: ['mask'] }, 'hello.ops is ["mask"], expected an object'],
    [
      { ...HELLO, ops: { mask: { after_stops: 'any' } } },
      'hello.ops.mask has an unknown capability "after_stops", did you mean "after_stop"?',
    ],
    [
      { ...HELLO, ops: { mask: { temperature: true } } },
      'hello.ops.mask has an unknown capability "temperature", known: layout, after_stop, eos_token_ids, unfinished',
    ],
    [{ ...HELLO, ops: { kl: { kl_estimator: 'k3' } } }, 'hello.ops.kl.kl_estimator is "k3", expected a list'],
    [
      { ...HELLO, layout: { alignment: 'predict', span: 'row' } },
      'hello.layout.alignment is "predict", expected "token" or "predictor", did you mean "predictor"?',
    ],
    [{ ...HELLO, layout: { alignment: 'token' } }, 'hello.layout.span is missing'],
    [{ ...HELLO, ops: { mask: { layout: { span: 'row' } } } }, 'hello.ops.mask.layout.alignment is missing'],
    [
      { ...HELLO, semantics: { kl_estimater: 'k3' } },
      'hello.semantics has an unknown semantics key "kl_estimater", did you mean "kl_estimator"?',
    ],
    [{ ...HELLO, semantics: { advantage_ddof: 2 } }, 'hello.semantics.advantage_ddof is 2, expected 0 or 1'],
    [{ ...HELLO, semantics: { kl_clamp: 'x' } }, 'hello.semantics.kl_clamp is "x", expected a finite number'],
    [
      { ...HELLO, semantics: { kl_clamp: { k3: 'x' } } },
      'hello.semantics.kl_clamp.k3 is "x", expected a finite number',
    ],
    [
      { ...HELLO, semantics: { kl_clamp: { k4: 10 } } },
      'hello.semantics.kl_clamp has an unknown estimator "k4", did you mean "k1"?',
    ],
    [{ ...HELLO, tokens: { vocab_size: 32 } }, 'hello.tokens.pad_token_id is missing'],
    [{ ...HELLO, tensors: 'numpy' }, 'hello.tensors is "numpy", expected "json" or "base64"'],
  ])('%j is refused by name', (hello, complaint) => {
    const decoded = decodeHello(JSON.parse(JSON.stringify(hello)));
    expect('complaint' in decoded && decoded.complaint).toContain(
      complaint.replace('is undefined', 'is missing'),
    );
  });

  test('null stands for absent, as Python writes None', () => {
    expect(decodeHello({ ...HELLO, layout: null, tokens: null })).toEqual({ ok: HELLO });
  });
});

test('a request that was edited by hand is checked like an answer', () => {
  expect(requestComplaint('advantages', { rewards: [1], group_id: [0] })).toBe(
    'args has an unknown key "group_id", did you mean "group_ids"?',
  );
});
