// A mask of several turns that is wrong in one of them: the failure names that turn.
import { expect, test } from 'vitest';
import { turnRules } from '../../../properties/text/labels-of-turns.ts';
import type { TrainingRow } from '../../../properties/text/training-row.ts';
import type { Ids, Message, Semantics } from '../../../src/index.ts';

const [STOP, HEADER] = [9, 3];
const TURNS = [
  ['user', [11]],
  ['assistant', [21, 22]],
  ['user', [12]],
  ['assistant', [23]],
  ['user', [13]],
  ['assistant', [24, 25]],
] as const;
const messages = TURNS.map(([role], at): Message => ({ role, content: String(at) }));

/** A question is [1, id, 2]; an answer stands behind a header and ends with a stop token. */
const idsOf = (some: readonly Message[], prompted: boolean): Ids => [
  ...some.flatMap(({ content }) => {
    const [role, ids] = TURNS[Number(content)] ?? TURNS[0];
    return role === 'user' ? [1, ...ids, 2] : [HEADER, ...ids, STOP];
  }),
  ...(prompted ? [HEADER] : []),
];
const ids = idsOf(messages, false);

/** Columns of the answers, stop tokens included. */
const ANSWERS = [
  [4, 5, 6],
  [11, 12],
  [17, 18, 19],
];

/** What the rule says where these columns are trained. */
async function said(name: string, columns: readonly number[], target: Semantics['sft_target'] = 'assistant') {
  const hello = { ops: {}, tokens: { vocab_size: 30, pad_token_id: 0, eos_token_ids: [STOP] } };
  const row = {
    subject: { hello, semantics: { sft_target: target }, tokenizer: undefined },
    dialogue: { messages, template: null },
    ids,
    labels: ids.map((id, column) => (columns.includes(column) ? id : -100)),
    trains: 'SFT',
    idsOf: async (some: readonly Message[], prompted: boolean) => idsOf(some, prompted),
  } as unknown as TrainingRow;
  return (await turnRules.find((rule) => rule.name === name)?.check(row))?.sentence;
}

const without = (...out: number[]): number[] => ANSWERS.flat().filter((column) => !out.includes(column));

test('right masks are right', async () => {
  expect(await said('every-answer-is-trained', without())).toBeUndefined();
  expect(await said('only-answers-are-trained', without())).toBeUndefined();
  expect(await said('only-answers-are-trained', [17, 18, 19], 'last-assistant')).toBeUndefined();
});

test.each([
  ['the first answer is left out', without(4, 5, 6), /answer 1 of 3, .*; every other answer is trained\.$/],
  ['a stop token in the middle', without(12), /answer 2 of 3, .*; every other answer is trained\.$/],
  ['the last stop token', without(19), /answer 3 of 3, .*; every other answer is trained\.$/],
  ['all stop tokens', without(6, 12, 19), /answer 1 of 3, but SFT does not train it\.$/],
  ['all but the last answer', [17, 18, 19], /answer 1 of 3, but SFT does not train it\.$/],
] as const)('untrained: %s', async (_, columns, sentence) => {
  expect(await said('every-answer-is-trained', columns)).toMatch(sentence);
});

test.each([
  [
    'the second question',
    [...without(), 8],
    'assistant',
    /before answer 2 of 3 and is not to be trained, .*; no other turn is wrong\.$/,
  ],
  [
    'a header',
    [...without(), 16],
    'assistant',
    /before answer 3 of 3 and is not to be trained, .*; no other turn is wrong\.$/,
  ],
  ['all questions', [...without(), 1, 8, 14], 'assistant', /before answer 1 of 3 .* trains on it\.$/],
  [
    'an earlier answer, where the last one is declared',
    [11, 17, 18, 19],
    'last-assistant',
    /belongs to answer 2 of 3 and is not to be trained, .*; no other turn is wrong\.$/,
  ],
] as const)('trained: %s', async (_, columns, target, sentence) => {
  expect(await said('only-answers-are-trained', columns, target)).toMatch(sentence);
});
