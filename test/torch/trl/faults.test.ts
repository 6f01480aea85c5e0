// Faults put into TRL's own functions at run time are found through the ready-made adapters, by the properties that are
// about them; the unchanged trainer holds those (test/torch/adapters.test.ts).
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import type { PropertyResult } from '../../../src/index.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { pythonOf } from './versions.ts';

const FAULTY = fileURLToPath(new URL('faulty.py', import.meta.url));
const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
/** A fault shows in the first few; shrinking is not what is tested here. */
const FEW = ['--cases', '40', '--shrink-time', '1'];

test.each([
  ['mask-off-by-one', 'grpo', 'extract/exact-under-left-padding'],
  ['stop-token-unmasked', 'grpo', 'mask/stop-token-is-trained-once'],
  ['pads-in-the-kl-mean', 'grpo', 'kl/equals-the-estimator'],
  ['temperature-dropped', 'grpo', 'logprobs/divide-by-the-temperature'],
  ['advantages-over-the-batch', 'grpo', 'advantages/zero-mean-in-each-group'],
  ['ratio-detached', 'grpo', 'loss/on-policy-gradient-follows-the-advantage'],
  ['clip-bounds-swapped', 'grpo', 'loss/settings-are-those-of-the-formula'],
  ['deviation-of-the-population', 'grpo', 'advantages/equal-the-declared-formula'],
  ['prompts-begin-twice', 'sft', 'tokenize/sft-and-rl-tokenize-the-same-prompt'],
  ['preference-one-token-late', 'dpo', 'preference_loss/equals-the-objective'],
])('%s of %s is found by %s', async (fault, adapter, property) => {
  const events = join(mkdtempSync(join(tmpdir(), 'lossproof faults ')), 'events.ndjson');
  const options = ['check', '--only', property, '--no-corpus', '--events', events, ...FEW];
  const { all } = await execa(
    process.execPath,
    [MAIN, ...options, '--', pythonOf('newest'), FAULTY, fault, adapter],
    {
      cwd: PACKAGE_ROOT,
      reject: false,
      all: true,
      env: { PYTHONPATH: 'src/python', LOSSPROOF_STOPS: '<|im_end|>' },
    },
  );
  const lines = readFileSync(events, 'utf8').trim().split('\n');
  const result = lines
    .map((line) => JSON.parse(line) as { type: string; result: PropertyResult })
    .find(({ type }) => type === 'property-end')?.result;
  expect(result?.verdict, all).toBe('fail');
  expect(result?.failure?.finding?.sentence, all).toBeTruthy();
});
