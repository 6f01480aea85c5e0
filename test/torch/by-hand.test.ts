// Trainers on torch that were written by hand, with the adapters that a new user writes for them: as they are, everything
// holds at `must`; with one fault each, the report names the token.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { type Checked, checked } from './checked.ts';

const FOLDER = join(PACKAGE_ROOT, 'test', 'torch', 'by_hand');
const MODEL = join(PACKAGE_ROOT, 'node_modules', '@lenml', 'tokenizer-qwen2_5', 'models');
const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');

const check = (adapter: string, faulty: boolean): Promise<Checked> =>
  checked(['--seed', '1', '--', PYTHON, `${adapter}_adapter.py`], {
    cwd: FOLDER,
    env: { MODEL, FAULTY: faulty ? '1' : '0' },
  });

test.each([
  ['grpo', 30],
  ['sft', 15],
])('%s, as it is, holds', async (adapter, least) => {
  const { exitCode, results, out } = await check(adapter, false);
  expect(exitCode, out).toBe(0);
  expect(results.filter(({ verdict }) => verdict === 'pass').length).toBeGreaterThanOrEqual(least);
});

test.each([
  [
    'grpo',
    'mask/prompt-is-never-trained',
    /^Token \d+ \(id \d+\) belongs to the prompt of row \d+, but the mask trains on it\.$/,
  ],
  [
    'sft',
    'collate/labels-stay-with-their-tokens',
    /^Token \d+ '.+' \(id \d+\) of row \d+ is to be trained as \d+, but its label is -100\.$/,
  ],
])('%s with its fault fails, and the token is named', async (adapter, id, sentence) => {
  const { exitCode, results, out } = await check(adapter, true);
  expect(exitCode, out).toBe(1);
  const found = results.find((result) => result.id === id);
  expect(found?.failure?.finding?.sentence, out).toMatch(sentence);
  expect(
    results.filter(({ verdict }) => verdict === 'error'),
    out,
  ).toEqual([]);
});
