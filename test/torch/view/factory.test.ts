// `view --config` on configurations of LLaMA-Factory: its rows are those of LLaMA-Factory, and what it flags stops it or does
// nothing.
import { expect, test } from 'vitest';
import { families, familyFolder, loadTokenizer } from '../../../src/tokenizers/load.ts';
import { knownOf } from '../../../src/view/config/known.ts';
import { fixedTokenizer, templateOf } from '../../../src/view/config/llama-factory/template.ts';
import { compare, type Flagged } from './compared.ts';
import type { Case } from './rows.ts';

const SETTING = { use_cpu: true, output_dir: 'out', report_to: 'none', stage: 'sft', do_train: true };

const ALPACA = [
  { instruction: 'Add.', input: '1 and 2', output: '3', system: 'Be exact.', history: [['Hi', 'Hello!']] },
  { instruction: 'Say something naïve 🙂', input: '', output: 'Something.', system: '', history: [] },
];
const turn = (from: string, value: string) => ({ from, value });
const SHAREGPT = [
  { conversations: [turn('human', 'Hi'), turn('gpt', 'Hello there!')] },
  {
    conversations: [
      turn('system', 'Be brief.'),
      turn('human', 'Is it so?'),
      turn('gpt', 'Yes, and it is so for a reason that takes a while.'),
      turn('human', 'And that, which is asked at some length?'),
      turn('gpt', 'No.\nNot at all.'),
    ],
  },
];
const MESSAGES = SHAREGPT.map(({ conversations }) => ({
  messages: conversations.map(({ from, value }) => ({
    role: { human: 'user', gpt: 'assistant' }[from] ?? from,
    content: value,
  })),
}));
const ROLES = {
  role_tag: 'role',
  content_tag: 'content',
  user_tag: 'user',
  assistant_tag: 'assistant',
  system_tag: 'system',
};
const THOUGHTS = [
  {
    conversations: [
      turn('human', 'One?'),
      turn('gpt', '<think>\nI see.\n</think>\n\n1'),
      turn('human', 'Two?'),
      turn('gpt', '2'),
    ],
  },
];

type Info = Readonly<Record<string, unknown>>;

function sft(rows: readonly unknown[], info: Info, config: Info = {}): Case {
  return {
    config: {
      model_name_or_path: 'qwen',
      template: 'qwen',
      dataset: 'rows',
      dataset_dir: './data',
      ...SETTING,
      ...config,
    },
    files: {
      'data/rows.jsonl': rows,
      'data/dataset_info.json': { rows: { file_name: 'rows.jsonl', ...info } },
    },
  };
}

const sharegpt = (config: Info = {}): Case => sft(SHAREGPT, { formatting: 'sharegpt' }, config);
const alpaca = {
  columns: {
    prompt: 'instruction',
    query: 'input',
    response: 'output',
    system: 'system',
    history: 'history',
  },
};
const model = (name: string, template: string, config: Info = {}): Case =>
  sharegpt({ model_name_or_path: name, template, ...config });

const RIGHT: Readonly<Record<string, Case>> = {
  alpaca: sft(ALPACA, alpaca),
  'alpaca-by-default': sft(
    ALPACA.map(({ instruction, input, output }) => ({ instruction, input, output })),
    {},
  ),
  'alpaca-without-input': sft(ALPACA, { columns: { prompt: 'instruction', response: 'output' } }),
  sharegpt: sharegpt(),
  'sharegpt-of-roles': sft(MESSAGES, {
    formatting: 'sharegpt',
    columns: { messages: 'messages' },
    tags: ROLES,
  }),
  openai: sft(MESSAGES, { formatting: 'openai', columns: { messages: 'messages' }, tags: ROLES }),
  'last-answer': sharegpt({ mask_history: true }),
  'questions-too': sharegpt({ train_on_prompt: true }),
  'another-system': sharegpt({ default_system: 'Be kind.' }),
  'no-system': sharegpt({ default_system: '' }),
  'rows-left-out': sft(
    [
      ...SHAREGPT,
      { conversations: [turn('human', 'Hi')] },
      { conversations: [turn('gpt', 'Hi'), turn('human', 'Ho')] },
    ],
    { formatting: 'sharegpt' },
  ),
  'few-rows': sharegpt({ max_samples: 1 }),
  ...Object.fromEntries(
    [8, 17, 30, 37, 44, 52, 60, 75].flatMap((cutoff) => [
      [`cut-at-${cutoff}`, sharegpt({ cutoff_len: cutoff })],
      [`cut-at-${cutoff}-from-the-end`, sharegpt({ cutoff_len: cutoff, mask_history: true })],
    ]),
  ),
  llama3: model('llama3', 'llama3'),
  gemma: model('gemma', 'gemma'),
  deepseek3: model('deepseek', 'deepseek3'),
  deepseekr1: model('deepseek', 'deepseekr1'),
  phi: model('phi', 'phi'),
  mistral: model('mistral', 'mistral'),
  llama2: model('mistral', 'llama2'),
  chatml: model('qwen', 'chatml'),
  default: model('qwen', 'default'),
  'alpaca-template': model('llama3', 'alpaca'),
  vicuna: model('llama3', 'vicuna'),
  ...Object.fromEntries(
    [
      {},
      { enable_thinking: false },
      { mask_history: true },
      { mask_history: true, preserve_thinking: true },
    ].map((config, at) => [
      `thoughts-${at}`,
      sft(THOUGHTS, { formatting: 'sharegpt' }, { template: 'qwen3', ...config }),
    ]),
  ),
  'two-sets': {
    config: { ...sharegpt().config, dataset: 'rows, more' },
    files: {
      'data/rows.jsonl': SHAREGPT,
      'data/more.jsonl': ALPACA,
      'data/dataset_info.json': {
        rows: { file_name: 'rows.jsonl', formatting: 'sharegpt' },
        more: { file_name: 'more.jsonl', ...alpaca },
      },
    },
  },
};

/** Every template that view reads, with the first family of tokenizers that has its tokens. */
const TEMPLATES: Readonly<Record<string, Case>> = Object.fromEntries(
  Object.keys(knownOf('llama-factory').templates).flatMap((name) => {
    const template = templateOf(name, knownOf('llama-factory'));
    if ('problem' in template) return [];
    const own = families.find((each) => {
      const loaded = loadTokenizer(familyFolder(each));
      return 'tokenizer' in loaded && !('problem' in fixedTokenizer(loaded.tokenizer, name, template));
    });
    return own === undefined ? [] : [[`template-${name}`, model(own, name)]];
  }),
);

/** A setting that does nothing: the rows are those of the same file without it. */
const IDLE: Flagged = {
  'thinking-of-another-template': ['enable_thinking', sharegpt({ enable_thinking: false })],
  'a-misspelt-part': [
    'rows.column',
    sft(
      ALPACA.map(({ instruction, input, output }) => ({ instruction, input, output })),
      {
        column: { prompt: 'input' },
      },
    ),
  ],
};
const PLAIN: Readonly<Record<string, Case>> = {
  'thinking-of-another-template': sharegpt(),
  'a-misspelt-part': sft(
    ALPACA.map(({ instruction, input, output }) => ({ instruction, input, output })),
    {},
  ),
};

/** A setting with which LLaMA-Factory stops, or makes no row. */
const STOPS: Flagged = {
  'an-unknown-key': ['cutof_len', sharegpt({ cutof_len: 100 })],
  'both-masks': ['mask_history', sharegpt({ mask_history: true, train_on_prompt: true })],
  'probabilities-of-a-sum': ['interleave_probs', sharegpt({ interleave_probs: '0.5' })],
  'a-column-that-is-not-there': ['rows.columns.query', sft([{ instruction: 'a', output: 'b' }], {})],
  'a-tag-left-out': [
    'rows.tags.user_tag',
    sft(MESSAGES, {
      formatting: 'sharegpt',
      columns: { messages: 'messages' },
      tags: { role_tag: 'role', content_tag: 'content', assistant_tag: 'assistant' },
    }),
  ],
  'pairs-in-sft': ['rows.ranking', sft(ALPACA, { ...alpaca, ranking: true })],
};

test('most templates are among them', () => {
  expect(Object.keys(TEMPLATES).length).toBeGreaterThan(40);
});

const made = compare('factory', 'LLaMA-Factory', {
  right: { ...RIGHT, ...TEMPLATES },
  idle: IDLE,
  stops: STOPS,
  bare: (_key, _each, name) => PLAIN[name] as Case,
  more: { 'a-text-for-no': sharegpt({ train_on_prompt: 'false' }) },
});

test('a text that spells no is true for LLaMA-Factory, and flagged', async () => {
  const { rows, faults } = await made().ours('a-text-for-no');
  expect(faults).toEqual(['train_on_prompt']);
  expect(made().theirs.get('a-text-for-no')).toEqual({ rows });
  expect(rows.every(({ input_ids, labels }) => input_ids.every((id, at) => id === labels[at]))).toBe(true);
});
