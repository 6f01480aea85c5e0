// Trainers on torch that were written by hand, with the adapters that a new user writes for them: as they are, everything
// holds at `must`; with one fault each, the report names the token.
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import type { PropertyResult } from '../../src/index.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';

const FOLDER = join(PACKAGE_ROOT, 'test', 'torch', 'by_hand');
const MODEL = join(PACKAGE_ROOT, 'node_modules', '@lenml', 'tokenizer-qwen2_5', 'models');
const MAIN = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');

async function check(
  adapter: string,
  faulty: boolean,
): Promise<{ exitCode: number | undefined; results: PropertyResult[]; out: string }> {
  const events = join(mkdtempSync(join(tmpdir(), 'lossproof by hand ')), 'events.ndjson');
  const run = await execa(
    process.execPath,
    [MAIN, 'check', '--seed', '1', '--no-corpus', '--events', events, '--', PYTHON, `${adapter}_adapter.py`],
    { cwd: FOLDER, env: { MODEL, FAULTY: faulty ? '1' : '0' }, reject: false, all: true },
  );
  const results = readFileSync(events, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; result: PropertyResult })
    .filter(({ type }) => type === 'property-end')
    .map(({ result }) => result);
  return { exitCode: run.exitCode, results, out: run.all };
}

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
