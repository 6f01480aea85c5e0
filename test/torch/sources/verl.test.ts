// verl, installed from its registry, through the command that a user types: nothing of it is alarmed at that is not known with the
// line of its code, and faults that are put into that code are found.
import { expect, test } from 'vitest';
import { FAILING } from '../../../src/index.ts';
import { having } from '../checked.ts';
import { check, checkFaulty, LLAMA } from './run.ts';

/** In the order of the run. */
const KNOWN = [
  'tokenize/answer-is-trained',
  'tokenize/stop-token-is-trained',
  'tokenize/irregular-dialogues-train-no-question',
  'sft-batch/irregular-dialogues-train-no-question',
  'entropy/impossible-tokens-add-nothing',
  'gae/nan-under-the-mask-stays-there',
  'returns/nan-under-the-mask-stays-there',
  'loss/zero-without-trained-tokens',
  'loss/independent-of-micro-batches',
  'loss/independent-of-ranks',
  'sft-loss/first-column-is-not-counted',
  'sft-loss/zero-without-trained-tokens',
  'value-loss/zero-without-trained-tokens',
];

test('what is there holds, but for what is known with its reason', async () => {
  const { exitCode, results, out } = await check('verl', ['--level', 'may', '--cases', '10']);
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
  expect(out).toContain('verl drives verl 0.9.1');
  expect(exitCode).toBe(0);
});

/** Each touches another op, so that what is found is that one. */
test.each<Readonly<Record<string, string>>>([
  {
    'stop token unmasked': 'mask/stop-token-is-trained-once',
    'temperature dropped': 'logprobs/divide-by-the-temperature',
    ddof: 'advantages/equal-the-declared-formula',
    'per-rank normalisation': 'loss/independent-of-ranks',
    'label shift': 'sft-loss/equals-the-reference',
    'double first token': 'tokenize/rl-ids-are-the-rendered-template',
    'answer masked off by one': 'tokenize/prompt-is-not-trained',
    'groups without a signal kept': 'reward/filter-follows-the-rule',
    'the whole budget again': 'rollout/partial-has-what-is-left-of-the-budget',
  },
  {
    'advantages over the batch': 'advantages/zero-mean-in-each-group',
    'pads in the KL mean': 'loss/masked-values-do-not-matter',
    'positions missing': 'score/packed-equals-separate',
    'critic held back': 'value-loss/equals-the-reference',
    'ratio detached': 'loss/on-policy-gradient-follows-the-advantage',
    'double BOS': 'tokenize/exactly-the-right-number-of-bos',
    'the part forgotten': 'rollout/partial-goes-on-from-the-prefix',
  },
  { 'log-probabilities off by one': 'model/logprobs-equal-the-reference' },
])('finds %o', async (faults) => {
  const ids = Object.values(faults);
  const options = ['--only', ids.join(','), '--cases', '30', '--shrink-time', '1'];
  const { results, out } = await checkFaulty(
    'verl',
    Object.keys(faults),
    options,
    'double BOS' in faults ? LLAMA : {},
  );
  // Changed: what is known of the property stands beside it.
  expect(having(results, 'fail', 'changed').sort(), out).toEqual(ids.toSorted());
});
