// Every setting that the adapters of verl, OpenRLHF and LLaMA-Factory offer, a few cases of what it changes: nothing fails but what is known with
// the line of their code. Variables that change different ops are set in one run.
import { expect, test } from 'vitest';
import { FAILING } from '../../../src/index.ts';
import { having } from '../checked.ts';
import { check, type Source } from './run.ts';

const FEW = ['--level', 'should', '--cases', '4', '--shrink-time', '1', '--only'];
const ADVANTAGES = 'advantages/*';
const LOSSES = `${ADVANTAGES},loss/*,value-loss/*,model/step-*`;
const FACTORY = 'tokenize/*,sft-batch/*,sft-loss/*,preference*,model/preference-*';
const ALL = `${LOSSES},tokenize/*,sft-batch/*,preference_loss/*,model/preference-*`;

test.each<[source: Source, asked: string, setting: Record<string, string>]>([
  ['verl', LOSSES, { ADVANTAGE: 'grpo_vectorized', POLICY: 'gspo' }],
  ['verl', LOSSES, { ADVANTAGE: 'rloo', POLICY: 'cispo', LOSS: 'seq-mean-token-mean' }],
  ['verl', LOSSES, { ADVANTAGE: 'rloo_vectorized', POLICY: 'geo_mean', LOSS: 'seq-mean-token-sum-norm' }],
  ['verl', LOSSES, { ADVANTAGE: 'opo', LOSS: 'seq-mean-token-sum' }],
  ['verl', ADVANTAGES, { ADVANTAGE: 'gpg' }],
  ['verl', ADVANTAGES, { ADVANTAGE: 'grpo_passk' }],
  ['verl', ADVANTAGES, { ADVANTAGE: 'reinforce_plus_plus' }],
  ['verl', ADVANTAGES, { ADVANTAGE: 'reinforce_plus_plus_baseline' }],
  ['openrlhf', ALL, { ADVANTAGE: 'rloo', POLICY: 'gspo', DATA: 'last', OBJECTIVE: 'ipo' }],
  ['openrlhf', LOSSES, { ADVANTAGE: 'dr_grpo', LOSS: 'seq-mean-token-mean' }],
  ['openrlhf', ADVANTAGES, { ADVANTAGE: 'flash_reinforce' }],
  ['openrlhf', ADVANTAGES, { ADVANTAGE: 'reinforce' }],
  ['openrlhf', ADVANTAGES, { ADVANTAGE: 'reinforce_baseline' }],
  ['llama-factory', FACTORY, { FORMAT: 'openai', DATA: 'last-assistant', OBJECTIVE: 'hinge', LOSS: 'dft' }],
  ['llama-factory', FACTORY, { TEMPLATE: 'qwen', DATA: 'all', OBJECTIVE: 'ipo', LOSS: 'asft' }],
  ['llama-factory', 'preference_loss/*,model/preference-*,preference/*', { OBJECTIVE: 'simpo' }],
  ['llama-factory', 'preference_loss/*,preference/*', { OBJECTIVE: 'orpo' }],
])('%s, %s with %o', async (source, asked, setting) => {
  const env = Object.fromEntries(
    Object.entries(setting).map(([name, value]) => [`LOSSPROOF_${name}`, value]),
  );
  const { exitCode, results, out } = await check(source, [...FEW, asked], env);
  expect(having(results, ...FAILING), out).toEqual([]);
  expect(having(results, 'pass').length, out).toBeGreaterThanOrEqual(
    asked === ADVANTAGES ? 10 : source === 'llama-factory' ? 20 : 35,
  );
  expect(exitCode).toBe(0);
});
