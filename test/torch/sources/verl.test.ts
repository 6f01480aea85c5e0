// verl, installed from its registry, through the command that a user types: nothing of it is alarmed at that is not known with the
// line of its code, and faults that are put into that code are found.
import { test } from 'vitest';
import { finds, holdsButForKnown } from './run.ts';

test('what is there holds, but for what is known with its reason', () =>
  holdsButForKnown('verl', 'verl 0.9.1', 10, [
    'loss/equals-the-declared-formula',
    'model/logprobs-equal-the-reference',
    'value-loss/equals-the-reference',
  ]));

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
])('finds %o', (faults) => finds('verl', faults));
