import { expect, test } from 'vitest';
import { differenceSentences } from '../../src/report/twin/twin.ts';

test.each([
  [-4.1961, -4.2049, '-4.2 instead of -4.2', '-4.205 instead of -4.196'],
  [-4.19, -4.33, '', '-4.33 instead of -4.19'],
  [0.0833, 0.0833, '', '0.0833 instead of 0.0833'],
])('two values are told apart: %d, %d', (before, after, never, told) => {
  const row = {
    ids: [5, 6],
    row: 0,
    forward: 0,
    tokens: [],
    rank: 0,
    outputs: new Map(),
    unmasked: undefined,
  };
  const sentences = differenceSentences(
    {
      what: 'logprobs',
      step: 0,
      token: {
        logprob: Math.abs(before - after),
        weight: 0,
        rows: [row, row],
        tokens: [
          { at: 1, target: 6, logprob: before, weight: 1 },
          { at: 1, target: 6, logprob: after, weight: 1 },
        ],
      },
      explained: 1e-5,
      tokens: 1,
      of: 1,
    },
    String,
  ).join(' ');
  expect(sentences).toContain(told);
  if (never !== '') expect(sentences).not.toContain(never);
});
