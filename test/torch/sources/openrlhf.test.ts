// OpenRLHF, installed from its registry, as verl.test.ts has verl.
import { test } from 'vitest';
import { finds, holdsButForKnown } from './run.ts';

test('what is there holds, but for what is known with its reason', () =>
  holdsButForKnown('openrlhf', 'OpenRLHF 0.11.2', 10, [
    'loss/equals-the-declared-formula',
    'model/logprobs-equal-the-reference',
    'value-loss/equals-the-reference',
  ]));

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
])('finds %o', (faults) => finds('openrlhf', faults));
