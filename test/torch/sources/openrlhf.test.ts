// OpenRLHF, installed from its registry, as verl.test.ts has verl.
import { expect, test } from 'vitest';
import { FAILING } from '../../../src/index.ts';
import { having } from '../checked.ts';
import { check, checkFaulty, LLAMA } from './run.ts';

/** In the order of the run. */
const KNOWN = [
  'tokenize/sft-ids-are-the-rendered-template',
  'tokenize/prompt-is-not-trained',
  'tokenize/answer-is-trained',
  'tokenize/stop-token-is-trained',
  'tokenize/every-answer-is-trained',
  'sft-batch/padding-is-not-trained',
  'entropy/impossible-tokens-add-nothing',
  'gae/masked-tokens-are-no-steps',
  'gae/nan-under-the-mask-stays-there',
  'returns/masked-tokens-are-no-steps',
  'returns/nan-under-the-mask-stays-there',
  'advantages/whitening-nan-under-the-mask-stays-there',
  'loss/finite-on-finite-input',
  'loss/nan-under-the-mask-stays-there',
  'loss/zero-without-trained-tokens',
  'loss/independent-of-micro-batches',
  'loss/independent-of-ranks',
  'sft-loss/zero-without-trained-tokens',
  'value-loss/nan-under-the-mask-stays-there',
  'value-loss/zero-without-trained-tokens',
];

test('what is there holds, but for what is known with its reason', async () => {
  const { exitCode, results, out } = await check('openrlhf', ['--level', 'may', '--cases', '10']);
  expect(having(results, ...FAILING), out).toEqual([]);
  expect(having(results, 'known')).toEqual(KNOWN);
  expect(having(results, 'pass').length).toBeGreaterThanOrEqual(100);
  expect(having(results, 'pass')).toEqual(
    expect.arrayContaining([
      'loss/equals-the-declared-formula',
      'model/logprobs-equal-the-reference',
      'value-loss/equals-the-reference',
    ]),
  );
  expect(out).toContain('openrlhf drives OpenRLHF 0.11.2');
  expect(exitCode).toBe(0);
});

/** Each touches another op, so that what is found is that one. */
test.each<Readonly<Record<string, string>>>([
  {
    'stop token unmasked': 'tokenize/stop-token-is-trained',
    'temperature dropped': 'logprobs/divide-by-the-temperature',
    ddof: 'advantages/equal-the-declared-formula',
    'per-rank normalisation': 'loss/independent-of-ranks',
    'reward at the last column': 'token_rewards/add-up-to-the-score-less-the-kl',
    'prompt in the preference': 'preference/masks-are-the-completions',
    'groups out of bounds kept': 'reward/filter-follows-the-rule',
  },
  {
    'positions missing': 'model/logprobs-equal-the-reference',
    'advantages over the batch': 'advantages/zero-mean-in-each-group',
    'ratio detached': 'loss/on-policy-gradient-follows-the-advantage',
    'critic held back': 'value-loss/equals-the-reference',
    'double BOS': 'tokenize/exactly-the-right-number-of-bos',
  },
  {
    'mask off by one': 'tokenize/every-answer-is-trained',
    'label shift': 'logprobs/equal-the-reference',
    'pads in the KL mean': 'loss/masked-values-do-not-matter',
  },
])('finds %o', async (faults) => {
  const ids = Object.values(faults);
  const options = ['--only', ids.join(','), '--cases', '30', '--shrink-time', '1'];
  const { results, out } = await checkFaulty(
    'openrlhf',
    Object.keys(faults),
    options,
    'double BOS' in faults ? LLAMA : {},
  );
  // Changed: what is known of the property stands beside it.
  expect(having(results, 'fail', 'changed').sort(), out).toEqual(ids.toSorted());
});
