// The tokenizers, templates, collation and sampling of the harness held to golden/transformers.
import { describe, expect, test } from 'vitest';
import { families } from '../../src/tokenizers/load.ts';
import { difference } from './compare.ts';
import { COMPUTATIONS } from './computations.ts';
import { decoded, type Fields, type GoldenEntry, goldenFiles } from './files.ts';
import { TEXT_COMPUTATIONS } from './transformers-computations.ts';

const files = goldenFiles('transformers');
const ofKind = (compute: string): GoldenEntry[] =>
  files.flatMap(({ entries }) => entries).filter((entry) => entry.compute === compute);

describe.each(files)('golden/$name', ({ entries }) => {
  test.each(entries.map((entry) => [entry.id, entry] as const))('%s', (_, entry) => {
    const { compute, input, answer } = entry;
    // Texts stay as they are: a content of digits is not a number.
    const text = TEXT_COMPUTATIONS[compute];
    if (text !== undefined) expect(difference(text(input), answer), entry.how).toBeUndefined();
    else
      expect(
        difference(COMPUTATIONS[compute]?.(decoded(input) as Fields), decoded(answer)),
        entry.how,
      ).toBeUndefined();
  });
});

test('every family is there, and conversations that some templates refuse', () => {
  const chats = ofKind('chat');
  expect(new Set(chats.map(({ input }) => input.family))).toEqual(new Set(families));
  const refused = chats.filter(({ answer }) => 'refused' in (answer.row as Fields));
  expect(refused.map(({ id }) => id).sort()).toEqual([
    'gemma-tool-answers',
    'gemma-two-questions-in-a-row',
    'mistral-tool-answers',
    'mistral-two-questions-in-a-row',
  ]);
});

test('masks give the assistant something and never everything, an empty answer aside', () => {
  for (const { id, answer } of ofKind('assistant-mask')) {
    const marked = new Set(answer.assistant_masks as number[]);
    if (id === 'mistral-empty-answer') expect([...marked]).toEqual([0]);
    else expect([...marked].sort()).toEqual([0, 1]);
  }
});

test('the mask of transformers loses the end of an answer whose last character is several tokens', () => {
  const losing = ofKind('assistant-mask').filter(({ answer }) => (answer.lost as number[]).length > 0);
  // In the other two templates the stop token is the last of what is marked.
  expect(losing.map(({ id }) => id)).toEqual(['mistral-letters']);
});

test('the collator of transformers loses the stop token where it is the padding too, and nowhere else', () => {
  const lost = ofKind('language-modelling').map(({ id, answer }) => [id, answer.lost]);
  expect(Object.fromEntries(lost)).toMatchObject({
    'language-modelling-qwen-left': 0,
    'language-modelling-llama3-right': 0,
    'language-modelling-deepseek-left': 2,
    'language-modelling-deepseek-right': 2,
  });
});

test('a template with one line end less, and a label moved by one, would be seen', () => {
  const [chat] = ofKind('chat');
  const [collated] = ofKind('padded-labels');
  if (chat === undefined || collated === undefined) throw new Error('golden/transformers lacks a kind');
  const { row, prompt } = chat.answer as { row: { text: string; ids: number[] }; prompt: Fields };
  const shorter = { row: { ...row, text: row.text.replace('\n', '') }, prompt };
  expect(difference(TEXT_COMPUTATIONS.chat?.(chat.input), shorter)).toMatch(/answer\.row\.text/);
  const labels = (collated.answer.labels as number[][]).map((each) => [...each.slice(1), -100]);
  expect(
    difference(TEXT_COMPUTATIONS['padded-labels']?.(collated.input), { ...collated.answer, labels }),
  ).toMatch(/answer\.labels/);
});
