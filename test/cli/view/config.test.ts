// `view --config`: rows as a trainer's own configuration makes them, settings that do nothing named, and nothing said of
// what is not known. That the rows are the trainer's is compared in test/torch/view.
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { familyFolder } from '../../../src/tokenizers/load.ts';
import { expectValid } from '../mcp/schemas.ts';
import { makeWorld, type World } from '../world.ts';

const turn = (role: string, content: string) => ({ role, content });
const ROWS = [
  { messages: [turn('user', 'Hi'), turn('assistant', 'Hello there!')] },
  {
    messages: [
      turn('user', 'Is it so?'),
      turn('assistant', 'Yes.'),
      turn('user', 'And that?'),
      turn('assistant', 'No.'),
    ],
  },
];
const MARKED =
  "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% if m['role'] == 'assistant' %}{% generation %}{{ m['content'] }}<|im_end|>{% endgeneration %}{% else %}{{ m['content'] }}<|im_end|>{% endif %}\n{% endfor %}";
const TRL = [
  'model_name_or_path: model',
  'chat_template_path: marked.jinja',
  'datasets:',
  '  - path: json',
  '    data_files: rows.jsonl',
  'assistant_only_loss: yes',
  'eval_strategy: no',
  'num_processes: 2',
  'learning_rate: 1e-5',
];
const INFO = {
  rows: {
    file_name: 'rows.jsonl',
    formatting: 'sharegpt',
    columns: { messages: 'messages' },
    tags: { role_tag: 'role', content_tag: 'content', user_tag: 'user', assistant_tag: 'assistant' },
  },
};
const FACTORY = [
  'model_name_or_path: model',
  'stage: sft',
  'dataset: rows',
  'template: qwen',
  'cutoff_len: 200',
  'finetuning_type: lora',
];

const SWIFT = ['model: model', 'template: qwen', 'dataset: rows.jsonl', 'tuner_type: lora'];
const AXOLOTL = [
  'base_model: model',
  'sequence_len: 512',
  'datasets:',
  '  - path: rows.jsonl',
  '    type: chat_template',
];
const VERL = [
  'actor_rollout_ref:',
  '  model:',
  '    path: model',
  'data:',
  '  train_files: rows.jsonl',
  '  reward_fn_key: messages',
  '  prompt_key: messages',
];

function projectOf(config: readonly string[], info: unknown = INFO, rows: readonly unknown[] = ROWS): World {
  const world = makeWorld();
  const lines = rows.map((row) => JSON.stringify(row)).join('\n');
  cpSync(familyFolder('qwen'), join(world.folder, 'model'), { recursive: true });
  mkdirSync(join(world.folder, 'data'));
  world.write('rows.jsonl', lines);
  world.write('marked.jinja', MARKED);
  world.write('data/rows.jsonl', lines);
  world.write('data/dataset_info.json', JSON.stringify(info));
  world.write('train.yaml', config.join('\n'));
  return world;
}

const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');

async function seen(world: World, ...options: readonly string[]): Promise<{ code: number; text: string }> {
  const code = await world.run('view', ...options, '--config', 'train.yaml', '--by-rules');
  return { code, text: flat(world.both()) };
}

describe('a clean configuration', () => {
  test('of TRL: its rows, what was read, and no flag', async () => {
    const { code, text } = await seen(projectOf(TRL));
    expect(text).toContain('assistant <|im_start|>assistant⏎⟦Yes.<|im_end|>⟧ user');
    expect(text).toContain(
      'by the documented rules of TRL 1.13.0 (trl sft); the trainer itself was not asked',
    );
    expect(text).toContain('read from train.yaml: datasets');
    expect(text).toContain("max_length 1024 (TRL's default)");
    expect(text).toContain('None of 2 rows is flagged');
    expect(code).toBe(0);
  });

  test('of LLaMA-Factory: its template, not the tokenizer’s', async () => {
    const { code, text } = await seen(projectOf(FACTORY));
    expect(text).toContain('system⏎You␠are␠Qwen');
    expect(text).toContain('assistant <|im_start|>assistant⏎⟦Yes.<|im_end|>⏎⟧');
    expect(text).toContain('by the documented rules of LLaMA-Factory 0.9.5 (stage sft)');
    expect(text).toContain('None of 2 rows is flagged');
    expect(code).toBe(0);
  });

  test('of verl, in a script that sets variables', async () => {
    const world = projectOf([]);
    world.write(
      'train.sh',
      [
        '#!/usr/bin/env bash',
        'MODEL=§{1:-model}',
        'data=rows.jsonl',
        'ARGS=(',
        '  data.prompt_key=messages # the column',
        '  "data.max_prompt_length=64"',
        ')',
        'python3 -m verl.trainer.main_ppo \\',
        '  data.train_files="[\'$data\']" \\',
        '  actor_rollout_ref.model.path=§MODEL "§{ARGS[@]}" §@ 2>&1 | tee log.txt',
      ]
        .join('\n')
        .replaceAll('§', '$'),
    );
    expect(await world.run('view', '--config', 'train.sh')).toBe(0);
    const text = flat(world.both());
    expect(text).toContain('by the documented rules of verl 0.9.1 (verl.trainer.main_ppo)');
    expect(text).toContain(
      'data.train_files ["rows.jsonl"], data.prompt_key "messages", data.max_prompt_length 64',
    );
    expect(text).toContain('rows are prompts, and nothing of them is trained');
    expect(text).toContain('template <|im_start|>assistant⏎');
  });

  test('of axolotl', async () => {
    const { code, text } = await seen(projectOf(AXOLOTL));
    expect(text).toContain('by the documented rules of axolotl 0.19.0 (axolotl train)');
    expect(text).toContain(
      'turns of assistant are trained, and the token that ends them (train_on_eos turn)',
    );
    expect(text).toContain('assistant <|im_start|>assistant⏎⟦Yes.<|im_end|>⟧');
    expect(text).toContain('None of 2 rows is flagged');
    expect(code).toBe(0);
  });

  test('of ms-swift, in a script', async () => {
    const world = projectOf([]);
    world.write(
      'train.sh',
      [
        'NPROC_PER_NODE=2 \\',
        'swift sft \\',
        '    --model model --template qwen \\',
        '    --dataset rows.jsonl \\',
        '    --max-length 2048 \\',
        '    --loss_scale last_round --learning_rate 1e-4',
      ].join('\n'),
    );
    expect(await world.run('view', '--config', 'train.sh')).toBe(0);
    const text = flat(world.both());
    expect(text).toContain('by the documented rules of ms-swift 4.6.0 (swift sft)');
    expect(text).toContain('assistant⏎Yes.<|im_end|>⏎');
    expect(text).toContain('assistant⏎⟦No.<|im_end|>⏎⟧');
  });

  test('of OpenRLHF, in a document that a script reads', async () => {
    const world = projectOf([]);
    world.write(
      'train.sh',
      [
        'read -r -d "" training_commands <<EOF',
        'openrlhf.cli.train_sft \\',
        '   --data.dataset rows.jsonl \\',
        '   --data.input_key messages \\',
        '   --model.model_name_or_path model \\',
        '   --data.max_lenn 100 \\',
        '   --data.apply_chat_template --data.multiturn',
        'EOF',
        'deepspeed --module §training_commands',
      ]
        .join('\n')
        .replaceAll('§', '$'),
    );
    expect(await world.run('view', '--config', 'train.sh')).toBe(1);
    const text = flat(world.both());
    expect(text).toContain('by the documented rules of OpenRLHF 0.11.2 (openrlhf.cli.train_sft)');
    expect(text).toContain('⟦Yes.<|im_end|>⏎⟧');
    expect(text).toContain(
      '✗ data.max_lenn (line 6): OpenRLHF 0.11.2 has no such key: argparse stops the run. Is data.max_len meant?',
    );
  });

  test('of LLaMA-Factory, as JSON', async () => {
    const world = projectOf([]);
    const values = { model_name_or_path: 'model', dataset: 'rows', template: 'qwen', mask_history: true };
    world.write('train.json', JSON.stringify(values));
    expect(await world.run('view', '--config', 'train.json')).toBe(0);
    expect(flat(world.out())).toContain('assistant⏎Yes.<|im_end|>⏎');
    expect(flat(world.out())).toContain('assistant⏎⟦No.<|im_end|>⏎⟧');
  });
});

describe('a setting that does nothing is named, with its line', () => {
  test.each<[string, readonly string[], string]>([
    ['a misspelt key', [...TRL, 'max_lenght: 512'], 'max_lenght (line 10): TRL 1.13.0 has no such key'],
    ['the name meant', [...TRL, 'max_lenght: 512'], 'Is max_length meant?'],
    [
      'a key of an older version',
      [...TRL, 'max_seq_length: 512'],
      '✗ max_seq_length (line 10): TRL 0.15.2 had this key, TRL 1.13.0 has not',
    ],
    [
      'a key of another command',
      [...TRL, 'num_generations: 4'],
      '✗ num_generations (line 10): This is a key of `trl grpo`',
    ],
    [
      'a mask for other rows',
      [...TRL, 'completion_only_loss: true'],
      'completion_only_loss (line 10): It does nothing',
    ],
    [
      'a key given twice',
      [...TRL, 'max_length: 20', 'max_length: 30'],
      'max_length (line 11): The key is given more than once',
    ],
    [
      'answers alone, with a template that does not mark them',
      TRL.filter((line) => !line.startsWith('chat_template_path')),
      'assistant_only_loss (line 5): The chat template has no {% generation %}',
    ],
    [
      'a value of a setting',
      [...TRL, 'packing: true', 'packing_strategy: bdf'],
      '✗ packing_strategy (line 11): "bdf" is none of bfd, bfd_split, wrapped. Is bfd meant?',
    ],
    [
      'a misspelt key of LLaMA-Factory',
      [...FACTORY, 'mask_histroy: true'],
      '✗ mask_histroy (line 7): LLaMA-Factory 0.9.5 has no such key: LLaMA-Factory stops (with ALLOW_EXTRA_ARGS=1 it does nothing). Is mask_history meant?',
    ],
    [
      'a text for false',
      [...FACTORY, 'train_on_prompt: "false"'],
      '✗ train_on_prompt (line 7): "false" is a text, and so true in Python',
    ],
    [
      'a misspelt key of ms-swift',
      [...SWIFT, 'max_lenght: 20'],
      '✗ max_lenght (line 5): ms-swift 4.6.0 has no such key: it stops the run (with ignore_args_error it does nothing). Is max_length meant?',
    ],
    [
      'a scale that ms-swift does not have',
      [...SWIFT, 'loss_scale: last_rond'],
      '✗ loss_scale (line 5): ms-swift stops: it has no loss_scale last_rond. Is last_round meant?',
    ],
    [
      'the length of packs that are not made',
      [...SWIFT, 'packing_length: 20'],
      '✗ packing_length (line 5): It does nothing: packing is off.',
    ],
    [
      'a key that axolotl drops',
      [...AXOLOTL, 'sequence_length: 20'],
      '✗ sequence_length (line 6): axolotl 0.19.0 has no such key: it is dropped without a word. Is sequence_len meant?',
    ],
    [
      'a key of axolotl in the wrong place',
      [...AXOLOTL, '    train_on_inputs: true'],
      '✗ datasets[0].train_on_inputs (line 6): It does nothing here: train_on_inputs is a key of the file',
    ],
    [
      'a train flag that no message has',
      [...AXOLOTL, '    message_field_training: train'],
      '✗ datasets[0].message_field_training (line 6): It does nothing: no message has train.',
    ],
    [
      'the truncation of verl, where agents cut',
      [...VERL, '  truncation: right'],
      '✗ data.truncation (line 8): It does nothing: nothing in verl 0.9.1 reads it',
    ],
    [
      'a key of verl’s other trainer',
      [...VERL, '  messages_key: messages'],
      '✗ data.messages_key (line 8): This is a key of `verl.trainer.sft_trainer`, not of `verl.trainer.main_ppo`',
    ],
    [
      'a text for false in verl',
      [...VERL, '  filter_overlong_prompts: "false"'],
      '✗ data.filter_overlong_prompts (line 8): "false" is a text, and so true in Python',
    ],
    [
      'thinking of another template',
      [...FACTORY, 'enable_thinking: false'],
      'enable_thinking (line 7): It does nothing',
    ],
  ])('%s', async (_, config, sentence) => {
    const { code, text } = await seen(projectOf(config));
    expect(text).toContain(sentence);
    expect(text).toMatch(/✗ \d settings? of the configuration (?:is|are) flagged, and 0 of 2 rows\./);
    expect(code).toBe(1);
  });

  test('in dataset_info.json: a misspelt name, and tags that leave one out', async () => {
    const { rows } = INFO;
    const misspelt = projectOf(FACTORY, { rows: { ...rows, colums: {} } });
    expect((await seen(misspelt)).text).toContain(
      '✗ rows.colums: LLaMA-Factory never reads this key. Is columns meant?',
    );
    const { user_tag: _, ...tags } = rows.tags;
    const { code, text } = await seen(projectOf(FACTORY, { rows: { ...rows, tags } }));
    expect(text).toContain('✗ rows.tags.user_tag: tags leaves it out');
    expect(text).toContain('left-out 2 rows: 1, 2');
    expect(code).toBe(1);
  });
});

describe('what may be meant is a note', () => {
  test('every token of a conversation trained, which is the default of TRL', async () => {
    const { code, text } = await seen(projectOf(TRL.filter((line) => !line.startsWith('assistant_only'))));
    expect(text).toContain('· assistant_only_loss: It is off: TRL trains every token');
    expect(text).toContain('⟦<|im_start|>user⏎Hi<|im_end|>⟧');
    expect(code).toBe(0);
    const strict = projectOf(TRL.filter((line) => !line.startsWith('assistant_only')));
    expect((await seen(strict, '--strict')).code).toBe(1);
  });

  test('a key that only an older transformers has', async () => {
    const { code, text } = await seen(projectOf([...TRL, 'overwrite_output_dir: true']));
    expect(text).toMatch(
      /· overwrite_output_dir \(line 10\): transformers 4\.49\.0 had this key, transformers 5\.\d+\.\d+ has not/,
    );
    expect(code).toBe(0);
  });

  test('train flags in messages, which TRL does not read', async () => {
    const rows = [{ messages: [turn('user', 'Hi'), { ...turn('assistant', 'Hello'), weight: 0 }] }];
    const { code, text } = await seen(projectOf(TRL, INFO, rows));
    expect(text).toContain('· messages.weight: TRL reads no train flags');
    expect(text).toContain('⟦Hello<|im_end|>⟧');
    expect(code).toBe(0);
  });

  test('a sentence that openai puts into each conversation, and rows packed together', async () => {
    const info = { rows: { ...INFO.rows, formatting: 'openai' } };
    const { code, text } = await seen(projectOf([...FACTORY, 'packing: true'], info));
    expect(text).toContain('detailed␠thinking␠off');
    expect(text).toContain("· rows.formatting: With openai, LLaMA-Factory writes 'detailed thinking off'");
    expect(text).toContain('· packing (line 7): Without neat_packing, packed examples attend to each other.');
    expect(code).toBe(0);
  });
});

test('a row that LLaMA-Factory leaves out is flagged with the reason', async () => {
  const { code, text } = await seen(projectOf(FACTORY, INFO, [...ROWS, { messages: [turn('user', 'Hi')] }]));
  expect(text).toContain('✗ left-out 1 row: 3');
  expect(text).toContain('its last is not an answer');
  expect(code).toBe(1);
});

test('what is typed wins, and the output says so', async () => {
  const world = projectOf(FACTORY);
  world.write('more.jsonl', JSON.stringify({ messages: [turn('user', 'Ho'), turn('assistant', 'Hum')] }));
  const { code, text } = await seen(world, 'more.jsonl', '--train-on', 'all', '--max-length', '50');
  expect(text).toContain('typed, which wins: data more.jsonl, --train-on all, --max-length 50');
  expect(text).toContain('⟦<|im_start|>user⏎Ho');
  expect(code).toBe(0);
});

test('the page names the settings that are flagged', async () => {
  const world = projectOf([...TRL, 'max_lenght: 512']);
  expect((await seen(world, '--html', 'masks.html')).code).toBe(1);
  const page = readFileSync(join(world.folder, 'masks.html'), 'utf8');
  expect(page).toContain('<code>max_lenght (line 10)</code>');
  expect(page).toContain('1 setting of the configuration is flagged');
});

describe('what is not known is said in one sentence, with exit code 2', () => {
  const without = (lines: readonly string[], key: string): readonly string[] =>
    lines.filter((line) => !line.startsWith(key));
  test.each<[string, readonly string[], string]>([
    [
      'a data set on the Hub',
      [...TRL.slice(0, 2), 'dataset_name: trl-lib/tldr', 'max_length: 9'],
      'view reads no data set from the Hub',
    ],
    [
      'a model on the Hub',
      [...TRL.slice(1), 'model_name_or_path: Qwen/Qwen3-0.6B'],
      'view downloads nothing',
    ],
    [
      'a template of axolotl’s own',
      [...AXOLOTL, 'chat_template: gemma'],
      "axolotl/utils/chat_templates/templates/gemma.jinja in Python's site-packages: name it with --template",
    ],
    [
      'a kind of rows of axolotl',
      AXOLOTL.map((line) => line.replace('chat_template', 'orcamini')),
      'is of type orcamini, whose rows view does not make',
    ],
    [
      'another trainer of OpenRLHF',
      ['python3 -m openrlhf.cli.train_dpo --data.dataset rows.jsonl'],
      'view reads openrlhf.cli.train_sft and openrlhf.cli.train_ppo_ray',
    ],
    ['no template for ms-swift', SWIFT.toSpliced(1, 1), 'names no template, and ms-swift then derives one'],
    [
      'a template that thinks',
      [...SWIFT.toSpliced(1, 1), 'template: qwen3'],
      'writes rows in a way that view does not know',
    ],
    [
      'words that are weighed',
      [...SWIFT, 'loss_scale: default+hermes'],
      'weighs parts of an answer by their words',
    ],
    ['rows that axolotl streams', [...AXOLOTL, 'streaming: true'], 'the rows are streamed'],
    ['nobody’s file', ['a: 1'], 'is not recognised as a configuration of TRL or LLaMA-Factory'],
    [
      'a data set class of somebody’s own',
      [...VERL, '  custom_cls:', '    path: mine.py'],
      'view runs no code of yours',
    ],
    [
      'a remote file',
      [...VERL.slice(0, 4), '  train_files: hdfs://a/b.parquet'],
      'is remote, and view downloads nothing',
    ],
    ['no YAML', ['a: ['], 'train.yaml is not YAML'],
    [
      'aliases that explode',
      [
        'a: &a [1,1,1,1,1,1,1,1,1,1]',
        'b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]',
        'c: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]',
      ],
      'Excessive alias count',
    ],
    ['no mapping', ['- a'], 'train.yaml is not a mapping of keys to values'],
    ['another stage', [...without(FACTORY, 'stage'), 'stage: dpo'], 'the stage of train.yaml is "dpo"'],
    [
      'no such template',
      [...without(FACTORY, 'template'), 'template: qwne'],
      'has no template qwne; is qwen meant?',
    ],
    [
      'the template of another model',
      [...without(FACTORY, 'template'), 'template: llama3'],
      'is it the template of another model?',
    ],
    [
      'a template for images',
      [...without(FACTORY, 'template'), 'template: qwen2_vl'],
      'a plug-in for images',
    ],
    [
      'no such data set',
      [...without(FACTORY, 'dataset'), 'dataset: row'],
      'has no data set row; is rows meant?',
    ],
  ])('%s', async (_, config, sentence) => {
    const { code, text } = await seen(projectOf(config));
    expect(text).toContain(sentence);
    expect(text).not.toContain('✓');
    expect(code).toBe(2);
  });

  test('a row with a tool call, which the rules do not make', async () => {
    const tags = { ...INFO.rows.tags, function_tag: 'function_call' };
    const rows = [...ROWS, { messages: [turn('user', 'Hi'), turn('function_call', '{}')] }];
    const { code, text } = await seen(projectOf(FACTORY, { rows: { ...INFO.rows, tags } }, rows));
    expect(text).toContain('is not one that these rules make: it has tool calls');
    expect(code).toBe(2);
  });
});

test('--json has what is wrong in the configuration, and fails by it', async () => {
  const world = projectOf([...TRL, 'max_lenght: 100']);
  expect(await world.run('view', '--config', 'train.yaml', '--json')).toBe(1);
  const document = JSON.parse(world.out()) as { readonly verdict: string; readonly settings: unknown };
  expectValid('view', document);
  expect(document).toMatchObject({
    verdict: 'fail',
    flagged: 0,
    settings: [{ key: 'max_lenght', line: TRL.length + 1, weight: 'flag' }],
  });
});
