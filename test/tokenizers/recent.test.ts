// What is kept of renderings and encodings changes no result.
import { expect, test } from 'vitest';
import { loadTokenizer, renderChat } from '../../src/index.ts';
import { familyFolder } from '../../src/tokenizers/families.ts';
import { recent } from '../../src/tokenizers/recent.ts';

test('the oldest result is dropped', () => {
  const kept = recent<number>(2);
  for (const [at, key] of ['a', 'b', 'c'].entries()) kept.set(key, at);
  expect(['a', 'b', 'c'].map((key) => kept.get(key))).toEqual([undefined, 1, 2]);
});

test('ids that a caller changes are as they were for the next one', () => {
  const loaded = loadTokenizer(familyFolder('qwen'));
  if ('problem' in loaded) throw new Error(loaded.problem);
  const ids = loaded.tokenizer.encode('Hello there');
  const before = [...ids];
  ids.reverse();
  expect(loaded.tokenizer.encode('Hello there')).toEqual(before);
});

test('special tokens are no part of what is kept without them', () => {
  const loaded = loadTokenizer(familyFolder('llama3'));
  if ('problem' in loaded) throw new Error(loaded.problem);
  const { tokenizer } = loaded;
  expect(tokenizer.encode('Hello')).not.toEqual(tokenizer.encode('Hello', { addSpecialTokens: true }));
});

test('a conversation is not taken for another one, nor with other options', () => {
  const template =
    '{% for m in messages %}[{{ m.content }}]{% endfor %}{% if add_generation_prompt %}>{% endif %}';
  const render = (content: string, addGenerationPrompt: boolean) =>
    renderChat(template, { messages: [{ role: 'user', content }], addGenerationPrompt });
  const all = [render('a', true), render('a', false), render('b', true), render('a', true)];
  expect(all).toEqual([{ text: '[a]>' }, { text: '[a]' }, { text: '[b]>' }, { text: '[a]>' }]);
});
