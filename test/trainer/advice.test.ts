// The slips of a first adapter: what was told of each, and whether it says the next step.
import { describe, expect, test } from 'vitest';
import { OP_CAPABILITIES } from '../../src/protocol/hello.ts';
import { OPS, type Op } from '../../src/protocol/message.ts';
import { helloAdvice, raisedAdvice, shapeAdvice } from '../../src/trainer/answer-advice.ts';
import { objectTrainer } from '../../src/trainer/object.ts';

const LOGPROBS = { logprobs: [[0, 0, 0]], advantages: [1], micro_batches: [[0]], prompt_width: 1 };

describe('an op that raised', () => {
  test.each([
    'TypeError: list indices must be integers or slices, not tuple',
    "TypeError: unsupported operand type(s) for -: 'list' and 'list'",
    "AttributeError: 'list' object has no attribute 'view'",
    "TypeError: log_softmax(): argument 'input' (position 1) must be Tensor, not list",
  ])('on lists where tensors were meant is told of arrays="torch": %s', (message) => {
    expect(raisedAdvice('kl', message)).toContain('serve(arrays="torch")');
  });

  test.each([
    ["KeyError: 'list'"],
    ['ValueError: the list of prompts is empty'],
    ["AttributeError: 'Listener' object has no attribute 'view'"],
  ])('with a list in its words is not: %s', (message) => {
    expect(raisedAdvice('kl', message)).not.toContain('arrays=');
  });

  test('is shown the shapes that it was given', () => {
    expect(raisedAdvice('kl', 'IndexError: too many indices', () => LOGPROBS)).toContain(
      'kl was given logprobs (1, 3), advantages (1,), micro_batches (1, 1), prompt_width 1.',
    );
    const ragged = () => ({ prompt_ids: [[1], [1, 2]], logits: [[[0, 0]]], route: 'sft' });
    expect(raisedAdvice('kl', 'IndexError: list index out of range', ragged)).toContain(
      'prompt_ids 2 rows of 1, 2, logits (1, 1, 2), route string.',
    );
  });

  test('over advantages of a row where it wanted those of a token is told how many there are', () => {
    const message =
      'RuntimeError: The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 1';
    expect(raisedAdvice('loss', message)).toContain('advantages[:, None]');
    expect(raisedAdvice('kl', message)).not.toContain('advantages');
  });

  test('over a group of another size is told how to declare its own', () => {
    expect(
      raisedAdvice('advantages', "RuntimeError: shape '[-1, 4]' is invalid for input of size 6"),
    ).toContain('@lossproof.op(group_size=4)');
  });

  test('by returning no dict is told the fields, those that it must have first', () => {
    expect(raisedAdvice('mask', "op 'mask' returned Tensor; return a dict of the answer's fields")).toBe(
      'Return a dict: {"completion_mask": ...}, and "input_ids", "attention_mask", "position_ids", "truncated" where the trainer has them.',
    );
    expect(raisedAdvice('kl', "op 'kl' returned Tensor; return a dict of the answer's fields")).toBe(
      'Return a dict: {"kl": ..., "mean_kl": ...}, at least one of them.',
    );
  });

  test('is else sent to its traceback', () => {
    expect(raisedAdvice('kl', 'ZeroDivisionError: division by zero')).toMatch(/^Read the traceback/);
  });
});

describe('an array in another layout', () => {
  test('one column shorter may be predictor-aligned or the completion alone', () => {
    const advice = shapeAdvice('logprobs', 'ok.logprobs has 6 columns, the row has 7 tokens');
    expect(advice).toContain('"predictor", "span": "row"');
    expect(advice).toContain('"span": "completion"');
    expect(advice).toContain('in @lossproof.op() for logprobs alone');
  });

  test('much shorter is the completion alone, and wider is no layout', () => {
    const short = shapeAdvice('mask', 'ok.completion_mask has 3 columns, the row has 7 tokens');
    expect(short).toContain('"span": "completion"');
    expect(short).not.toContain('predictor');
    expect(shapeAdvice('mask', 'ok.completion_mask has 9 columns, the row has 7 tokens')).not.toContain(
      'declare',
    );
  });

  test('that hello cannot read is shown the three that there are', () => {
    expect(helloAdvice('hello.layout is "completion", expected an object')).toContain('"span": "completion"');
    expect(helloAdvice('hello.ops is missing')).toContain('PROTOCOL.md');
  });
});

describe('the layout of one op', () => {
  test('goes before that of hello, in requests and answers', async () => {
    const seen: unknown[] = [];
    const args = {
      logprobs: [[0, -1, -2]],
      ref_logprobs: [[0, 0, 0]],
      completion_mask: [[0, 1, 1]],
      prompt_width: 1,
    };
    const trainer = objectTrainer({
      hello: {
        protocol: 1,
        name: 'mixed',
        layout: { alignment: 'predictor', span: 'row' },
        ops: { kl: {}, mask: { layout: { alignment: 'token', span: 'row' } } },
      },
      ops: {
        kl: ({ logprobs }) => {
          seen.push(logprobs);
          return { kl: logprobs };
        },
        mask: ({ sequences }) => ({ completion_mask: sequences }),
      },
    });
    const kl = await trainer.ask('kl', { ...args, old_logprobs: args.logprobs });
    expect(seen).toEqual([[[-1, -2]]]);
    expect(kl).toMatchObject({ ok: { kl: [[Number.NaN, -1, -2]] } });
    const mask = await trainer.ask('mask', {
      prompt_ids: [[0]],
      completion_ids: [[1, 1]],
      sequences: [[0, 1, 1]],
      attention_mask: [[1, 1, 1]],
      prompt_width: 1,
      pad_token_id: 0,
      eos_token_ids: [2],
    });
    expect(mask).toMatchObject({ ok: { completion_mask: [[0, 1, 1]] } });
  });

  test('is a capability of every op with per-token arrays, and of no other', () => {
    const withTracks = (Object.keys(OPS) as Op[]).filter((op) =>
      [OPS[op].args, OPS[op].ok].some((fields) =>
        Object.values(fields).some((kind) => kind.includes('track')),
      ),
    );
    const withLayout = (Object.keys(OPS) as Op[]).filter((op) => OP_CAPABILITIES[op].includes('layout'));
    expect(withLayout).toEqual(withTracks);
  });
});
