// LLaMA-Factory, installed from its registry, as verl.test.ts has verl.
import { expect, test } from 'vitest';
import { having } from '../checked.ts';
import { checkFaulty, holdsButForKnown } from './run.ts';

test('what is there holds, but for what is known with its reason', () =>
  holdsButForKnown('llama-factory', 'LLaMA-Factory 0.9.5', 5, [
    'tokenize/only-answers-are-trained',
    'pack/segments-are-the-examples',
    'score/packed-equals-separate',
    'model/logprobs-equal-the-reference',
    'preference_loss/equals-the-objective',
    'reward_loss/equals-the-formula',
  ]));

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
