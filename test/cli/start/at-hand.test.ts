// What `lossproof` alone says in a folder: the command that its files are for, with their names.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeWorld } from '../world.ts';

/** What stands below "In this folder:", without what it is. */
async function said(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const world = makeWorld();
  for (const name of Object.keys(files).filter((each) => each.includes('/')))
    mkdirSync(join(world.folder, name, '..'), { recursive: true });
  for (const [name, text] of Object.entries(files)) world.write(name, text);
  expect(await world.run()).toBe(2);
  expect(world.out()).toMatch(/^Usage: lossproof command/);
  const [, here = ''] = world.out().split('In this folder:\n');
  return here
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('npx '))
    .map((line) => line.split(/ {2,}/)[0] ?? '');
}

const LOOP = 'import torch\n\nfor batch in loader:\n    model(**batch).loss.backward()\n';

test.each([
  ['a loop of its own', { 'train.py': LOOP }, 'trace -- python train.py'],
  [
    'a trainer of TRL in a folder',
    { 'scripts/sft.py': 'from trl import SFTTrainer\nt = SFTTrainer(model)\nt.train()\n' },
    'trace -- python scripts/sft.py',
  ],
  ['a name with a space', { 'my train.py': LOOP }, "trace -- python 'my train.py'"],
  [
    'an adapter',
    { 'adapter.py': 'from lossproof import serve\nimport torch\nloss.backward()\nserve(mask=f)\n' },
    'check -- python adapter.py',
  ],
  ['a configuration', { 'lossproof.config.json': '{}' }, 'check'],
  ['functions', { 'losses.py': 'def policy_loss(logprobs, old):\n    return 0\n' }, 'discover losses.py'],
  ['a log', { 'out/trainer_state.json': '{}' }, 'monitor out/trainer_state.json'],
  ['conversations', { 'sft.jsonl': '{"messages": []}\n' }, 'view sft.jsonl --tokenizer MODEL_FOLDER'],
  ['a Parquet file', { 'data/a.parquet': 'PAR1' }, 'view data/a.parquet --tokenizer MODEL_FOLDER'],
])('%s', async (_, files, command) => {
  expect(await said(files)).toEqual([`npx lossproof ${command}`]);
});

test.each([
  ['an empty folder', {}],
  [
    'files that no command takes',
    { 'setup.py': 'import os\n', 'notes.jsonl': '{"a": 1}\n', 'train.py.bak': LOOP },
  ],
  ['what is not of the project', { 'node_modules/train.py': LOOP, '.venv/train.py': LOOP }],
])('nothing is said of %s', async (_, files) => {
  expect(await said(files)).toEqual([]);
});

test('several kinds of files are told the nearest to a verdict first, one of each', async () => {
  const files = {
    'b.py': LOOP,
    'a.py': LOOP,
    'lossproof.config.json': '{}',
    'loss.py': 'def kl_loss(a): pass\n',
  };
  expect(await said(files)).toEqual([
    'npx lossproof check',
    'npx lossproof trace -- python a.py',
    'npx lossproof discover loss.py',
  ]);
});

test.each([
  [['a.py', 'b.py'], 'a.py looks like a training script; also b.py'],
  [['a.py', 'b.py', 'c.py', 'd.py'], 'a.py looks like a training script; also b.py, c.py, d.py'],
  [['a.py', 'b.py', 'c.py', 'd.py', 'e.py'], 'a.py looks like a training script; also b.py, c.py and 2 more'],
])('of several scripts the others are named: %j', async (names, sentence) => {
  const world = makeWorld();
  for (const name of names) world.write(name, LOOP);
  await world.run();
  expect(world.out().replaceAll(/\s+/g, ' ')).toContain(sentence);
});

test('a file that was made to be slow to read is read at once', async () => {
  const hostile = [`\n${' '.repeat(30_000)}`.repeat(2), `def ${'loss'.repeat(16_000)}`, '\n'.repeat(60_000)];
  expect(await said(Object.fromEntries(hostile.map((text, at) => [`${at}.py`, text])))).toEqual([]);
});
