// A row that is cut at a length is asked about by the rule about lengths, and set aside by all others. What is wrong with a long row
// and is no cut is wrong.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Args, Hello, Message, ObjectTrainerSpec, Ok, Semantics } from '../../../src/index.ts';
import { legal, repeat } from '../../conformance/legal.ts';
import {
  batching,
  cutting,
  headOf,
  pairing,
  rowOf,
  tailBehindFirst,
  tailOf,
  tokenizing,
} from '../../conformance/text/cut-rows.ts';
import { judgedBy } from './judged.ts';

type Ops = ObjectTrainerSpec['ops'];

const words = (many: number): string =>
  repeat(0, many)
    .map(() => 'river')
    .join(' ');
/** Two turns, of which each message has hundreds of tokens. */
const LONG: readonly Message[] = [
  { role: 'user', content: words(300) },
  { role: 'assistant', content: words(200) },
  { role: 'user', content: words(250) },
  { role: 'assistant', content: words(150) },
];
const DIALOGUE = { messages: LONG, template: null };
const BATCH = { conversations: [LONG], side: null, pad: null };
const [CHOSEN, REJECTED] = [words(150), words(140)];
const PAIRS = { prompts: [LONG.slice(0, -1)], chosen: [CHOSEN], rejected: [REJECTED] };

const TOKENIZE = [
  'tokenize/generation-prompt-begins-the-training-row',
  'tokenize/sft-and-rl-tokenize-the-same-prompt',
  'tokenize/sft-ids-are-the-rendered-template',
  'tokenize/rl-ids-are-the-rendered-template',
  'tokenize/answer-is-trained',
  'tokenize/stop-token-is-trained',
];
const IN_BATCHES = ['sft-batch/rows-are-the-conversations'];
const IN_PAIRS = ['preference/of-conversations-rows-are-the-conversations'];

async function verdicts(
  ids: readonly string[],
  given: unknown,
  ops: Ops,
  declared: Partial<Hello> = {},
): Promise<Readonly<Record<string, string>>> {
  const { trainer, tokenizer } = cutting('cuts', ops, {});
  const { hello } = trainer;
  const own = legal('cuts', ops, { ...hello, ...declared, can: hello.ops }, tokenizer).trainer;
  const results = await judgedBy(
    ids,
    own,
    { given: () => fc.constant(given), coverage: {}, mostCases: 1 },
    tokenizer,
  );
  return Object.fromEntries(results.map(({ id, verdict }) => [id, verdict]));
}

const failing = (all: Readonly<Record<string, string>>): string[] =>
  Object.entries(all).flatMap(([id, verdict]) => (verdict === 'pass' || verdict === 'skipped' ? [] : [id]));

test.each<[string, readonly string[], unknown, Ops, Semantics]>([
  ['ends at token 512', TOKENIZE, DIALOGUE, { tokenize: tokenizing(headOf(512)) }, {}],
  [
    'ends at token 700, declared,',
    TOKENIZE,
    DIALOGUE,
    { tokenize: tokenizing(headOf(700)) },
    { cut_at: [700] },
  ],
  ['begins 300 tokens before its end', TOKENIZE, DIALOGUE, { tokenize: tokenizing(tailOf(300)) }, {}],
  ['has lost its middle', TOKENIZE, DIALOGUE, { tokenize: tokenizing(tailBehindFirst(128)) }, {}],
  [
    'is whole behind a prompt that is cut',
    TOKENIZE,
    DIALOGUE,
    { tokenize: tokenizing((row) => row, tailOf(100)) },
    {},
  ],
  ['of a batch ends at token 256', IN_BATCHES, BATCH, { sft_batch: batching(headOf(256)) }, {}],
  ['of a pair ends at token 800', IN_PAIRS, PAIRS, { preference_batch: pairing(headOf(800)) }, {}],
])('no other rule blames a row that %s', async (_, ids, given, ops, semantics) => {
  expect(failing(await verdicts(ids, given, ops, { semantics }))).toEqual([]);
});

const tokenizingAs =
  (change: (messages: readonly Message[]) => readonly Message[]) =>
  ({ messages, add_generation_prompt: prompt }: Args<'tokenize'>): Ok<'tokenize'> =>
    prompt ? { input_ids: rowOf(messages, true).input_ids } : rowOf(change(messages), false);

const CONSTANT = rowOf([...LONG, ...LONG], false);
const SPACED = {
  messages: [...LONG.slice(0, -1), { role: 'assistant', content: ` ${words(150)} ` }] as const,
  template: null,
};
const stripped = (messages: readonly Message[]): readonly Message[] =>
  messages.map((message) => ({ ...message, content: message.content.trim() }));

test.each<[string, readonly string[], unknown, Ops, Partial<Hello>]>([
  [
    'leaves out the last turn of a long conversation',
    TOKENIZE,
    DIALOGUE,
    { tokenize: tokenizingAs((messages) => messages.slice(0, 2)) },
    {},
  ],
  [
    'reads the first message alone',
    TOKENIZE,
    DIALOGUE,
    { tokenize: tokenizingAs((messages) => messages.slice(0, 1)) },
    {},
  ],
  ['is long and the same for every conversation', TOKENIZE, DIALOGUE, { tokenize: () => CONSTANT }, {}],
  ['strips what it was given', TOKENIZE, SPACED, { tokenize: tokenizingAs(stripped) }, {}],
  [
    'is cut to fewer tokens than anyone cuts at',
    TOKENIZE,
    DIALOGUE,
    { tokenize: tokenizing(tailOf(40)) },
    {},
  ],
  [
    'is cut below the length that its trainer declares to take',
    TOKENIZE,
    DIALOGUE,
    { tokenize: tokenizing(tailOf(300)) },
    { max_length: 2000 },
  ],
  [
    'of a batch leaves out the last turn',
    IN_BATCHES,
    BATCH,
    {
      sft_batch: ({ conversations, ...args }) =>
        batching((row) => row)({ ...args, conversations: conversations.map((all) => all.slice(0, 2)) }),
    },
    {},
  ],
])('a row that %s is wrong', async (_, ids, given, ops, declared) => {
  expect(failing(await verdicts(ids, given, ops, declared))).not.toEqual([]);
});
