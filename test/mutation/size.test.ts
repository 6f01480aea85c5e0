import { expect, test } from 'vitest';
import { sizeOf } from './size.ts';

test('the rows of a case and the longest list in one of them', () => {
  expect(sizeOf({ prompts: [[1], [2, 3]], completions: [[4, 5, 6], []], stops: [7] })).toEqual({
    rows: 2,
    tokens: 3,
  });
});

test('the logits of a token are one token', () => {
  const tokens = [{ id: 1, logits: [0, 0, 0, 0, 0] }];
  expect(sizeOf({ vocabulary: 5, rows: [{ prompt: 1, tokens }] })).toEqual({ rows: 1, tokens: 1 });
});

test('a case without rows is one row', () => {
  expect(sizeOf({ messages: [{ role: 'user', content: 'hi' }], tail: [1, 2] })).toEqual({
    rows: 1,
    tokens: 2,
  });
  expect(sizeOf({ value: 3 })).toEqual({ rows: 1, tokens: 0 });
});
