// A length that rows are cut at is a question until it is declared; another one than is declared is wrong.
import { expect, test } from 'vitest';
import {
  type Args,
  type Ok,
  objectTrainer,
  type PropertyResult,
  reject,
  type Semantics,
} from '../../../src/index.ts';
import { judgedBy } from './judged.ts';

type Cut = (columns: readonly number[]) => readonly number[];

/** Each character is a token, and all of the answer is trained. */
async function judged(cut: Cut, semantics: Semantics = {}, max_length?: number): Promise<PropertyResult> {
  const tokenize = ({ messages }: Args<'tokenize'>): Ok<'tokenize'> => {
    const before = messages.slice(0, -1).map(({ content }) => content);
    const text = [...before, messages.at(-1)?.content].join('\n');
    const prompt = before.join('\n').length;
    const kept = cut([...text].map((_, at) => at));
    return {
      input_ids: kept.map((at) => text.charCodeAt(at)),
      labels: kept.map((at) => (at < prompt ? -100 : text.charCodeAt(at))),
    };
  };
  const trainer = objectTrainer({
    hello: {
      protocol: 1,
      name: 'cuts',
      ops: { tokenize: { route: ['sft'] } },
      semantics,
      ...(max_length === undefined ? {} : { max_length }),
    },
    ops: { tokenize },
  });
  const [result] = await judgedBy(['tokenize/long-conversations-are-whole'], trainer);
  if (result === undefined) throw new Error('nothing was judged');
  return result;
}

const said = ({ verdict, failure, reason }: PropertyResult) => ({
  verdict,
  sentence: failure?.finding?.sentence ?? reason,
  answers: failure?.finding?.answers,
});
const BOTH = 'A conversation of 4,200 words and one of 4,900 are both rows of';

test.each<[string, Cut, string]>([
  [
    'at its end',
    (ids) => ids.slice(0, 1024),
    '1024 tokens: the end of what is longer is cut off, and nothing of the row is trained.',
  ],
  ['at its beginning', (ids) => ids.slice(-1024), '1024 tokens: the beginning of what is longer is cut off.'],
  [
    'in its middle',
    (ids) => (ids.length <= 1024 ? ids : [...ids.slice(0, 512), ...ids.slice(-512)]),
    '1024 tokens: a part of what is longer is cut off.',
  ],
])('a row that is cut %s is a question, with its answer', async (_, cut, words) => {
  expect(said(await judged(cut))).toMatchObject({
    verdict: 'ask',
    sentence: `${BOTH} ${words}`,
    answers: ['"cut_at": [1024]  (it is meant)'],
  });
});

test('so is a long conversation that is left out in silence', async () => {
  expect(said(await judged((ids) => (ids.length > 1024 ? [] : ids)))).toMatchObject({
    verdict: 'ask',
    sentence: `${BOTH} 0 tokens: overlong conversations are left out without a message.`,
    answers: ['"cut_at": [0]  (it is meant)'],
  });
});

const at1024: Cut = (ids) => ids.slice(0, 1024);

test('declared, it holds; another length is a question, and wrong where none is declared', async () => {
  expect(said(await judged(at1024, { cut_at: [512, 1024] })).verdict).toBe('pass');
  expect(said(await judged(at1024, { cut_at: [2048] }))).toMatchObject({
    verdict: 'ask',
    answers: ['"cut_at": [2048,1024]  (it is meant)'],
  });
  expect(said(await judged(at1024, { cut_at: [] }))).toMatchObject({ verdict: 'fail', answers: undefined });
});

test('whole rows hold, and so do rows that are refused, by whatever error', async () => {
  expect(said(await judged((ids) => ids)).verdict).toBe('pass');
  const refusing = (refuse: () => never) => judged((ids) => (ids.length > 1024 ? refuse() : ids));
  expect(said(await refusing(() => reject('too long'))).verdict).toBe('pass');
  expect(
    said(
      await refusing(() => {
        throw new Error('index out of range');
      }),
    ).verdict,
  ).toBe('pass');
});

test('a trainer that is sent no long rows is not asked, and the report says why', async () => {
  expect(said(await judged(at1024, {}, 1024))).toMatchObject({
    verdict: 'unsupported',
    sentence: 'max_length is 1024: longer rows are never sent',
  });
});
