// Marks that a user declares are read as a chat template's, or refused with a sentence.
import { expect, test } from 'vitest';
import { familyFolder, loadTokenizer } from '../../../src/tokenizers/load.ts';
import type { Tokenizer } from '../../../src/tokenizers/tokenizer.ts';
import { decodeMarks, withMarks } from '../../../src/trace/spans/declared-marks.ts';
import { spansOf, spanWorldOf } from '../../../src/trace/spans/spans.ts';

const rowOf = (ids: readonly number[]) => ({
  ids,
  real: ids.map(() => true),
  step: 0,
  rank: 0,
  forward: 0,
  row: 0,
});

function marked(marks: unknown, tokenizer?: Tokenizer): Tokenizer {
  const read = decodeMarks(marks);
  if ('problem' in read) throw new Error(read.problem);
  const made = withMarks(tokenizer, read.marks);
  if ('problem' in made) throw new Error(made.problem);
  return made.tokenizer;
}

function expectedOf(tokenizer: Tokenizer, ids: readonly number[]): readonly (boolean | undefined)[] {
  const row = rowOf(ids) as unknown as Parameters<typeof spansOf>[0];
  return spansOf(row, spanWorldOf({ tokenizer, generations: [] })).expected;
}

const IDS = { user: [11, 12], assistant: [13, 14], bos: 10 };

test('ids alone tell the answers and their stop tokens', () => {
  const tokenizer = marked(IDS);
  expect(tokenizer.bosTokenId).toBe(10);
  const [, ...rest] = expectedOf(tokenizer, [10, 11, 1, 2, 12, 13, 3, 4, 14]);
  expect(rest).toEqual([false, false, false, false, false, true, true, true]);
});

test('texts are those of the tokenizer that is known', () => {
  const loaded = loadTokenizer(familyFolder('qwen'));
  if ('problem' in loaded) throw new Error(loaded.problem);
  const marks = {
    user: ['<|im_start|>user\n', '<|im_end|>\n'],
    assistant: ['<|im_start|>assistant\n', '<|im_end|>\n'],
  };
  const tokenizer = marked(marks, { ...loaded.tokenizer, chatTemplate: undefined });
  const text = '<|im_start|>user\nAy<|im_end|>\n<|im_start|>assistant\nOh<|im_end|>';
  const ids = tokenizer.encode(text);
  const expected = expectedOf(tokenizer, ids);
  const answer = tokenizer.encode('Oh<|im_end|>').length;
  expect(expected.slice(-answer)).toEqual(Array(answer).fill(true));
  expect(expected.slice(0, -answer)).not.toContain(true);
});

test.each<[unknown, RegExp]>([
  [[], /no object/],
  [{ user: [1, 2] }, /nothing of assistant/],
  [{ assistant: [1] }, /two marks/],
  [{ assistant: [1, -2] }, /two marks/],
  [{ bot: [1, 2] }, /"bot" is no role/],
  [{ assistant: [1, 2], bos: {} }, /bos is a text or an id/],
])('%j is refused', (marks, says) => {
  const read = decodeMarks(marks);
  expect('problem' in read ? read.problem : '').toMatch(says);
});

test('texts without a tokenizer, and words that anybody can write, are of no use', () => {
  const problemOf = (marks: unknown, tokenizer?: Tokenizer): string => {
    const read = decodeMarks(marks);
    if ('problem' in read) return read.problem;
    const made = withMarks(tokenizer, read.marks);
    return 'problem' in made ? made.problem : '';
  };
  const loaded = loadTokenizer(familyFolder('qwen'));
  if ('problem' in loaded) throw new Error(loaded.problem);
  expect(problemOf({ assistant: ['<|a|>', '<|b|>'] })).toMatch(/no tokenizer is known/);
  expect(problemOf({ assistant: ['Assistant: ', '\n'] }, loaded.tokenizer)).toMatch(/no special token/);
  expect(problemOf({ assistant: [1_000_000, 2] }, loaded.tokenizer)).toMatch(/has no id 1000000/);
});
