// Faults put into TRL's own functions at run time are found through the ready-made adapters, by the properties that are
// about them; the unchanged trainer holds those (test/torch/adapters.test.ts).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { knownOf, readCauses } from '../../../src/check/saved/causes.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { checked } from '../checked.ts';
import { family } from './ask.ts';
import { pythonOf } from './versions.ts';

const FAULTY = fileURLToPath(new URL('faulty.py', import.meta.url));
/** A fault shows in the first few; shrinking is not what is tested here. */
const FEW = ['--cases', '40', '--shrink-time', '1'];

const QWEN = { LOSSPROOF_STOPS: '<|im_end|>' };
/** A tokenizer that puts a BOS before whatever it is given, of a template that writes one. */
const LLAMA = { LOSSPROOF_TOKENIZER: family('llama3'), LOSSPROOF_STOPS: '<|eot_id|>' };

test.each<[fault: string, adapter: string, property: string, env?: Readonly<Record<string, string>>]>([
  ['mask-off-by-one', 'grpo', 'extract/exact-under-left-padding'],
  ['stop-token-unmasked', 'grpo', 'mask/stop-token-is-trained-once'],
  ['pads-in-the-kl-mean', 'grpo', 'kl/equals-the-estimator'],
  ['temperature-dropped', 'grpo', 'logprobs/divide-by-the-temperature'],
  ['advantages-over-the-batch', 'grpo', 'advantages/zero-mean-in-each-group'],
  ['ratio-detached', 'grpo', 'loss/on-policy-gradient-follows-the-advantage'],
  ['clip-bounds-swapped', 'grpo', 'loss/settings-are-those-of-the-formula'],
  ['deviation-of-the-population', 'grpo', 'advantages/equal-the-declared-formula'],
  ['prompts-begin-twice', 'sft', 'tokenize/sft-and-rl-tokenize-the-same-prompt'],
  ['bos-twice', 'sft', 'tokenize/exactly-the-right-number-of-bos', LLAMA],
  ['label-shift', 'grpo', 'logprobs/equal-the-reference'],
  ['positions-missing', 'sft', 'pack/positions-restart'],
  ['preference-one-token-late', 'dpo', 'preference_loss/equals-the-objective'],
])('%s of %s is found by %s', async (fault, adapter, property, env = QWEN) => {
  const {
    results: [result],
    out,
  } = await checked(['--only', property, ...FEW, '--', pythonOf('newest'), FAULTY, fault, adapter], {
    env: { PYTHONPATH: 'src/python', ...env },
  });
  expect(result?.verdict, out).toBe('fail');
  expect(result?.failure?.finding?.sentence, out).toBeTruthy();
});

test.each([
  ['mask/padding-is-never-trained', 'mask-off-by-one', 'ended by a further stop id'],
  ['kl/independent-of-padding', 'pads-in-the-kl-mean', 'fully masked row'],
])('what is known of %s is not what %s breaks: no case has "%s"', async (id, fault, label) => {
  const file = join(PACKAGE_ROOT, 'src/python/lossproof/adapters/trl/known/trl-grpo.json');
  const read = readCauses(file);
  if ('problem' in read) throw new Error(read.problem);
  const folder = mkdtempSync(join(tmpdir(), 'lossproof known '));
  const known = join(folder, 'known.json');
  writeFileSync(known, JSON.stringify({ [id]: knownOf(read.causes, {})[id] }));
  const check = async (trainer: readonly string[]) => {
    const words = ['--only', id, '--known', known, ...FEW, '--', pythonOf('newest'), ...trainer];
    return (await checked(words, { env: { PYTHONPATH: 'src/python' } })).results[0];
  };
  expect((await check(['-m', 'lossproof.adapters.trl.grpo']))?.verdict).toBe('known');
  const { verdict, reason } = (await check([FAULTY, fault, 'grpo'])) ?? {};
  expect(verdict).toBe('changed');
  expect(reason).toContain(`recorded where a case has "${label}"`);
  expect(reason).toMatch(/in the same way without that now$/);
  rmSync(folder, { recursive: true });
});
