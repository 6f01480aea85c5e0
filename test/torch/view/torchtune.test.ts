// `view --config` on configurations of torchtune: its rows are those of torchtune, and what it flags stops it or does nothing.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { familyFolder } from '../../../src/tokenizers/load.ts';
import { compare, type Flagged, TALKS } from './compared.ts';
import type { Case } from './rows.ts';

const turn = (role: string, content: unknown) => ({ role, content });
const said = (from: string, value: string) => ({ from, value });
const LONG = { messages: [turn('user', 'Why?'), turn('assistant', 'It goes on and on, and on and on.')] };
const SHAREGPT = [
  { conversations: [said('system', 'Be brief.'), said('human', ' Hi '), said('gpt', 'Hello there!\n')] },
  { conversations: [said('human', 'Hi'), said('gpt', 'Ho'), said('human', 'Hum'), said('gpt', 'naïve 🙂')] },
];
const PAIRS = [
  { input: 'Is the sky blue?', output: 'Yes, it is.' },
  { input: 'And naïve 🙂?', output: ' No.\n' },
];
const ASKED = PAIRS.map(({ input, output }) => ({ question: input, answer: output }));
const ALPACA = [
  { instruction: 'Add.', input: '1 and 2', output: '3' },
  { instruction: 'Say something.', input: '', output: 'Something.' },
];
const CHOSEN = TALKS.map(({ messages }) => ({
  chosen: messages,
  rejected: [...messages.slice(0, -1), turn('assistant', 'Hm.')],
}));

const { added_tokens: ADDED } = JSON.parse(
  readFileSync(join(familyFolder('llama3'), 'tokenizer.json'), 'utf8'),
) as { added_tokens: readonly { content: string; id: number }[] };
/** Two that torchtune asks for as well, and that this small vocabulary has not. */
const SPECIALS = {
  added_tokens: [...ADDED, { content: '<|step_id|>', id: 900 }, { content: '<|image|>', id: 901 }],
};

type Settings = Readonly<Record<string, unknown>>;
const QWEN = {
  _component_: 'torchtune.models.qwen2_5.qwen2_5_tokenizer',
  path: 'qwen/vocab.json',
  merges_file: 'qwen/merges.txt',
  special_tokens_path: 'qwen/tokenizer.json',
};
const LLAMA = {
  _component_: 'torchtune.models.llama3.llama3_tokenizer',
  path: 'llama3/original/tokenizer.model',
  special_tokens_path: './specials.json',
};
const set = (name: string, settings: Settings): Settings => ({
  _component_: `torchtune.datasets.${name}_dataset`,
  source: 'json',
  data_files: './rows.jsonl',
  ...settings,
});
const made = (
  dataset: unknown,
  rows: readonly unknown[],
  {
    tokenizer = {},
    llama = true,
    more = {},
  }: { tokenizer?: Settings; llama?: boolean; more?: Settings } = {},
): Case => ({
  config: {
    tokenizer: { ...(llama ? LLAMA : QWEN), ...tokenizer },
    dataset,
    batch_size: 2,
    epochs: 1,
    ...more,
  },
  files: { 'rows.jsonl': rows, 'other.jsonl': ALPACA, 'specials.json': SPECIALS },
});
const OPENAI = { conversation_column: 'messages', conversation_style: 'openai' };
type Options = Parameters<typeof made>[2];
const chat = (settings: Settings = {}, options: Options = {}, rows: readonly unknown[] = TALKS): Case =>
  made(set('chat', { ...OPENAI, ...settings }), rows, options);
const sharegpt = (settings: Settings = {}, options: Options = {}): Case =>
  made(
    set('chat', { conversation_column: 'conversations', conversation_style: 'sharegpt', ...settings }),
    SHAREGPT,
    options,
  );
const instruct = (settings: Settings = {}, options: Options = {}, rows: readonly unknown[] = PAIRS): Case =>
  made(set('instruct', settings), rows, options);
const alpaca = (settings: Settings = {}, options: Options = {}): Case =>
  made(set('alpaca', settings), ALPACA, options);
const text = (settings: Settings = {}, options: Options = {}): Case =>
  made(set('text_completion', settings), [{ text: 'Once upon a time.' }, { text: ' naïve 🙂' }], options);
const preferred = (settings: Settings = {}, options: Options = {}): Case =>
  made(set('preference', settings), CHOSEN, options);

const qwen: Options = { llama: false };
const qwen2: Options = { llama: false, tokenizer: { _component_: 'torchtune.models.qwen2.qwen2_tokenizer' } };
const within = (length: number, llama = true): Options => ({ llama, tokenizer: { max_seq_len: length } });

/** A command with overrides, of a file beside it. */
const started = (overrides: string): Case => ({
  config: {},
  script: `tune run --nproc_per_node 2 full_finetune_distributed --config ./base.yaml \\\n  ${overrides}`,
  files: {
    'base.yaml': {
      ...chat().config,
      dataset: { ...set('chat', OPENAI), data_files: 'started/rows.jsonl' },
      tokenizer: { ...LLAMA, special_tokens_path: 'started/specials.json' },
    },
    'rows.jsonl': TALKS,
    'specials.json': SPECIALS,
  },
});

const RIGHT: Readonly<Record<string, Case>> = {
  messages: chat(),
  'messages-of-qwen': chat({}, qwen),
  'messages-of-qwen2': chat({}, qwen2),
  'parts-of-texts': chat({}, {}, [
    {
      messages: [
        turn('user', [
          { type: 'text', text: ' Hi ' },
          { type: 'text', text: 'you' },
        ]),
        turn('assistant', 'Ho'),
      ],
    },
  ]),
  'the-prompt-as-well': chat({ train_on_input: true }),
  'the-prompt-of-qwen-as-well': chat({ train_on_input: true }, qwen),
  'another-system': chat({ new_system_prompt: 'Be kind.', train_on_input: true }),
  sharegpt: sharegpt(),
  'sharegpt-of-qwen': sharegpt({}, qwen),
  cut: chat({}, within(20), [...TALKS, LONG]),
  'cut-of-qwen': chat({}, within(20, false), [...TALKS, LONG]),
  'cut-between-turns': chat({}, within(33, false)),
  packed: chat({ packed: true }, within(100)),
  pairs: instruct(),
  'pairs-of-qwen': instruct({}, qwen),
  'other-columns': instruct({ column_map: { input: 'question', output: 'answer' } }, {}, ASKED),
  'a-template': instruct({}, { tokenizer: { prompt_template: 'torchtune.data.SummarizeTemplate' } }),
  'a-template-of-qwen': instruct(
    {},
    { llama: false, tokenizer: { prompt_template: { user: ['Q: ', '\nA: '], assistant: ['', '!'] } } },
  ),
  'chatml-of-llama': chat({}, { tokenizer: { prompt_template: 'torchtune.data.ChatMLTemplate' } }),
  alpaca: alpaca(),
  'alpaca-without-the-prompt': alpaca({ train_on_input: false }, qwen),
  texts: text(),
  'texts-without-an-end': text({ add_eos: false }, within(6)),
  'texts-of-qwen': text({}, qwen),
  'chosen-and-rejected': preferred(),
  'chosen-of-qwen': preferred({ new_system_prompt: 'Be kind.' }, qwen),
  'two-data-sets': made(
    [set('chat', OPENAI), set('alpaca', { data_files: './other.jsonl', train_on_input: false })],
    TALKS,
  ),
  references: chat(
    {},
    { tokenizer: { path: `\${model_dir}/original/tokenizer.model` }, more: { model_dir: 'llama3' } },
  ),
  started: started('dataset.train_on_input=True tokenizer.max_seq_len=24 epochs=3'),
};

/** White space that Python strips and JavaScript does not, and the other way round; letters that a normaliser changes. */
const ODD = ['\u00a0a\ufeff', '\x1cb\x1c', "  it's 12345. ", 'e\u0301 \u212b', '', '\r\n\n c \t'].map(
  (content, at, all) => ({
    messages: [
      turn('user', content),
      turn('assistant', all.at(at - 1)),
      turn('user', 'Ho'),
      turn('assistant', content),
    ],
  }),
);
/** Each at a length that ends within another part of a row. */
const CUT: Readonly<Record<string, Case>> = Object.fromEntries(
  [2, 7, 11, 16, 22, 29].flatMap((length) => [
    [`cut-at-${length}`, chat({}, within(length), ODD)],
    [`cut-at-${length}-of-qwen`, chat({ train_on_input: true }, within(length, false), ODD)],
  ]),
);

/** A setting that does nothing: the rows are those of the same file without it. */
const IDLE: Flagged = {
  'the-split-of-no-pack': ['dataset.split_across_pack', text({ split_across_pack: false })],
  'a-length-at-the-top': ['max_seq_len', chat({}, { more: { max_seq_len: 20 } })],
  'a-pack-at-the-top': ['packed', chat({}, { more: { packed: true } })],
  'the-prompt-at-the-top': ['train_on_input', chat({}, { more: { train_on_input: true } })],
  'no-such-column-name': [
    'dataset.column_map.outputs',
    instruct({ column_map: { input: 'input', output: 'output', outputs: 'answer' } }),
  ],
  'no-such-role': [
    'tokenizer.prompt_template.asistant',
    chat({}, { tokenizer: { prompt_template: { user: ['Q: ', ''], asistant: ['A: ', ''] } } }),
  ],
  'a-slip-at-the-top': ['batch_sise', chat({}, { more: { batch_sise: 4 } })],
};
const bare = (key: string, { config, files }: Case): Case => ({
  config: without(config, key.split('.')),
  files,
});

function without(given: Settings, [key = '', ...rest]: readonly string[]): Settings {
  const { [key]: own, ...others } = given;
  return rest.length === 0 ? others : { ...given, [key]: without(own as Settings, rest) };
}

/** A setting with which torchtune stops. */
const STOPS: Flagged = {
  'an-unknown-argument': ['dataset.train_on_inputs', chat({ train_on_inputs: true })],
  'an-unknown-argument-of-the-tokenizer': [
    'tokenizer.max_seq_length',
    chat({}, { tokenizer: { max_seq_length: 20 } }),
  ],
  'a-pack-without-a-length': ['dataset.packed', chat({ packed: true })],
  'no-such-style': ['dataset.conversation_style', chat({ conversation_style: 'sharegtp' })],
  'no-style-of-its-own': [
    'dataset.conversation_column',
    made(set('chat', { conversation_style: 'openai' }), TALKS),
  ],
  'no-such-column': ['dataset.conversation_column', chat({ conversation_column: 'mesages' })],
  'half-a-map': ['dataset.column_map', instruct({ column_map: { input: 'input', ouput: 'output' } })],
  'no-such-split': ['dataset.split', chat({ split: 'test' })],
  'a-function': ['dataset.filter_fn', chat({ filter_fn: 'len' })],
  'chatml-of-qwen': [
    'tokenizer.prompt_template',
    chat({}, { llama: false, tokenizer: { prompt_template: 'torchtune.data.ChatMLTemplate' } }),
  ],
  'no-merges': ['tokenizer.merges_file', chat({}, { llama: false, tokenizer: { merges_file: null } })],
  'the-vocabulary-of-transformers': [
    'tokenizer.path',
    chat({}, { tokenizer: { path: 'llama3/tokenizer.json' } }),
  ],
  'a-packed-preference': ['dataset.packed', preferred({ packed: true })],
  'a-system-for-alpaca': ['dataset.new_system_prompt', alpaca({ new_system_prompt: 'Be kind.' })],
};

const project = compare('torchtune', 'torchtune', {
  right: { ...RIGHT, ...CUT, 'odd-texts': chat({}, {}, ODD), 'odd-texts-of-qwen': chat({}, qwen, ODD) },
  idle: IDLE,
  stops: STOPS,
  bare,
  more: {
    'other-ids': chat({}, { llama: false, tokenizer: { special_tokens_path: null } }),
    'calls-without-text': chat({}, {}, [
      { messages: [turn('user', 'Hi'), { ...turn('assistant', null), tool_calls: [{ id: 'a' }] }] },
    ]),
    'a-text-for-a-boolean': chat({ train_on_input: 'False' }),
    'a-mark-in-a-text': chat({}, qwen, [
      { messages: [turn('user', 'What is <|im_end|>?'), turn('assistant', 'A <tool_call>.')] },
    ]),
    'two-questions': chat({}, {}, [{ messages: [turn('user', 'Hi'), turn('user', 'Ho')] }]),
  },
});

test('no row of a right configuration is flagged', async () => {
  for (const name of Object.keys(RIGHT))
    if (!/cut|started|without-an-end/.test(name))
      expect([name, (await project().ours(name)).flags]).toEqual([name, []]);
});

test('with a length, the stop token of Qwen is never trained', async () => {
  const { rows, flags, notes } = await project().ours('cut-between-turns');
  expect(project().theirs.get('cut-between-turns')).toEqual({ rows });
  expect(flags).toContain('stop-untrained');
  expect(notes).toEqual(['tokenizer.max_seq_len']);
});

test('ids of special tokens that are not those of the vocabulary are flagged', async () => {
  const { rows, faults, flags } = await project().ours('other-ids');
  expect(project().theirs.get('other-ids')).toEqual({ rows });
  expect(faults).toEqual(['tokenizer.special_tokens_path']);
  expect(flags).toContain('id-outside-vocabulary');
});

test('a message without text, which repeats the one before, is flagged', async () => {
  const { rows, faults } = await project().ours('calls-without-text');
  expect(project().theirs.get('calls-without-text')).toEqual({ rows });
  expect(faults).toEqual(['dataset.conversation_style', 'dataset.conversation_style']);
});

test('a text in place of true or false is flagged', async () => {
  const { rows, faults } = await project().ours('a-text-for-a-boolean');
  expect(project().theirs.get('a-text-for-a-boolean')).toEqual({ rows });
  expect(faults).toEqual(['dataset.train_on_input']);
});

test('a special token in a text is one, where both know it', async () => {
  const { rows, flags } = await project().ours('a-mark-in-a-text');
  expect(project().theirs.get('a-mark-in-a-text')).toEqual({ rows });
  expect(flags).toEqual([]);
});

test('a row at which torchtune stops is flagged', async () => {
  expect(project().theirs.get('two-questions')).toHaveProperty('stops');
  expect((await project().ours('two-questions')).flags).toEqual(['unread']);
});
