// The main job on real input: TRL's own trainers on torch, through the command that a user types.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FAILING } from '../../src/index.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { type Checked, checked, having, knownIds } from './checked.ts';
import { pythonOf, VERSIONS, type Which } from './trl/versions.ts';

const REAL = join(PACKAGE_ROOT, 'node_modules', '@lenml', 'tokenizer-qwen2_5', 'models');

const check = (adapter: string, ...options: string[]): Promise<Checked> =>
  checked(['--adapter', adapter, '--level', 'may', ...options]);

/** Models of 150,000 ids take a second a case; what the tokenizer changes shows in the first of them. */
const FEW_CASES = '10';

describe.each<[adapter: string, options: readonly string[]]>([
  ['trl-grpo', []],
  ['trl-sft', []],
  ['trl-rloo', ['--cases', FEW_CASES]],
  ['trl-dpo', []],
  ['trl-kto', ['--cases', FEW_CASES]],
  ['trl-grpo', ['--tokenizer', REAL, '--cases', FEW_CASES]],
])('%s', (adapter, options) => {
  const tokenizer = options.includes('--tokenizer') ? 'the real Qwen2.5 tokenizer' : 'the bundled tokenizer';
  test(`holds at least 15 properties with ${tokenizer}, and what it does wrong is known with its reason`, async () => {
    const ran = await check(adapter, ...options);
    const { exitCode, results, out } = ran;
    expect(having(results, ...FAILING), out).toEqual([]);
    const known = knownIds(adapter, ran);
    // Few cases need not show each.
    const seen = having(results, 'known').sort();
    expect(seen).toEqual(known.filter((id) => options.length === 0 || seen.includes(id)));
    expect(seen.length).toBeGreaterThanOrEqual(known.length / 2);
    expect(having(results, 'pass').length).toBeGreaterThanOrEqual(15);
    expect(having(results, 'pass'), 'models are loaded').toContain('model/logprobs-equal-the-reference');
    expect(exitCode).toBe(0);
  });
});

// Few cases, and no models of their own but DPO's: what is looked at here is that each version is asked at all.
const QUICK = ['--cases', '6', '--shrink-time', '1', '--level', 'should'];
const PARTS =
  'extract,mask,logprobs,score,kl,advantages,loss,sft-loss,tokenize,collate,preference,preference_loss,reward,reward_loss,unpaired_preference_loss';

describe.each<[which: Which, adapter: string, least: number]>([
  ['oldest', 'trl-grpo', 15],
  ['middle', 'trl-grpo', 15],
  ['newest', 'trl-grpo', 15],
  ['middle', 'trl-rloo', 15],
  ['newest', 'trl-rloo', 15],
  ['oldest', 'trl-sft', 5],
  ['middle', 'trl-sft', 15],
  ['newest', 'trl-sft', 15],
  ['oldest', 'trl-dpo', 15],
  ['middle', 'trl-dpo', 15],
  ['newest', 'trl-dpo', 15],
  ['oldest', 'trl-kto', 15],
  ['middle', 'trl-kto', 15],
  ['newest', 'trl-kto', 15],
  ['oldest', 'trl-reward', 5],
  ['middle', 'trl-reward', 5],
  ['newest', 'trl-reward', 5],
])('TRL, the %s version: %s', (which, adapter, least) => {
  test('is asked, and does nothing wrong that is not known', async () => {
    const { results, out } = await check(adapter, '--python', pythonOf(which), '--only', PARTS, ...QUICK);
    expect(having(results, ...FAILING), out).toEqual([]);
    expect(having(results, 'pass').length, out).toBeGreaterThanOrEqual(least);
    expect(out).toContain(`${adapter} ${VERSIONS[which]}`);
  });
});

test('what a version lacks is said with its reason', async () => {
  const { results } = await check('trl-grpo', '--python', pythonOf('oldest'), '--only', 'entropy');
  expect(new Set(results.map(({ verdict, reason }) => `${verdict}: ${reason}`))).toContain(
    `unsupported: op \`entropy\` cannot be asked: GRPOTrainer of TRL ${VERSIONS.oldest} computes none`,
  );
});

test('an adapter that has nothing to ask of a version says from which on it has', async () => {
  const { exitCode, out } = await check('trl-rloo', '--python', pythonOf('oldest'));
  expect(exitCode).toBe(2);
  expect(out).toContain('trl-rloo drives TRL from 0.22 on; this is TRL 0.15.2');
});
