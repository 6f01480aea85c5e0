// The tensor operations on TensorFlow, as `npm run setup:tfjs` builds it: on a GPU, or on the CPU where there is none.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { backendSentence, closeKernel, useBackend } from '../../src/check/kernel.ts';
import { logSoftmax, objectTrainer, run, type Trainer } from '../../src/index.ts';
import { chooseKernel, type RowKernel, tfjsKernel } from '../../src/kernel/index.ts';
import { expectAgreement } from '../kernel/agree.ts';
import { inputOf } from '../kernel/inputs.ts';
import { BAND, oracle, testAgreement } from '../kernel/suite.ts';
import { wrongAtFullSize } from '../mutants/scores/full-size.ts';

const opened = await tfjsKernel({ allowSoftware: true });
if ('problem' in opened) throw new Error(opened.problem);
const kernel: RowKernel = opened;
afterAll(() => kernel.close());

const atFullSize = properties.filter(({ id }) => id === 'logprobs/equal-the-reference-at-full-size');

describe('TensorFlow', () => {
  testAgreement(kernel);

  test('cuts what is more than it may hold', async () => {
    await expectAgreement(kernel, oracle, inputOf({ rows: 120, vocab: 151_936 }), BAND);
  });

  test('leaves memory of a GPU to the trainer', () => {
    expect(process.env.TF_FORCE_GPU_ALLOW_GROWTH).toBe('true');
  });

  test('is taken when it is named, and by itself only on a GPU', async () => {
    const named = await chooseKernel('tfjs-node-gpu');
    expect(named).toMatchObject({ why: `tfjs-node-gpu on ${kernel.about}, as asked` });
    const alone = await tfjsKernel({ allowSoftware: false });
    if (/CPU$/.test(kernel.about))
      expect(alone).toMatchObject({ problem: `${kernel.about}, which is no GPU` });
    else expect(alone).toMatchObject({ name: 'tfjs-node-gpu' });
  });

  test('judges by it: what is right over a real vocabulary, and what is not', async () => {
    expect(await useBackend('tfjs-node-gpu')).toBeUndefined();
    const verdictOf = async (trainer: Trainer): Promise<string | undefined> => {
      const [result] = await run(
        { trainer, tokenizer: undefined, properties: atFullSize, command: 'test', seed: 1, cases: 5 },
        () => undefined,
      );
      await trainer.stop();
      return result?.verdict;
    };
    expect(await verdictOf(right())).toBe('pass');
    const by = `tfjs-node-gpu on ${kernel.about}, as asked`;
    expect(await backendSentence()).toBe(`real vocabularies computed by ${by}`);
    const mutant = wrongAtFullSize.find(({ id }) => id === 'last-chunk-of-the-head');
    if (mutant === undefined) throw new Error('there is no such mutant');
    expect(await verdictOf(await mutant.start())).toBe('fail');
    await closeKernel();
  });

  test('opens without a word of TensorFlow in the output of a check', async () => {
    const words = ['check', '--bundled', '--backend', 'tfjs-node-gpu', '--only', 'mask/*', '--cases', '5'];
    const ran = await promisify(execFile)(process.execPath, ['dist/src/cli/main.js', ...words]);
    expect(ran.stdout).toContain('no property computed a real vocabulary');
    expect(ran.stdout).toMatch(/properties apply: \d+ hold/);
    // What the library with CUDA says before it can be told not to.
    const unavoidable = /^(WARNING: All log messages before|[EI]0000 ).*\n/gm;
    expect(ran.stderr.replace(unavoidable, '')).toBe('');
  });
});

/** Log-probabilities as they are, over logits of any size. */
function right(): Trainer {
  return objectTrainer({
    hello: {
      protocol: 1,
      name: 'right',
      dtype: 'float64',
      ops: { logprobs: {} },
      tensors: 'base64',
      layout: { alignment: 'token', span: 'row' },
    },
    ops: {
      logprobs: ({ input_ids, logits }) => ({
        logprobs: input_ids.map((ids, b) =>
          ids.map((id, t) => (t === 0 ? 0 : (logSoftmax(logits[b]?.[t - 1] ?? [])[id] as number))),
        ),
      }),
    },
  });
}
