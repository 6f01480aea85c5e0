// `view --config` on configurations of verl: its rows are those of verl's data sets, and what it flags stops it or does
// nothing.
import { expect, test } from 'vitest';
import { compare, type Flagged, TALKS } from './compared.ts';
import type { Case } from './rows.ts';

const PROMPTS = TALKS.map(({ messages }) => ({
  prompt: messages.slice(0, -1),
  data_source: 'x',
  reward_model: { style: 'rule', ground_truth: '1' },
}));
/** Asks for enable_thinking, as templates of models that think do. */
const THINKING =
  "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% if enable_thinking is defined and not enable_thinking %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}{% endif %}";

type Settings = Readonly<Record<string, unknown>>;

function sft(data: Settings = {}, rows: readonly unknown[] = TALKS, model: Settings = {}): Case {
  return {
    config: { data: { train_files: './rows.parquet', ...data }, model: { path: 'qwen', ...model } },
    files: { 'rows.parquet.jsonl': rows },
  };
}

const rl = (data: Settings = {}, rows: readonly unknown[] = PROMPTS, model: Settings = {}): Case => ({
  config: {
    data: { train_files: ['./rows.jsonl'], ...data },
    actor_rollout_ref: { model: { path: 'qwen', ...model } },
  },
  files: { 'rows.jsonl': rows },
});

const script = (lines: readonly string[], rows: readonly unknown[] = TALKS): Case => ({
  config: {},
  script: ['#!/usr/bin/env bash', 'set -x', ...lines].join('\n'),
  files: { 'rows.parquet.jsonl': rows },
});
const SFT =
  'torchrun --nproc_per_node=1 -m verl.trainer.sft_trainer \\\n data.train_files=./rows.parquet model.path=qwen';
const RL =
  'python3 -m verl.trainer.main_ppo \\\n data.train_files=./rows.parquet actor_rollout_ref.model.path=qwen';

const RIGHT: Readonly<Record<string, Case>> = {
  sft: sft(),
  'sft-of-llama': sft({ ignore_input_ids_mismatch: true }, TALKS, { path: 'llama3' }),
  'another-column': sft(
    { messages_key: 'talk' },
    TALKS.map(({ messages }) => ({ talk: messages })),
  ),
  'cut-at-the-end': sft({ max_length: 30, truncation: 'right' }),
  'cut-at-the-front': sft({ max_length: 30, truncation: 'left', pad_mode: 'right' }),
  'few-rows': sft({ train_max_samples: 1 }),
  'no-thought': sft({ enable_thinking_default: false }, TALKS, { custom_chat_template: THINKING }),
  'no-word-on-thinking': sft({ enable_thinking_default: null }),
  'a-script': script([
    `${SFT} \\\n  data.max_length=30 data.truncation=right \\\n  trainer.logger=['console']`,
  ]),
  rl: rl(),
  'rl-cut-at-the-front': rl({ max_prompt_length: 20 }),
  'rl-filtered': rl({ max_prompt_length: 30, filter_overlong_prompts: true }),
  'rl-no-thought': rl({ apply_chat_template_kwargs: { enable_thinking: false } }, PROMPTS, {
    custom_chat_template: THINKING,
  }),
  'rl-of-a-script': script(
    [`${RL} \\\n  data.filter_overlong_prompts=True data.max_prompt_length=30 algorithm.adv_estimator=grpo`],
    PROMPTS,
  ),
};

/** A setting that does nothing: the rows are those of the same file without it. */
const IDLE: Flagged = {
  'left-without-padding': ['data.truncation', sft({ truncation: 'left', max_length: 30 })],
  'the-old-name': ['data.multiturn.messages_key', sft({ multiturn: { messages_key: 'talk' } })],
  'a-key-of-rl': ['data.max_prompt_length', sft({ max_prompt_length: 4 })],
  'tools-of-no-column': ['data.tools_key', sft({ tools_key: 'functions' })],
  'thinking-of-no-template': ['data.enable_thinking_default', sft({ enable_thinking_default: false })],
  'truncation-of-rl': ['data.truncation', rl({ truncation: 'right', max_prompt_length: 20 })],
  'another-tokenizer': ['data.tokenizer', rl({ tokenizer: 'llama3' })],
  'thinking-of-no-template-in-rl': [
    'data.apply_chat_template_kwargs.enable_thinking',
    rl({ apply_chat_template_kwargs: { enable_thinking: false } }),
  ],
};

/** A setting with which verl stops. */
const STOPS: Flagged = {
  'no-such-column': ['data.messages_key', sft({ messages_key: 'mesages' })],
  'no-such-truncation': ['data.truncation', sft({ truncation: 'middle' })],
  'no-such-mode': ['data.pad_mode', sft({ pad_mode: 'left' })],
  'json-for-sft': [
    'data.train_files',
    { ...sft({ train_files: './rows.jsonl' }), files: { 'rows.jsonl': TALKS } },
  ],
  'a-key-without-plus': ['data.max_lenght', script([`${SFT} data.max_lenght=30`])],
  'a-key-of-sft': ['data.messages_key', script([`${RL} data.messages_key=talk`], PROMPTS)],
  'an-argument-without-plus': ['data.shuffle', script([`${SFT} data.shuffle=True`])],
};

const ROWS_THAT_STOP: Readonly<Record<string, Case>> = {
  'too-long': sft({ max_length: 30 }),
  'not-as-a-whole': sft({}, TALKS, { custom_chat_template: `${THINKING}{{ 'The end.' }}` }),
};

const bare = (key: string, { config, files }: Case): Case => {
  const [, name = ''] = key.split('.');
  const { [name]: _, ...data } = config.data as Settings;
  // What is compared is cut by the same rule.
  return {
    config: {
      ...config,
      data: name === 'truncation' && 'model' in config ? { ...data, truncation: 'right' } : data,
    },
    files,
  };
};

const made = compare('verl', 'verl', { right: RIGHT, idle: IDLE, stops: STOPS, bare, more: ROWS_THAT_STOP });

test.each(Object.keys(ROWS_THAT_STOP))('a row at which verl stops is flagged: %s', async (name) => {
  const { faults, flags } = await made().ours(name);
  expect(made().theirs.get(name)).toHaveProperty('stops');
  expect(faults).toEqual([]);
  expect(flags).toContain('unread');
});

test('no row of a right configuration is flagged', async () => {
  for (const name of Object.keys(RIGHT))
    if (!name.includes('cut')) expect([name, (await made().ours(name)).flags]).toEqual([name, []]);
});
