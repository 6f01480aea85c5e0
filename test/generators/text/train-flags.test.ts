// Conversations with train flags: what is drawn, and what is written on the wire.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  flaggedBatch,
  flaggedDialogue,
  flagLabels,
  withFlags,
} from '../../../src/generators/text/train-flags.ts';

describe('a flagged dialogue', () => {
  test('has one flag for each message, and never all answers turned off', () => {
    fc.assert(
      fc.property(flaggedDialogue(), ({ messages, says }) => {
        expect(says.length).toBe(messages.length);
        expect(messages.some(({ role }, at) => role === 'assistant' && says[at] !== 'off')).toBe(true);
      }),
    );
  });

  test('exercises what the labels name', () => {
    const seen = new Set(
      fc
        .sample(flaggedDialogue(), { numRuns: 200, seed: 1 })
        .flatMap(({ messages, says }) => flagLabels(messages, says)),
    );
    for (const label of [
      'an answer turned off',
      'an answer after one turned off',
      'a flag that is null',
      'another role turned on',
    ])
      expect(seen).toContain(label);
  });

  test('of a batch, each conversation has its own', () => {
    fc.assert(
      fc.property(flaggedBatch(), ({ conversations, says }) => {
        expect(says.map((row) => row.length)).toEqual(conversations.map((row) => row.length));
      }),
    );
  });
});

test('the flag has the name that the trainer reads; a weight is a number, the others are true or false', () => {
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
    { role: 'user', content: 'c' },
    { role: 'assistant', content: 'd' },
  ] as const;
  const says = ['unset', 'off', 'null', 'on'] as const;
  const of = (name: 'loss' | 'weight') =>
    withFlags(messages, says, name).map((message) => ('loss' in message ? message.loss : message.weight));
  expect(of('loss')).toEqual([undefined, false, null, true]);
  expect(of('weight')).toEqual([undefined, 0, null, 1]);
});
