// Rows of which nothing can be known.
import { expect, test } from 'vitest';
import { spansOf, spanWorldOf } from '../../../src/trace/spans/spans.ts';
import { familyFolders, loaded } from '../../tokenizers/folders.ts';
import { padded, worldOf } from './span-rows.ts';

const own = loaded(familyFolders.qwen ?? '');
const PADDING = { left: 1, right: 1, pad: own.padTokenId ?? 0, attention: 'mask' } as const;

test('any part of a plain text may be trained, and its padding not', () => {
  const row = padded(own.encode('A plain text.'), PADDING);
  const spans = spansOf(row, spanWorldOf({ tokenizer: own, generations: [] }));
  expect(spans.origin).toEqual({ kind: 'text' });
  expect(spans.expected).toEqual(row.real.map((real) => (real ? undefined : false)));
});

test('without a tokenizer it says what would tell', () => {
  const spans = spansOf(padded([5, 6], PADDING), spanWorldOf({ generations: [] }));
  expect(spans.origin).toMatchObject({ kind: 'unknown', why: expect.stringContaining('--tokenizer') });
  expect(spans.roles).not.toContain('prompt');
});

test('a row of padding alone', () => {
  const spans = spansOf(padded([], PADDING), worldOf(own, [{ text: 'a' }]));
  expect(spans.roles).toEqual(['padding', 'padding']);
});

test('among thousands of examples it is found by its text', () => {
  const values = Array.from({ length: 1000 }, (_, at) => ({
    messages: [
      { role: 'user', content: `What is the square of the number ${at}?` },
      { role: 'assistant', content: `The square of ${at} is ${at * at}.` },
    ],
  }));
  const text =
    '<|im_start|>user\nWhat is the square of the number 777?<|im_end|>\n<|im_start|>assistant\nThe square of 777 is 603729.<|im_end|>\n';
  const system = '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n';
  const spans = spansOf(padded(own.encode(system + text), PADDING), worldOf(own, values));
  expect(spans.origin).toEqual({ kind: 'dataset', example: 778, form: 'messages' });
});

test('labels of the data say what is trained', () => {
  const spans = spansOf(
    padded([5, 6, 7], PADDING),
    worldOf(own, [{ input_ids: [5, 6, 7], labels: [-100, -100, 7] }]),
  );
  expect(spans.expected).toEqual([false, false, false, true, false]);
});

test('a row that begins with a prompt is not the cut end of an answer that reads the same', () => {
  const pair = { prompt: ' the very same words', completion: ' and the very same words' };
  const data = worldOf(own, [pair, { ...pair, completion: ' ' }]);
  // The trainer strips the answer: what is left is the prompt, which is also how the other row ends.
  const ids = [...own.encode(pair.prompt), own.eosTokenId ?? 0];
  const spans = spansOf(padded(ids, PADDING), data);
  expect(spans.expected.filter((each) => each === true)).toEqual([]);
});
