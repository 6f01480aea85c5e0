// `view --config` on launch scripts of OpenRLHF: its rows are those of OpenRLHF, and what it flags stops it or does nothing.
import { expect, test } from 'vitest';
import { compare, type Flagged, TALKS as MESSAGES } from './compared.ts';
import type { Case } from './rows.ts';

const turn = (role: string, content: string) => ({ role, content });
const TALKS = MESSAGES.map(({ messages }) => ({ input: messages }));
const PAIRS = [
  { input: 'Is the sky blue?', output: 'Yes, it is.' },
  { input: 'And naïve 🙂?', output: ' No.\n' },
];
const CUT_PAIR = { input: 'Why?', output: 'Because it goes on and on and on and on, and so on.' };
const PROMPTS = [
  { input: [turn('user', 'What is 1 + 1?')], answer: '2' },
  { input: [turn('system', 'Be brief.'), turn('user', 'Why?')], answer: 'So.' },
];

const sft = (options: readonly string[], rows: readonly unknown[] = PAIRS, model = 'qwen'): Case => ({
  config: {},
  script: [
    '#!/bin/bash',
    `deepspeed --module openrlhf.cli.train_sft --model.model_name_or_path ${model} \\`,
    `  --data.dataset ./rows.jsonl --train.batch_size 8 ${options.join(' \\\n  ')}`,
  ].join('\n'),
  files: { 'rows.jsonl': rows },
});
const ppo = (options: readonly string[], rows: readonly unknown[] = PROMPTS): Case => ({
  config: {},
  script: [
    'ray job submit --address="http://127.0.0.1:8265" -- python3 -m openrlhf.cli.train_ppo_ray \\',
    `  --actor.model_name_or_path qwen --data.prompt_dataset ./rows.jsonl --reward.remote_url http://127.0.0.1/reward ${options.join(' ')}`,
  ].join('\n'),
  files: { 'rows.jsonl': rows },
});
const CHAT = '--data.apply_chat_template';
const OUTPUT = '--data.output_key output';

const RIGHT: Readonly<Record<string, Case>> = {
  pairs: sft([OUTPUT]),
  'pairs-of-llama': sft([OUTPUT], PAIRS, 'llama3'),
  'a-template-for-questions': sft([OUTPUT, "--data.input_template 'Q: {} A: '"]),
  'other-columns': sft(
    ['--data.input_key question --data.output_key answer'],
    PAIRS.map(({ input, output }) => ({ question: input, answer: output })),
  ),
  'pairs-as-a-chat': sft([CHAT, OUTPUT]),
  'the-last-answer': sft([CHAT], TALKS),
  'the-last-answer-of-llama': sft([CHAT], TALKS, 'llama3'),
  'every-answer': sft([CHAT, '--data.multiturn'], TALKS),
  'every-answer-of-llama': sft([CHAT, '--data.multiturn'], TALKS, 'llama3'),
  'every-answer-of-gemma': sft([CHAT, '--data.multiturn'], TALKS.slice(0, 1), 'gemma'),
  'messages-and-their-answer': sft(
    [CHAT, OUTPUT],
    TALKS.map(({ input }) => ({ input: input.slice(0, -1), output: input.slice(-1) })),
  ),
  'texts-alone': sft(['--model.pretrain_mode_enable'], [{ input: 'Once upon a time.' }]),
  cut: sft([OUTPUT, '--data.max_len 24'], [...PAIRS, CUT_PAIR]),
  'few-rows': sft([OUTPUT, '--data.max_samples 1']),
  'the-beginning-of-an-option': sft(['--data.output output']),
  prompts: ppo([CHAT]),
  'prompts-with-labels': ppo([CHAT, '--data.label_key answer']),
  'prompts-of-texts': ppo(["--data.input_template 'Q: {}'"], [{ input: 'Why?' }]),
  'plain-prompts': ppo([], [{ input: 'Why?' }]),
};

/** A setting that does nothing: the rows are those of the same script without it. */
const IDLE: Flagged = {
  'a-template-beside-the-chat': ['data.input_template', sft([CHAT, OUTPUT, "--data.input_template 'Q: {}'"])],
  'a-chat-that-is-not-used': ['data.apply_chat_template', sft(['--model.pretrain_mode_enable', CHAT])],
  'an-answer-in-pretraining': ['data.output_key', sft(['--model.pretrain_mode_enable', OUTPUT])],
  'a-chat-template-without-chat': [
    'data.tokenizer_chat_template',
    sft([OUTPUT, "--data.tokenizer_chat_template 'x{{ messages }}'"]),
  ],
  'a-template-without-place': [
    'data.input_template',
    ppo(["--data.input_template 'Q: '"], [{ input: 'Why?' }]),
  ],
};
const bare = (key: string, each: Case): Case => ({
  ...each,
  script: each.script?.replace(new RegExp(`--${key}(?: '[^']*'| (?!--)\\w+)?`), '') ?? '',
});

/** A setting with which OpenRLHF stops. */
const STOPS: Flagged = {
  'an-unknown-option': ['data.max_length', sft([OUTPUT, '--data.max_length 20'])],
  'a-value-for-a-flag': ['data.apply_chat_template', sft([OUTPUT, `${CHAT} True`])],
  'no-number': ['data.max_samples', sft([OUTPUT, '--data.max_samples all'])],
  'turns-without-a-chat': ['data.multiturn', sft([OUTPUT, '--data.multiturn'])],
  'turns-and-an-answer': [
    'data.output_key',
    sft(
      [CHAT, OUTPUT, '--data.multiturn'],
      TALKS.map(({ input }) => ({ input: input.slice(0, -1), output: input.at(-1) })),
    ),
  ],
  'no-such-column': ['data.output_key', sft(['--data.output_key ouput'])],
  'no-such-split': ['data.dataset_split', sft([OUTPUT, '--data.dataset_split test'])],
  'an-option-of-sft': ['data.output_key', ppo([CHAT, OUTPUT])],
};

const made = compare('openrlhf', 'OpenRLHF', {
  right: RIGHT,
  idle: IDLE,
  stops: STOPS,
  bare,
  more: {
    'no-answers': sft([]),
    older: {
      ...sft([]),
      script:
        'deepspeed --module openrlhf.cli.train_sft --pretrain qwen --dataset ./rows.jsonl --output_key output --learning_rate 5e-6',
    },
  },
});

test('no row of a right configuration is flagged', async () => {
  for (const name of Object.keys(RIGHT))
    if (!/cut|alone|gemma/.test(name)) expect([name, (await made().ours(name)).flags]).toEqual([name, []]);
});

test('without answers every row is left out, and the option is named', async () => {
  const { rows, faults, flags } = await made().ours('no-answers');
  expect(made().theirs.get('no-answers')).toEqual({ rows: [] });
  expect([rows, faults, flags]).toEqual([[], ['data.output_key'], ['left-out']]);
});

test('options of an older version are read by their new names', async () => {
  const { rows, faults, notes } = await made().ours('older');
  expect(made().theirs.get('older')).toHaveProperty('stops');
  expect(made().theirs.get('pairs')).toEqual({ rows });
  expect([faults, notes]).toEqual([[], ['pretrain']]);
});
