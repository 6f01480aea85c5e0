import { expect, test } from 'vitest';
import { estimateOf, liveLine } from '../../src/report/live.ts';
import { failure, result } from './results.ts';

const facts = {
  place: '3 of 31',
  id: 'mask/prompt-is-never-trained',
  done: 41,
  total: 100,
  elapsed: 17.8,
  left: 12_000,
};

test('the line says which property, how far, how fast and how long', () => {
  expect(liveLine(facts, 100)).toBe(
    '3 of 31  mask/prompt-is-never-trained  41/100 cases, 2,303 a second, about 12 s left',
  );
});

test.each([
  [80, '3 of 31  mask/prompt-is-never-trained  41/100 cases, about 12 s left'],
  [64, '3 of 31  mask/prompt-is-never-trained  41/100, about 12 s left'],
  [50, '3 of 31  mask/prompt-is-never-trained  41/100'],
  [40, '3 of 31  mask/prompt-is-never-trained'],
  [30, '3 of 31  mask/prompt-is-never…'],
])('in %i columns it says what fits', (width, line) => {
  expect(liveLine(facts, width)).toBe(line);
});

test('while a failure is made smaller it says so, and no rate of cases', () => {
  const shrinking = { ...facts, left: undefined, shrinks: 9 };
  expect(liveLine(shrinking, 100)).toBe(
    '3 of 31  mask/prompt-is-never-trained  fails; shrinking: 9 smaller cases',
  );
  expect(liveLine(shrinking, 50)).toBe('3 of 31  mask/prompt-is-never-trained  shrinking');
});

test.each([
  [400, 'about 1 s left'],
  [17_000, 'about 20 s left'],
  [59_000, 'about 1 min left'],
  [250_000, 'about 4 min left'],
  [7_900_000, 'about 2 h 10 min left'],
])('%i ms are %s', (left, words) => {
  expect(liveLine({ ...facts, left }, 200)).toContain(words);
});

test('nothing is said of the time left before there is something to go by', () => {
  const estimate = estimateOf(['a', 'b', 'c', 'd', 'e']);
  for (const id of ['a', 'b']) {
    estimate.add(result({ id, milliseconds: 2_000 }));
    expect(estimate.left(0, 0)).toBeUndefined();
  }
  estimate.add(result({ id: 'c', milliseconds: 2_000 }));
  // One in hand, one to come.
  expect(estimate.left(0, 0)).toBe(4_000);
  expect(estimate.left(0.5, 500)).toBe(2_500);
});

test('properties that will not run take no time, and shrinking says nothing about the others', () => {
  const estimate = estimateOf(['a', 'b', 'c', 'x', 'f', 'd'], new Set(['a', 'b', 'c', 'f', 'd']));
  for (const id of ['a', 'b', 'c']) estimate.add(result({ id, milliseconds: 1_000 }));
  estimate.add(result({ id: 'x', verdict: 'unsupported', milliseconds: 0 }));
  estimate.add(result({ id: 'f', verdict: 'fail', failure: failure(), milliseconds: 60_000 }));
  expect(estimate.left(0, 0)).toBe(1_000);
});
