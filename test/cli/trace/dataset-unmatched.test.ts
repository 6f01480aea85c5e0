// --dataset asks what should be trained. Where its rows cannot be found and nothing else says it, the run is no pass.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { makeWorld } from '../world.ts';
import { writeScript } from './traced-script.ts';

const ROW = `${JSON.stringify({ prompt: 'What?', completion: 'Nothing of it.' })}\n`;

async function traced(mode: string, { tokenizer = true, words = ['--dataset', 'data.jsonl'] } = {}) {
  const world = makeWorld(properties);
  writeScript(world);
  world.write('data.jsonl', ROW);
  const script = readFileSync(join(world.folder, 'train.py'), 'utf8');
  if (!tokenizer)
    world.write('train.py', script.replaceAll(/^(shutil\.copytree|write\("tokenizer").*$/gm, ''));
  return { code: await world.run('trace', ...words, '--', 'python3', 'train.py', mode), text: world.both() };
}

test.each(['right', 'stop'])('without a tokenizer, %s: no verdict, and what to add', async (mode) => {
  const { code, text } = await traced(mode, { tokenizer: false });
  const words = text.replaceAll(/\s+/g, ' ');
  expect(code, text).toBe(2);
  expect(words).toContain('no tokenizer was seen, so no row of --dataset was found');
  expect(words).not.toContain('or --dataset FILE');
});

test('nobody named a data set: what can be judged is judged', async () => {
  const { code, text } = await traced('right', { tokenizer: false, words: [] });
  expect(code, text).toBe(0);
  expect(text.replaceAll(/\s+/g, ' ')).toContain('add --tokenizer DIR, or --dataset FILE');
});

test.each([
  ['right', 0],
  ['stop', 1],
])('rows of another file, and a chat template that says it, %s: exit code %d', async (mode, expected) => {
  const { code, text } = await traced(mode);
  expect(code, text).toBe(expected);
});

test('--rows 0 shows no strips of rows, and the verdicts and failures stay', async () => {
  const { code, text } = await traced('stop', { words: ['--rows', '0'] });
  expect(code).toBe(1);
  expect(text).toContain('✗ tokenize/stop-token-is-trained');
  expect(text).not.toContain('target: what the gradient pushes up there');
});

test('a mark that is missing: the sentence says how it is left empty', async () => {
  const { code, text } = await traced('right', {
    words: ['--marks', '{"user": [5], "assistant": [[6], [7]]}'],
  });
  expect(code).toBe(2);
  expect(text).toContain('user needs two marks');
  expect(text).toContain('[] where nothing closes it');
});
