// Configurations and rows that nobody writes: whatever the values are, a reader answers with a plan or one sentence.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { familyFolder, loadTokenizer } from '../../src/tokenizers/load.ts';
import { axolotl } from '../../src/view/config/axolotl/settings.ts';
import { nearest } from '../../src/view/config/keys.ts';
import { knownOf } from '../../src/view/config/known.ts';
import { llamaFactory } from '../../src/view/config/llama-factory/settings.ts';
import { msSwift } from '../../src/view/config/ms-swift/settings.ts';
import { openrlhf } from '../../src/view/config/openrlhf/settings.ts';
import type { Host } from '../../src/view/config/plan.ts';
import { readerOf } from '../../src/view/config/recognise.ts';
import { torchtune } from '../../src/view/config/torchtune/settings.ts';
import { trl } from '../../src/view/config/trl/settings.ts';
import { verl } from '../../src/view/config/verl/settings.ts';
import { scan } from '../../src/view/scan.ts';

const INFO = {
  alpaca: { file_name: 'a.jsonl', columns: { prompt: 'q', response: 'a', history: 'h', system: 's' } },
  talks: { file_name: 'b.jsonl', formatting: 'sharegpt' },
  open: {
    file_name: 'c.jsonl',
    formatting: 'openai',
    columns: { messages: 'messages' },
    tags: { role_tag: 'role', content_tag: 'content', user_tag: 'user', assistant_tag: 'assistant' },
  },
};
const HOST: Host = {
  dataTyped: false,
  kindOf: (path) => (/config\.json$/.test(path) ? undefined : /\.\w+$/.test(path) ? 'file' : 'folder'),
  namesIn: () => ['train.jsonl'],
  readText: () => ({ complaint: 'none' }),
  readJson: () => ({ ok: INFO }),
};
const fileOf = (values: Readonly<Record<string, unknown>>) => ({
  name: 'train.yaml',
  values,
  lines: new Map<string, number>(),
  twice: [],
});
const loaded = loadTokenizer(familyFolder('qwen'));
if ('problem' in loaded) throw new Error(loaded.problem);
const { tokenizer } = loaded;

const TEMPLATE = tokenizer.chatTemplate === undefined ? {} : { template: tokenizer.chatTemplate };

const WORDS = [
  'q',
  'a',
  'h',
  's',
  'messages',
  'prompt',
  'completion',
  'text',
  'conversations',
  'input_ids',
  'labels',
  'role',
  'content',
  'from',
  'value',
  'user',
  'assistant',
  'human',
  'gpt',
  'tools',
  'tool_calls',
];
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      1.5,
      '',
      'Hi',
      'user',
      'assistant',
      'human',
      'gpt',
      '{{content}}',
      '<think>',
    ),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...WORDS), tie('any'), { maxKeys: 4 }),
  ),
})).any;
const row = fc.dictionary(fc.constantFrom(...WORDS), value, { maxKeys: 5 });

/** What a configuration of each says at least, to be of this data set. */
const NAMED = {
  trl: (_: string, on: boolean) => ({ dataset_name: 'data', completion_only_loss: on }),
  'llama-factory': (dataset: string, on: boolean) => ({ dataset, mask_history: on, template: 'qwen' }),
  'ms-swift': (_: string, on: boolean) => ({
    dataset: 'a.jsonl',
    template: on ? 'qwen' : 'default',
    loss_scale: on ? 'last_round' : 'all',
  }),
  openrlhf: (_: string, on: boolean) => ({
    'data.dataset': 'a.jsonl',
    'data.output_key': 'a',
    'data.input_key': on ? 'messages' : 'prompt',
    ...(on ? { 'data.apply_chat_template': true } : {}),
  }),
  axolotl: (_: string, on: boolean) => ({
    datasets: [{ path: 'a.jsonl', type: on ? 'chat_template' : 'alpaca', message_field_training: 'h' }],
  }),
  torchtune: (dataset: string, on: boolean) => ({
    tokenizer: {
      _component_: on
        ? 'torchtune.models.llama3.llama3_tokenizer'
        : 'torchtune.models.qwen2_5.qwen2_5_tokenizer',
      path: 'm/original/tokenizer.model',
      max_seq_len: on ? 20 : null,
    },
    dataset: {
      source: 'json',
      data_files: 'a.jsonl',
      ...(dataset === 'alpaca'
        ? {
            _component_: `torchtune.datasets.${on ? 'alpaca' : 'preference'}_dataset`,
            column_map: { chosen: 'a', rejected: 'messages', instruction: 'q', output: 'a' },
          }
        : {
            _component_: 'torchtune.datasets.chat_dataset',
            conversation_column: dataset === 'talks' ? 'conversations' : 'messages',
            conversation_style: dataset === 'talks' ? 'sharegpt' : 'openai',
          }),
    },
  }),
  verl: (_: string, on: boolean) =>
    on
      ? { model: { path: 'm' }, data: { train_files: 'a.parquet' } }
      : { actor_rollout_ref: { model: { path: 'm' } }, data: { train_files: 'a.jsonl' } },
} as const;

describe.each([trl, llamaFactory, verl, axolotl, openrlhf, msSwift, torchtune])('$known', (reader) => {
  const keys = Object.keys(knownOf(reader.known).keys);

  test('plans, whatever the values are', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...keys, ...WORDS), value, { maxKeys: 8 }), (values) => {
        const plan = reader.plan(
          fileOf({
            template: 'qwen',
            data: values,
            model: values,
            datasets: [{ path: 'a.jsonl', ...values }],
            ...values,
          }),
          HOST,
        );
        expect('problem' in plan ? plan.problem : plan.title).toMatch(/./);
      }),
      { numRuns: 300 },
    );
  });

  test('makes rows, whatever they are', () => {
    const named = fc.constantFrom('alpaca', 'talks', 'open');
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 3 }), named, fc.boolean(), (rows, dataset, on) => {
        const plan = reader.plan(fileOf(NAMED[reader.known as keyof typeof NAMED](dataset, on)), HOST);
        if ('problem' in plan) throw new Error(plan.problem);
        const columns = [new Set(rows.flatMap((each) => Object.keys(each)))];
        const opened = plan.open({ columns, first: rows[0], tokenizer, templateTyped: false, ...TEMPLATE });
        if ('problem' in opened) throw new Error(opened.problem);
        const options = { tokenizer, truncationSide: 'right' as const, ...opened.settings };
        const entries = rows.map((each, at) => ({ number: at + 1, value: each }));
        const seen = scan(entries, options, { most: 10 });
        expect(seen.rows).toBeGreaterThanOrEqual(rows.length);
      }),
      { numRuns: 300 },
    );
  });
});

test('a file is that of the trainer whose keys it has', () => {
  const of = (values: Readonly<Record<string, unknown>>): string => {
    const reader = readerOf(fileOf(values));
    return 'problem' in reader ? reader.problem : reader.known;
  };
  expect(of({ model_name_or_path: 'm', dataset_name: 'd', learning_rate: 1 })).toBe('trl');
  expect(of({ model_name_or_path: 'm', dataset: 'd', learning_rate: 1 })).toBe('llama-factory');
  expect(of({ model_name_or_path: 'm', learning_rate: 1 })).toContain('is not recognised');
  expect(of({ base_model: 'm', datasets: [] })).toBe('axolotl');
  expect(of({ model: 'm', dataset: 'd', tuner_type: 'lora', loss_scale: 'all' })).toBe('ms-swift');
  expect(of({ 'data.dataset': 'd', 'model.model_name_or_path': 'm' })).toBe('openrlhf');
  expect(of({ data: { train_files: 'd' }, actor_rollout_ref: { model: { path: 'm' } } })).toBe('verl');
  expect(of({ data: { train_files: 'd', messages_key: 'm' }, model: { path: 'm' } })).toBe('verl');
  expect(of({ base_model: 'm', datasets: [{ path: 'd' }], adapter: 'lora', sequence_len: 2048 })).toBe(
    'axolotl',
  );
  expect(of({ tokenizer: { _component_: 'torchtune.x' }, dataset: {}, checkpointer: {} })).toBe('torchtune');
  expect(of({ adapter: 'trl-grpo', python: '.venv/bin/python' })).toContain('of lossproof itself');
});

test('a name is taken for a slip only if it is near', () => {
  const names = ['max_length', 'packing', 'mask_history', 'bfd', 'wrapped'];
  expect(nearest('max_lenght', names)).toBe('max_length');
  expect(nearest('maxLength', names)).toBe('max_length');
  expect(nearest('bdf', names)).toBe('bfd');
  expect(nearest('warmup', names)).toBeUndefined();
});
