import { readFileSync } from 'node:fs';
import { Template } from '@huggingface/jinja';
import { Tokenizer } from '@huggingface/tokenizers';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytes, example } from './adapter.ts';

const FOLDER = new URL('../../src/tokenizers/families/llama3/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');
const SEED = 20;

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(' the', 'token', ' Loss', "'S", "'ll", '12345', ' ...', 'mask_') },
  { weight: 3, arbitrary: fc.constantFrom(' ', '  ', '\n', '\r\n', '\t', '\n\n', '\u00a0', '\u2028') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('<|eot_id|>', '<|begin_of_text|>', '<|eot', 'é', '日本', '²', '👩‍👩', 'ſ'),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 4 }) },
);
const texts = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(''));

test('the pure Python tokenizer gives the ids of the library', async () => {
  const library = new Tokenizer(
    JSON.parse(read('tokenizer.json')),
    JSON.parse(read('tokenizer_config.json')),
  );
  const sample = fc.sample(texts, { numRuns: 1500, seed: SEED });
  const script = [
    'import json, sys',
    'texts = json.load(sys.stdin)',
    'from lossproof import _channel',
    'from lossproof.examples.text.chat import tokenizer',
    '_channel.write(json.dumps([tokenizer.encode(text) for text in texts]))',
  ].join('\n');
  const { stdout } = await bytes(['-c', script], JSON.stringify(sample));
  const ids: number[][] = JSON.parse(stdout);
  const differing = sample.filter(
    (text, at) =>
      JSON.stringify(library.encode(text, { add_special_tokens: false }).ids) !== JSON.stringify(ids[at]),
  );
  expect(ids).toHaveLength(sample.length);
  expect(differing).toEqual([]);
});

test('the examples render as the family’s chat template does', async () => {
  const template = new Template(read('chat_template.jinja'));
  const conversations = [
    [{ role: 'user', content: ' Hello \n' }],
    [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'What is 2+2?' },
      { role: 'assistant', content: '4\n' },
      { role: 'user', content: '' },
    ],
  ];
  const asked = conversations.flatMap((messages) =>
    [true, false].map((add_generation_prompt) => ({ route: 'rl', messages, add_generation_prompt })),
  );
  const { answers } = await example(
    ['left_padded'],
    asked.map((args) => ({ op: 'render', args })),
  );
  expect(answers.map(({ ok }) => ok?.text)).toEqual(
    asked.map((args) => template.render({ ...args, bos_token: '<|begin_of_text|>' })),
  );
});
