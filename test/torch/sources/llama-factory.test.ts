// LLaMA-Factory, installed from its registry, as verl.test.ts has verl.
import { expect, test } from 'vitest';
import { FAILING } from '../../../src/index.ts';
import { having } from '../checked.ts';
import { check, checkFaulty } from './run.ts';

/** In the order of the run. */
const KNOWN = [
  'tokenize/rl-ids-are-the-rendered-template',
  'tokenize/sft-ids-are-the-rendered-template',
  'sft-batch/rows-are-the-conversations',
  'truncate/keeps-one-end',
  'truncate/no-row-without-labels',
  'pack/first-token-of-an-example-is-not-trained',
  'preference/of-conversations-rows-are-the-conversations',
  'sft-loss/first-column-is-not-counted',
  'sft-loss/zero-without-trained-tokens',
];

test('what is there holds, but for what is known with its reason', async () => {
  const { exitCode, results, out } = await check('llama-factory', ['--level', 'may', '--cases', '5']);
  expect(having(results, ...FAILING), out).toEqual([]);
  expect(having(results, 'known')).toEqual(KNOWN);
  expect(having(results, 'pass').length).toBeGreaterThanOrEqual(100);
  expect(having(results, 'pass')).toEqual(
    expect.arrayContaining([
      'tokenize/only-answers-are-trained',
      'pack/segments-are-the-examples',
      'score/packed-equals-separate',
      'model/logprobs-equal-the-reference',
      'preference_loss/equals-the-objective',
      'reward_loss/equals-the-formula',
    ]),
  );
  expect(out).toContain('llama-factory drives LLaMA-Factory 0.9.5');
  expect(exitCode).toBe(0);
});

/** Each touches another op, or shows otherwise, so that what is found is that one. */
const FAULTS: Readonly<Record<string, string>> = {
  'prompt not masked': 'tokenize/prompt-is-not-trained',
  'label shift': 'tokenize/labels-are-the-tokens',
  'examples see each other': 'score/packed-equals-separate',
};

test('faults in its code are found', async () => {
  const ids = Object.values(FAULTS);
  const options = ['--only', ids.join(','), '--cases', '12', '--shrink-time', '1'];
  const { results, out } = await checkFaulty('llama-factory', Object.keys(FAULTS), options);
  expect(having(results, 'fail').sort(), out).toEqual(ids.toSorted());
});
