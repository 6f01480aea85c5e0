// `view --config` on configurations of ms-swift: its rows are those of ms-swift, and what it flags stops it or does nothing.
import { expect, test } from 'vitest';
import { families, familyFolder, loadTokenizer } from '../../../src/tokenizers/load.ts';
import { knownOf } from '../../../src/view/config/known.ts';
import { missingToken, type SwiftTemplate } from '../../../src/view/config/ms-swift/rows.ts';
import { compare, type Flagged, TALKS } from './compared.ts';
import type { Case } from './rows.ts';

const turn = (role: string, content: string) => ({ role, content });
const said = (from: string, value: string) => ({ from, value });
const PLAIN = TALKS.map(({ messages }) => ({ messages: messages.filter(({ role }) => role !== 'system') }));
const SHAREGPT = [
  { conversations: [said('human', 'Hi'), said('gpt', 'Hello there!')], system: 'Be brief.' },
  { conversations: [said('human', 'Hi'), said('gpt', 'Ho'), said('human', 'Hum'), said('gpt', 'Ha')] },
];
const FLAGGED = [
  {
    messages: [
      turn('user', 'Hi'),
      { ...turn('assistant', 'Hello'), loss: false },
      turn('user', 'Ho'),
      { ...turn('assistant', 'Hum'), loss: true },
    ],
  },
];

type Settings = Readonly<Record<string, unknown>>;
const sft = (config: Settings = {}, rows: readonly unknown[] = TALKS): Case => ({
  config: { model: 'qwen', template: 'qwen', dataset: './rows.jsonl', tuner_type: 'lora', ...config },
  files: { 'rows.jsonl': rows },
});

const RIGHT: Readonly<Record<string, Case>> = {
  messages: sft(),
  'in-a-list': sft({ dataset: ['./rows.jsonl'] }),
  llama3: sft({ model: 'llama3', template: 'llama3' }),
  gemma: sft({ model: 'gemma', template: 'gemma' }),
  chatml: sft({ template: 'chatml' }),
  sharegpt: sft({}, SHAREGPT),
  'another-system': sft({ system: 'Be kind.' }),
  'the-last-answer': sft({ loss_scale: 'last_round' }),
  everything: sft({ loss_scale: 'all' }),
  'flags-of-messages': sft({}, FLAGGED),
  deleted: sft({ max_length: 40 }),
  'cut-at-the-end': sft({ max_length: 30, truncation_strategy: 'right' }),
  'cut-at-the-front': sft({ max_length: 30, truncation_strategy: 'left' }),
  alpaca: sft({}, [
    { instruction: 'Add.', input: '1 and 2', output: '3' },
    { instruction: 'Say something.', input: '', output: 'Something.' },
  ]),
  'questions-and-answers': sft({}, [{ query: 'Why?', response: 'So.' }]),
  'with-a-history': sft({}, [
    { query: 'Why?', response: 'So.', history: [['Hi', 'Ho']], system: 'Be brief.' },
  ]),
  'with-other-columns': sft({}, [{ question: 'Why?', answer: 'So.' }]),
  packed: sft({ packing: true, max_length: 100 }),
};

/** Every template of text whose marks a family of tokenizers has. */
const TEMPLATES: Readonly<Record<string, Case>> = Object.fromEntries(
  Object.entries(knownOf('ms-swift').templates).flatMap(([name, given]) => {
    const template = given as SwiftTemplate & { readonly text: boolean };
    if (!template.text) return [];
    const own = families.find((each) => {
      const loaded = loadTokenizer(familyFolder(each));
      return 'tokenizer' in loaded && missingToken(template, loaded.tokenizer) === undefined;
    });
    const system = template.systemPrefix !== null || template.systemPrompt !== null;
    const rows = template.chatSep === null ? PLAIN.slice(0, 1) : system ? TALKS : PLAIN;
    return own === undefined ? [] : [[`template-${name}`, sft({ model: own, template: name }, rows)]];
  }),
);

/** A setting that does nothing: the rows are those of the same file without it. */
const IDLE: Flagged = {
  'the-length-of-no-pack': ['packing_length', sft({ packing_length: 20 })],
};
/** A setting with which ms-swift stops. */
const STOPS: Flagged = {
  'an-unknown-key': ['max_lenght', sft({ max_lenght: 20 })],
  'no-such-scale': ['loss_scale', sft({ loss_scale: 'last_rond' })],
  'no-such-strategy': ['truncation_strategy', sft({ truncation_strategy: 'cut', max_length: 20 })],
  'split-rows': ['truncation_strategy', sft({ truncation_strategy: 'split', max_length: 20 })],
};

test('many templates are among them', () => {
  expect(Object.keys(TEMPLATES).length).toBeGreaterThan(25);
});

const made = compare('swift', 'ms-swift', {
  right: { ...RIGHT, ...TEMPLATES },
  idle: IDLE,
  stops: STOPS,
  bare: () => sft(),
  more: {
    'rows-left-out': sft({}, [...PLAIN, { messages: [turn('narrator', 'Hi'), turn('assistant', 'Ho')] }]),
  },
});

test('no row of a right configuration is flagged', async () => {
  for (const name of Object.keys(RIGHT))
    if (!name.includes('cut')) expect([name, (await made().ours(name)).flags]).toEqual([name, []]);
});

test('a row that ms-swift takes out is flagged', async () => {
  const { rows, flags } = await made().ours('rows-left-out');
  expect(made().theirs.get('rows-left-out')).toEqual({ rows });
  expect(flags).toEqual(['left-out']);
});
