// `view --config` on configurations of axolotl: its rows are those of axolotl, and what it flags stops it or does nothing.
import { expect, test } from 'vitest';
import { compare, type Flagged, TALKS } from './compared.ts';
import type { Case } from './rows.ts';

const turn = (role: string, content: string) => ({ role, content });
const said = (from: string, value: string) => ({ from, value });
const SHAREGPT = [
  { conversations: [said('human', 'Hi'), said('gpt', 'Hello there!')], system: 'Be brief.' },
  {
    conversations: [said('human', 'Hi'), said('gpt', 'Ho'), said('human', 'Hum'), said('gpt', 'Ha')],
    system: '',
  },
];
const FLAGGED = [
  {
    messages: [
      turn('user', 'Hi'),
      { ...turn('assistant', 'Hello'), train: false },
      turn('user', 'Ho'),
      { ...turn('assistant', 'Hum'), train: true },
      { ...turn('user', 'Ha'), train: null },
      turn('assistant', 'Yes'),
    ],
  },
];
const ALPACA = [
  { instruction: 'Add.', input: '1 and 2', output: '3' },
  { instruction: 'Say something naïve 🙂', input: '', output: 'Something.' },
];
const BARE =
  "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}{% endfor %}";
const WITHOUT_END = "{% for m in messages %}{{ m['role'] + ': ' + m['content'] + '\\n' }}{% endfor %}";

type Settings = Readonly<Record<string, unknown>>;

function sft(config: Settings = {}, entry: Settings = {}, rows: readonly unknown[] = TALKS): Case {
  return {
    config: {
      base_model: 'qwen',
      micro_batch_size: 1,
      gradient_accumulation_steps: 1,
      num_epochs: 1,
      learning_rate: 0.0001,
      ...config,
      datasets: [{ path: './rows.jsonl', type: 'chat_template', ...entry }],
    },
    files: { 'rows.jsonl': rows },
  };
}

const sharegpt = (entry: Settings = {}): Case =>
  sft(
    {},
    {
      field_messages: 'conversations',
      message_property_mappings: { role: 'from', content: 'value' },
      ...entry,
    },
    SHAREGPT,
  );

const RIGHT: Readonly<Record<string, Case>> = {
  messages: sft(),
  'messages-of-llama': sft({ base_model: 'llama3' }),
  'messages-of-gemma': sft(
    { base_model: 'gemma', eot_tokens: ['<end_of_turn>'] },
    { roles_to_train: ['assistant'] },
    TALKS.slice(0, 1),
  ),
  'messages-of-mistral': sft({ base_model: 'mistral' }, {}, TALKS.slice(0, 1)),
  sharegpt: sharegpt(),
  'sharegpt-by-older-names': sft(
    {},
    { field_messages: 'conversations', message_field_role: 'from', message_field_content: 'value' },
    SHAREGPT,
  ),
  'roles-of-its-own': sft({}, { roles: { assistant: ['bot'], user: ['me'] }, roles_to_train: ['bot'] }, [
    { messages: [turn('me', 'Hi'), turn('bot', 'Hello')] },
  ]),
  'every-role': sft({ train_on_inputs: true }),
  'users-too': sft({}, { roles_to_train: ['assistant', 'user'] }),
  'every-end': sft({}, { train_on_eos: 'all' }),
  'the-last-end': sft({}, { train_on_eos: 'last' }),
  'no-end': sft({}, { train_on_eos: 'none' }),
  'flags-of-messages': sft({}, { message_field_training: 'train' }, FLAGGED),
  'flags-alone': sft({}, { message_field_training: 'train', roles_to_train: [] }, FLAGGED),
  'without-system': sft({}, { drop_system_message: true }),
  chatml: sft({ chat_template: 'chatml' }),
  'a-template-of-its-own': sft({ chat_template: 'jinja', chat_template_jinja: BARE }),
  'a-template-of-the-set': sft(
    { chat_template: 'chatml' },
    { chat_template: 'jinja', chat_template_jinja: './own.jinja' },
  ),
  'ends-of-turns': sft({ base_model: 'llama3', eot_tokens: ['<|eot_id|>'] }),
  'another-end': sft({ special_tokens: { eos_token: '<|endoftext|>' }, eot_tokens: ['<|im_end|>'] }),
  dropped: sft({ sequence_len: 40 }),
  truncated: sft({ sequence_len: 30, excess_length_strategy: 'truncate' }),
  'dropped-by-name': sft({ sequence_len: 40, excess_length_strategy: 'drop', min_sample_len: 3 }),
  packed: sft({ sample_packing: true, sequence_len: 100 }),
  alpaca: sft({}, { type: 'alpaca' }, ALPACA),
  'alpaca-with-bos': sft({ base_model: 'llama3' }, { type: 'alpaca' }, ALPACA),
  'alpaca-trained-whole': sft({ train_on_inputs: true }, { type: 'alpaca' }, ALPACA),
  completion: sft({}, { type: 'completion' }, [{ text: 'Once upon a time.' }]),
  'completion-of-a-column': sft({ base_model: 'llama3' }, { type: 'completion', field: 'story' }, [
    { story: 'The end.' },
  ]),
  'completion-in-parts': sft({ sequence_len: 8 }, { type: 'completion' }, [
    { text: 'word by word and so on '.repeat(4) },
  ]),
  segments: sft({}, { type: 'input_output' }, [
    {
      segments: [
        { label: false, text: 'a question' },
        { label: true, text: ' an answer<|im_end|>' },
      ],
    },
  ]),
  ids: sft({}, { type: '' }, [
    { input_ids: [5, 6, 7, 8], attention_mask: [1, 1, 1, 1], labels: [-100, -100, 7, 8] },
  ]),
  'two-sets': {
    config: {
      ...sft().config,
      datasets: [
        { path: './rows.jsonl', type: 'chat_template' },
        { path: './more.jsonl', type: 'alpaca' },
      ],
    },
    files: { 'rows.jsonl': TALKS, 'more.jsonl': ALPACA },
  },
  'a-folder': {
    config: { ...sft().config, datasets: [{ path: './data', type: 'chat_template', split: 'train' }] },
    files: { 'data/train.jsonl': TALKS },
  },
};
const OWN = RIGHT['a-template-of-the-set'];
if (OWN !== undefined) Object.assign(OWN.files, { 'own.jinja': BARE });

/** A setting that does nothing: the rows are those of the same file without it. */
const IDLE: Flagged = {
  'a-misspelt-key': ['sequence_length', sft({ sequence_length: 20 })],
  'a-key-of-an-entry': ['roles_to_train', sft({ roles_to_train: ['user'] })],
  'a-key-of-the-file': ['datasets[0].train_on_inputs', sft({}, { train_on_inputs: true })],
  'tools-of-another-column': [
    'datasets[0].field_tools',
    sft(
      {},
      { field_tools: 'functions' },
      TALKS.map((row) => ({ ...row, functions: [{ name: 'f' }] })),
    ),
  ],
  'a-system-text-for-no-template': ['default_system_message', sft({ default_system_message: 'Be kind.' })],
  'a-system-text-for-chatml': [
    'default_system_message',
    sft({ default_system_message: 'Be kind.', chat_template: 'chatml' }),
  ],
  'roles-of-alpaca': [
    'datasets[0].roles_to_train',
    sft({}, { type: 'alpaca', roles_to_train: ['user'] }, ALPACA),
  ],
  'flags-that-no-message-has': [
    'datasets[0].message_field_training',
    sft({}, { message_field_training: 'train' }),
  ],
  'an-end-that-is-not-written': ['eot_tokens', sft({ eot_tokens: ['<|im_end|>', '<|eot|>'] })],
  'packing-that-is-off': ['sample_packing_sequentially', sft({ sample_packing_sequentially: true })],
};
const bare = (key: string, { config, files }: Case): Case => {
  const [name = '', inner] = key.split('.');
  if (inner === undefined) {
    const { [name]: _, ...rest } = config;
    return { config: rest, files };
  }
  const [entry] = config.datasets as readonly Settings[];
  const { [inner]: _, ...rest } = entry ?? {};
  return { config: { ...config, datasets: [rest] }, files };
};

/** A setting with which axolotl stops. */
const STOPS: Flagged = {
  'no-such-column': ['datasets[0].field_messages', sft({}, { field_messages: 'mesages' })],
  'no-such-strategy': ['excess_length_strategy', sft({ excess_length_strategy: 'cut' })],
  'no-template': ['chat_template', sft({ chat_template: 'jinja' })],
  'two-rules-for-one-end': [
    'datasets[0].train_on_eot',
    sft({ eot_tokens: ['<|im_end|>', '<|im_start|>'] }, { train_on_eot: 'all' }),
  ],
};

const made = compare('axolotl', 'axolotl', {
  right: RIGHT,
  idle: IDLE,
  stops: STOPS,
  bare,
  more: {
    'too-long': sft({ sequence_len: 20, excess_length_strategy: 'raise' }),
    'no-end-is-trained': sft({ chat_template: 'jinja', chat_template_jinja: WITHOUT_END }),
    unread: sft({}, {}, FLAGGED),
    'no-such-end': sft({}, { train_on_eos: 'turns' }),
    'a-system-text-in-one': sft({}, {}, [{ ...TALKS[0], system: 'Be brief.' }, TALKS[0]]),
  },
});

test('no row of a right configuration is flagged', async () => {
  for (const name of Object.keys(RIGHT))
    if (!/truncated|no-end|last-end|parts|ids/.test(name))
      expect([name, (await made().ours(name)).flags]).toEqual([name, []]);
});

test('a row at which axolotl stops is flagged', async () => {
  expect(made().theirs.get('too-long')).toHaveProperty('stops');
  expect((await made().ours('too-long')).flags).toContain('unread');
});

test('a template that writes no end of a turn is flagged, and the rows are those of axolotl', async () => {
  const { rows, faults } = await made().ours('no-end-is-trained');
  expect(made().theirs.get('no-end-is-trained')).toEqual({ rows });
  expect(faults).toEqual(['eot_tokens']);
});

test('a word that is no choice is dropped', async () => {
  const { rows, faults } = await made().ours('no-such-end');
  expect(made().theirs.get('no-such-end')).toEqual({ rows });
  expect(faults).toEqual(['datasets[0].train_on_eos']);
});

test('a system text that only some rows have stops axolotl at the others', async () => {
  const { flags, rows } = await made().ours('a-system-text-in-one');
  expect(made().theirs.get('a-system-text-in-one')).toHaveProperty('stops');
  expect(rows).toHaveLength(1);
  expect(flags).toEqual(['unread']);
});

test('train flags that no setting names get a note', async () => {
  const { rows, notes } = await made().ours('unread');
  expect(made().theirs.get('unread')).toEqual({ rows });
  expect(notes).toContain('messages.train');
});
