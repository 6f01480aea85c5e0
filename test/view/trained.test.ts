// What of a row is trained, beside what is meant: everything, answers, and each role's share; and rows that come twice.
import { describe, expect, test } from 'vitest';
import type { ViewOptions } from '../../src/view/row.ts';
import { scan } from '../../src/view/scan.ts';
import { flags, qwen, set, talk, written } from './rows.ts';

const right = written([...talk('One.', 'First?'), ...talk()]);
const { input_ids, labels, user } = right;

describe('everything is trained, the question as well', () => {
  const meant: ViewOptions = { ...qwen, trainOn: 'all' };
  const answers: ViewOptions = { ...qwen, trainOn: 'assistant' };
  test.each<[string, unknown]>([
    ['labels are the ids', { input_ids, labels: input_ids }],
    ['all but what stands first', { input_ids, labels: set(input_ids, 0, -100) }],
    ['a mask of ones', { input_ids, completion_mask: input_ids.map(() => 1) }],
    ['ids without labels', { input_ids }],
    ['a piece of a longer row', { input_ids: input_ids.slice(3, -3), labels: input_ids.slice(3, -3) }],
  ])('%s: a question that --train-on all answers', (_, value) => {
    expect(flags(value)).toEqual(['everything-trained']);
    expect(flags(value, meant)).toEqual([]);
  });

  test('a rendered text is noted, and judged as it is declared', () => {
    const text = qwen.tokenizer?.decode(input_ids);
    expect(flags({ text })).toEqual(['turns-in-text']);
    expect(flags({ text }, meant)).toEqual([]);
    expect(flags({ text }, answers)).toEqual([]);
    expect(flags({ text: 'Once upon a time.' })).toEqual([]);
  });

  test('ids without labels are trained as it is declared, or nothing can be said of them', () => {
    const shown = (options: ViewOptions) =>
      scan([{ number: 1, value: { input_ids } }], options, { most: 1 }).kept[0]?.row?.trained;
    expect(shown(answers)).toEqual(labels.map((label) => label !== -100));
    expect(shown(meant)).toEqual(input_ids.map(() => true));
    expect(flags({ input_ids: [5, 6, 7] }, answers)).toEqual(['unplaced']);
    expect(flags({ input_ids: [5, 6, 7] }, meant)).toEqual([]);
  });
});

describe('labels against --train-on', () => {
  const [first, last] = right.answers;
  const without = (range: { from: number; to: number } | undefined) =>
    labels.map((label, at) => (range !== undefined && at >= range.from && at < range.to ? -100 : label));
  const middle = (last?.from ?? 0) + 1;
  test.each<[string, ViewOptions['trainOn'], readonly number[], string[]]>([
    ['all answers, as declared', 'assistant', labels, []],
    ['the last answer alone, as declared', 'last', without(first), []],
    ['every token, as declared', 'all', input_ids, []],
    ['an answer that is not trained', 'assistant', without(first), ['not-as-declared']],
    ['the last answer is not trained', 'assistant', without(last), ['not-as-declared']],
    ['an earlier answer is trained', 'last', labels, ['not-as-declared']],
    ['a hole in an answer', 'assistant', set(labels, middle, -100), ['not-as-declared']],
    ['a token that is not trained', 'all', set(input_ids, user, -100), ['not-as-declared', 'prompt-trained']],
    ['everything, against answers', 'assistant', input_ids, ['everything-trained']],
  ])('%s', (_, trainOn, given, expected) => {
    const options: ViewOptions = { ...qwen, ...(trainOn === undefined ? {} : { trainOn }) };
    expect(flags({ input_ids, labels: given }, options).sort()).toEqual(expected);
  });
});

describe('pairs whose halves are one', () => {
  const noted = (value: unknown, maxLength?: number): string[] =>
    flags(value, maxLength === undefined ? qwen : { ...qwen, maxLength });

  test('are noted: of texts, of messages, and where the length limit makes them one', () => {
    expect(noted({ prompt: 'The sky is', chosen: ' blue.', rejected: ' blue.' })).toEqual(['pair-of-one']);
    expect(noted({ prompt: talk().slice(0, 1), chosen: talk().slice(1), rejected: talk().slice(1) })).toEqual(
      ['pair-of-one'],
    );
    const long = { prompt: 'The sky is', chosen: ' blue, I say.', rejected: ' blue, I know.' };
    expect(noted(long)).toEqual([]);
    expect(noted(long, 5)).toContain('pair-of-one');
  });

  test('other pairs are not', () => {
    expect(noted({ prompt: 'The sky is', chosen: ' blue.', rejected: ' blue' })).toEqual([]);
    expect(noted({ prompt: 'The sky is', chosen: ' blue.', rejected: ' Blue.' })).toEqual([]);
  });
});

describe('rows that come twice', () => {
  const counted = (...values: unknown[]) =>
    scan(
      values.map((value, at) => ({ number: at + 1, value })),
      qwen,
      { most: 3 },
    ).counts.map(({ id, first }) => [id, ...first]);

  test('are noted, by the number of the later one', () => {
    const row = { messages: talk() };
    expect(counted(row, { messages: talk('Hello?') }, row)).toEqual([['duplicate', 3]]);
    expect(
      counted({ input_ids: [5, 6], labels: [-100, 6] }, { input_ids: [5, 6], labels: [-100, 6] }),
    ).toEqual([['duplicate', 2]]);
  });

  test('rows that cannot be read are not', () => {
    const unread = { messages: [] };
    expect(counted(unread, unread, [], [])).toEqual([['unread', 1, 2, 3, 4]]);
  });

  test('rows that differ in one letter, or one label, are two', () => {
    expect(counted({ messages: talk('Hello.') }, { messages: talk('Hello!') })).toEqual([]);
    expect(counted({ input_ids: [5, 6], labels: [-100, 6] }, { input_ids: [5, 6] })).toEqual([]);
  });
});

describe('sums by role', () => {
  const sums = (value: unknown, options: ViewOptions = qwen) =>
    Object.fromEntries(
      scan([{ number: 1, value }], options, { most: 1 }).roles.map(({ name, tokens, trained }) => [
        name,
        [tokens, trained],
      ]),
    );

  test('of a conversation: who says what, and what the template writes', () => {
    const { user, assistant, template, ...others } = sums({ messages: talk('Hello there!', 'Hi') });
    expect(others).toEqual({});
    const words = (text: string): number => qwen.tokenizer?.encode(text).length ?? 0;
    expect(user).toEqual([words('Hi'), 0]);
    const answer = words('Hello there!<|im_end|>');
    expect(assistant).toEqual([answer, answer]);
    expect(template?.[1]).toBe(0);
  });

  test('of ids in which nothing is recognised, padding apart', () => {
    expect(
      sums({ input_ids: [5, 6, 7, 0], labels: [-100, 6, 7, -100], attention_mask: [1, 1, 1, 0] }),
    ).toEqual({ unknown: [3, 2], padding: [1, 0] });
  });

  test('they add up to all tokens', () => {
    const value = { prompt: 'The sky is', completion: ' blue.' };
    const { tokens, trained, roles } = scan([{ number: 1, value }], qwen, { most: 1 });
    const total = (of: 'tokens' | 'trained') => roles.reduce((sum, role) => sum + role[of], 0);
    expect([total('tokens'), total('trained')]).toEqual([tokens, trained]);
  });
});
