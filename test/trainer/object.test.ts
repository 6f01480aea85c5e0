import { describe, expect, test } from 'vitest';
import type { Hello } from '../../src/protocol/message.ts';
import { type ObjectTrainerSpec, objectTrainer, reject } from '../../src/trainer/object.ts';

const KL = {
  logprobs: [[-1, -2, -3]],
  old_logprobs: [[-1, -2, -3]],
  ref_logprobs: [[-2, -2, -2]],
  completion_mask: [[0, 1, 1]],
  prompt_width: 1,
};

function trainer(kl: NonNullable<ObjectTrainerSpec['ops']['kl']>, more: Partial<Hello> = {}) {
  return objectTrainer({ hello: { protocol: 1, name: 'object', ops: { kl: {} }, ...more }, ops: { kl } });
}

describe('a trainer that is an object', () => {
  test('sees and answers its own layout, like a process', async () => {
    const predictor = trainer(
      ({ logprobs, ref_logprobs }) => ({
        kl: logprobs.map((row, b) => row.map((x, t) => x - (ref_logprobs[b]?.[t] ?? 0))),
      }),
      { layout: { alignment: 'predictor', span: 'row' } },
    );
    expect(await predictor.ask('kl', KL)).toEqual({ kind: 'ok', ok: { kl: [[Number.NaN, 0, -1]] } });
  });

  test('is decoded like a process: a wrong shape is a failure', async () => {
    expect(await trainer(() => ({ kl: [[0, 0]] })).ask('kl', KL)).toMatchObject({
      kind: 'failure',
      failure: {
        kind: 'shape',
        message: 'The answer to kl is wrong: ok.kl has 2 columns, the row has 3 tokens.',
      },
    });
  });

  test('is seen to write into its arguments, as a process is, and the case stays what it was', async () => {
    const writing = trainer(({ logprobs }) => {
      for (const row of logprobs as number[][]) row[0] = 0;
      return { mean_kl: 0 };
    });
    expect(await writing.ask('kl', KL)).toEqual({ kind: 'ok', ok: { mean_kl: 0 }, written: ['logprobs'] });
    expect(KL.logprobs).toEqual([[-1, -2, -3]]);
  });

  test('rejects on purpose and fails by accident, and both are told apart', async () => {
    const refusing = trainer(() => reject('no reference model'));
    expect(await refusing.ask('kl', KL)).toEqual({ kind: 'reject', why: 'no reference model' });
    const broken = trainer(() => {
      throw new RangeError('out of range');
    });
    expect(await broken.ask('kl', KL)).toMatchObject({
      kind: 'failure',
      failure: { kind: 'error', message: 'kl raised: RangeError: out of range' },
    });
  });

  test('cannot change the case by writing into its arguments', async () => {
    const writing = trainer(({ logprobs }) => {
      (logprobs as number[][])[0]?.fill(0);
      return { mean_kl: 0 };
    });
    const before = structuredClone(KL);
    await writing.ask('kl', KL);
    expect(KL).toEqual(before);
  });

  test('skips ops that it does not have, and writes the lines that a process would read', async () => {
    const object = trainer(() => ({ mean_kl: 0 }));
    expect(await object.ask('advantages', { rewards: [1], group_ids: [0] })).toMatchObject({ kind: 'skip' });
    expect(object.line('advantages', { rewards: [1], group_ids: [0] })).toBe(
      '{"id":2,"op":"advantages","args":{"rewards":[1.0],"group_ids":[0]}}',
    );
    expect(JSON.parse(object.helloLine())).toMatchObject({ id: 1, op: 'hello' });
  });

  test('with a wrong hello or a missing function is misuse, with a code', () => {
    const spec = { hello: { protocol: 1, name: 'x', ops: { mask: {} } }, ops: {} };
    expect(() => objectTrainer(spec)).toThrow(
      expect.objectContaining({
        code: 'ERR_TRAINER_OBJECT',
        message: 'objectTrainer: hello.ops names mask, but ops has no function mask',
      }),
    );
  });
});
