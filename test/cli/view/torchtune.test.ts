// `lossproof view --config` on recipes of torchtune: what is read, what is named, and what is refused.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { familyFolder } from '../../../src/tokenizers/load.ts';
import { makeWorld, type World } from '../world.ts';

const turn = (role: string, content: string) => ({ role, content });
const ROWS = [
  { messages: [turn('user', 'Hi'), turn('assistant', 'Yes.')] },
  { messages: [turn('user', 'So?'), turn('assistant', 'No.'), turn('user', 'Hm'), turn('assistant', 'Ja.')] },
];
const RECIPE = [
  'tokenizer:',
  '  _component_: torchtune.models.qwen2_5.qwen2_5_tokenizer',
  '  path: model/vocab.json',
  '  merges_file: model/merges.txt',
  '  special_tokens_path: model/tokenizer.json',
  '  max_seq_len: null',
  'dataset:',
  '  _component_: torchtune.datasets.chat_dataset',
  '  source: json',
  '  data_files: rows.jsonl',
  '  conversation_column: messages',
  '  conversation_style: openai',
  'epochs: 1',
];

function projectOf(config: readonly string[], rows: readonly unknown[] = ROWS): World {
  const world = makeWorld();
  cpSync(familyFolder('qwen'), join(world.folder, 'model'), { recursive: true });
  world.write('rows.jsonl', rows.map((row) => JSON.stringify(row)).join('\n'));
  world.write('train.yaml', config.join('\n'));
  return world;
}

async function seen(world: World, file = 'train.yaml'): Promise<{ code: number; text: string }> {
  const code = await world.run('view', '--config', file);
  return { code, text: world.both().replaceAll(/\s+/g, ' ') };
}

/** One line in place of another. */
const but = (from: string, to: string): readonly string[] =>
  RECIPE.map((line) => line.replace(from, () => to));

test('rows of a clean recipe, what was read, and no flag', async () => {
  const { code, text } = await seen(projectOf(RECIPE));
  expect(text).toContain('by the documented rules of torchtune 0.6.1; the trainer itself was not asked');
  expect(text).toContain('dataset.conversation_style "openai"');
  expect(text).toContain('⟦<|im_start|>assistant⏎No.<|im_end|>⏎⟧');
  expect(text).toContain('None of 2 rows is flagged');
  expect(code).toBe(0);
});

describe('a setting that does nothing, or stops the run, is named with its line', () => {
  test.each<[string, readonly string[], string]>([
    [
      'a misspelt argument',
      [...RECIPE.slice(0, 12), '  train_on_inputs: true'],
      '✗ dataset.train_on_inputs (line 13): torchtune 0.6.1 has no such key: chat_dataset passes it to load_dataset, which stops the run. Is dataset.train_on_input meant?',
    ],
    [
      'a key in the wrong place',
      [...RECIPE, 'max_seq_len: 512'],
      '✗ max_seq_len (line 14): It does nothing here: torchtune reads it as tokenizer.max_seq_len alone.',
    ],
    [
      'packs without a length',
      [...RECIPE.slice(0, 12), '  packed: true'],
      '✗ dataset.packed (line 13): torchtune stops: rows are packed up to tokenizer.max_seq_len',
    ],
    [
      'a style that is none',
      but('openai', 'sharegtp'),
      '✗ dataset.conversation_style (line 12): torchtune stops: conversation_style "sharegtp" is none of sharegpt, openai. Is sharegpt meant?',
    ],
    [
      'a length that takes the stop tokens',
      but('max_seq_len: null', 'max_seq_len: 512'),
      '· tokenizer.max_seq_len (line 6): With it, torchtune leaves the last token of every row untrained',
    ],
    [
      'ids of another vocabulary',
      but('model/tokenizer.json', 'null'),
      '✗ tokenizer.special_tokens_path (line 5): torchtune puts in the id 151644 for <|im_start|>, and tokenizer.json of model has 857',
    ],
  ])('%s', async (_, config, sentence) => {
    const { code, text } = await seen(projectOf(config));
    expect(text).toContain(sentence);
    expect(code).toBe(1);
  });
});

test('a script: the file that it names, and its overrides', async () => {
  const world = projectOf(RECIPE);
  world.write(
    'train.sh',
    [
      '#!/bin/bash',
      'RECIPE=full_finetune_distributed',
      'tune run --nproc_per_node 2 §RECIPE --config train.yaml \\',
      '  dataset.train_on_input=True epochs=3 dataset.pakced=True',
    ]
      .join('\n')
      .replaceAll('§', '$'),
  );
  const { code, text } = await seen(world, 'train.sh');
  expect(text).toContain('read from train.yaml and train.sh: ');
  expect(text).toContain('⟦<|im_start|>user⏎So?');
  expect(text).toContain('✗ dataset.pakced: ');
  expect(text).toContain('Is dataset.packed meant?');
  expect(code).toBe(1);
});

describe('what would have to be guessed is refused in one sentence, with exit code 2', () => {
  test.each<[string, readonly string[], string]>([
    ['a data set on the Hub', but('source: json', 'source: org/data'), 'nothing from the Hub'],
    [
      'a data set of one’s own',
      but('torchtune.datasets.chat_dataset', 'mine.rows'),
      'view runs no code of yours',
    ],
    [
      'a slip in the name of one',
      but('chat_dataset', 'chat_datset'),
      'Is torchtune.datasets.chat_dataset meant?',
    ],
    ['another tokenizer', but('qwen2_5.qwen2_5', 'gemma.gemma'), 'is none whose rows view makes'],
    [
      'a value that only the run knows',
      but('path: model/vocab.json', `path: \${oc.env:HOME}/vocab.json`),
      'which only the run knows',
    ],
    ['a part of a file', [...RECIPE.slice(0, 12), '  field: data'], 'dataset.field chooses or changes rows'],
    [
      'a template in code',
      but('max_seq_len: null', 'prompt_template: mine.Template'),
      'is code, and view runs none',
    ],
    ['no file', but('rows.jsonl', 'row.jsonl'), 'there is no file row.jsonl'],
    ['no data set', but('dataset:', 'data:'), 'has no dataset'],
    [
      'a configuration of its own',
      ['tune run lora_finetune_single_device --config llama3/8B_lora epochs=2'],
      '`tune cp llama3/8B_lora train.yaml` writes it',
    ],
    ['another command', ['tune download meta-llama/Llama-3'], 'it starts tune download'],
  ])('%s', async (_, config, sentence) => {
    const { code, text } = await seen(projectOf(config));
    expect(text).toContain(sentence);
    expect(text).not.toContain('✓');
    expect(code).toBe(2);
  });
});

test('a text that torchtune tokenises otherwise than tokenizer.json is refused', async () => {
  const specials = join('model', 'few.json');
  const world = projectOf(but('model/tokenizer.json', specials), [
    { messages: [turn('user', 'Hi'), turn('assistant', '<think>Well.</think>')] },
  ]);
  const added_tokens = [
    { content: '<|im_start|>', id: 857 },
    { content: '<|im_end|>', id: 858 },
  ];
  world.write(specials, JSON.stringify({ added_tokens }));
  const { code, text } = await seen(world);
  expect(text).toContain('a text with <think>, which torchtune tokenises otherwise than tokenizer.json');
  expect(code).toBe(2);
});

test('--template is refused: torchtune reads none', async () => {
  const world = projectOf(RECIPE);
  world.write('own.jinja', '{{ messages }}');
  expect(await world.run('view', '--config', 'train.yaml', '--template', 'own.jinja')).toBe(2);
  expect(world.both()).toContain('torchtune reads no chat template of the tokenizer');
});

test('a Python script, as for unsloth, is refused, and the command that shows its rows is named', async () => {
  const world = projectOf([]);
  world.write('train.py', 'from unsloth import FastLanguageModel\n');
  const { code, text } = await seen(world, 'train.py');
  expect(text).toContain('`lossproof trace -- python train.py` shows the rows that it trains');
  expect(code).toBe(2);
});
