// TRL's own trainers with their declarations taken away: what is measured is what TRL's source and settings say.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { profileTrainer } from '../../src/check/profile/profile.ts';
import { loadTokenizer, startTrainer } from '../../src/index.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { undeclared } from '../check/profile/profiled.ts';
import { family, STARTING } from './trl/ask.ts';

const python = process.env.LOSSPROOF_PYTHON ?? join(PACKAGE_ROOT, '.venv', 'bin', 'python');

async function profileOf(adapter: string) {
  const started = await startTrainer({
    command: [python, '-m', `lossproof.adapters.trl.${adapter}`],
    // What TRL does with a second stop id is known, and none of the ways of which one is measured.
    env: { LOSSPROOF_TOKENIZER: family('qwen'), LOSSPROOF_STOPS: '<|im_end|>' },
    helloMilliseconds: STARTING,
  });
  if ('failure' in started) throw new Error(started.failure.message);
  try {
    const loaded = loadTokenizer(family('qwen'));
    if ('problem' in loaded) throw new Error(loaded.problem);
    const trainer = undeclared(started.trainer);
    const profile = await profileTrainer({ trainer, tokenizer: loaded.tokenizer });
    // Where long text is cut is a property's question, and no item of the profile.
    const { cut_at: _, ...declared } = started.trainer.hello.semantics ?? {};
    return { ...profile, declared };
  } finally {
    await started.trainer.stop();
  }
}

/** Verdicts that name no value, or name one that nobody declared. */
const SETTLED = ['undeclared', 'silent', 'absent'];

test('GRPOTrainer: k3, sample deviation and 1e-4, a clipped objective of token ratios over all tokens', async () => {
  const { measured, items, declared } = await profileOf('grpo');
  expect(items.filter(({ verdict }) => !SETTLED.includes(verdict))).toEqual([]);
  expect(measured).toMatchObject({
    ...declared,
    advantage_baseline: 'group-mean',
    advantage_ddof: 1,
    advantage_epsilon: 1e-4,
    advantage_epsilon_placement: 'std',
    dual_clip: null,
    kl_estimator: 'k3',
    policy_objective: 'clip',
    ratio_level: 'token',
  });
});

test('SFTTrainer: a mean over labelled tokens of the last answer', async () => {
  const { measured, items, declared } = await profileOf('sft');
  expect(items.filter(({ verdict }) => !SETTLED.includes(verdict))).toEqual([]);
  expect(measured).toMatchObject({ ...declared, sft_aggregation: 'token-mean' });
});
