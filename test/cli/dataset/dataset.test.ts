// `dataset` as it is typed: what is written, what is said of it, and words that cannot be meant.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { familyFolder } from '../../../src/tokenizers/load.ts';
import { makeWorld } from '../world.ts';

test('writes rows, says what they show and how they are trained on', async () => {
  const world = makeWorld();
  expect(
    await world.run('dataset', 'hard set.jsonl', '--form', 'chat', '--tokenizer', familyFolder('qwen')),
  ).toBe(0);
  const lines = readFileSync(join(world.folder, 'hard set.jsonl'), 'utf8').trim().split('\n');
  expect(lines).toHaveLength(32);
  for (const line of lines) expect(JSON.parse(line)).toHaveProperty('messages');
  expect(world.out()).toMatch(
    /^wrote hard set\.jsonl: 32 rows of form chat, seed 1; at most 256 tokens each/,
  );
  expect(world.out()).toMatch(/ {2}system message +\d/);
  expect(world.out()).toContain(
    "npx lossproof trace --dataset 'hard set.jsonl' --keep-going -- python train.py 'hard set.jsonl'",
  );
});

test('the same seed writes the same file, and none is overwritten without --force', async () => {
  const world = makeWorld();
  const read = (): string => readFileSync(join(world.folder, 'a.jsonl'), 'utf8');
  const words = ['dataset', 'a.jsonl', '--form', 'preference'];
  expect(await world.run(...words)).toBe(0);
  const before = read();
  expect(await world.run(...words, '--seed', '2')).toBe(2);
  expect(world.err()).toContain('a.jsonl is there already; --force writes over it');
  expect(read()).toBe(before);
  expect(await world.run(...words, '--force')).toBe(0);
  expect(read()).toBe(before);
  expect(await world.run(...words, '--force', '--seed', '2')).toBe(0);
  expect(read()).not.toBe(before);
});

test('what a template refuses is left out and said, and is no failure', async () => {
  const world = makeWorld();
  expect(
    await world.run('dataset', 'a.jsonl', '--form', 'chat', '--tokenizer', familyFolder('gemma'), '--tools'),
  ).toBe(0);
  expect(world.out()).toMatch(/! No row shows "tool result"\. The chat template/);
  expect(readFileSync(join(world.folder, 'a.jsonl'), 'utf8')).not.toContain('"tool"');
});

test('too few rows for every kind are written, and fail', async () => {
  const world = makeWorld();
  expect(await world.run('dataset', 'a.jsonl', '--form', 'chat', '--rows', '3')).toBe(1);
  expect(world.out()).toMatch(/! Only 0 of the rows show "[^"]+", at least 1 should/);
  expect(world.out()).toMatch(/! --rows \d+ has room for every kind/);
});

test.each<[readonly string[], string]>([
  [['a.jsonl'], '--form'],
  [['a.jsonl', '--form', 'chats'], 'chat, prompt-completion, preference, prompt'],
  [['--form', 'chat'], "missing required argument 'file'"],
  [['a.jsonl', '--form', 'prompt', '--tools'], '--tools is of conversations'],
  [['a.jsonl', '--form', 'chat', '--rows', '0'], '--rows'],
  [['a.jsonl', '--form', 'chat', '--rows', '20000'], '--rows: 10,000 are written at most'],
  [['a.jsonl', '--form', 'chat', '--tokenizer', 'none'], 'none'],
  [['no/such/a.jsonl', '--form', 'chat'], 'no/such/a.jsonl cannot be written: there is no folder'],
  [['a.jsonl', '--form', 'chat', '--max-tokens', '1'], 'no row of this form can be made'],
])('%j is one sentence, and nothing is written', async (words, sentence) => {
  const world = makeWorld();
  expect(await world.run('dataset', ...words)).toBe(2);
  expect(world.err()).toContain(sentence);
  expect(world.out()).toBe('');
});
