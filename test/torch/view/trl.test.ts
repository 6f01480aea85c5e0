// `view --config` on configurations of `trl sft`: its rows are those of SFTTrainer, and what it flags stops TRL or does nothing.

import { compare, type Flagged, TALKS } from './compared.ts';
import type { Case } from './rows.ts';

const SETTING = { use_cpu: true, output_dir: 'out', report_to: 'none' };
/** ChatML that marks its answers, with a line break behind them that is not trained. */
const MARKED =
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' }}{% if message['role'] == 'assistant' %}{% generation %}{{ message['content'] + '<|im_end|>' }}{% endgeneration %}{{ '\\n' }}{% else %}{{ message['content'] + '<|im_end|>\\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

const turn = (role: string, content: string) => ({ role, content });
const PAIRS = [
  { prompt: 'The sky is', completion: ' blue.' },
  { prompt: 'Once upon', completion: ' a time, and ever after.' },
];
const ASKED = TALKS.map(({ messages }) => ({
  prompt: messages.slice(0, -1),
  completion: messages.slice(-1),
}));

function sft(rows: readonly unknown[], config: Case['config'] = {}, files: Case['files'] = {}): Case {
  const data =
    config.dataset_name === undefined ? { datasets: [{ path: 'json', data_files: './rows.jsonl' }] } : {};
  return {
    config: { model_name_or_path: 'qwen', ...data, ...SETTING, ...config },
    files: { 'rows.jsonl': rows, ...files },
  };
}

const marked = { chat_template_path: './marked.jinja' };
const template = { 'marked.jinja': MARKED };

/** Configurations that TRL runs as they are meant. */
const RIGHT: Readonly<Record<string, Case>> = {
  messages: sft(TALKS),
  'messages-of-llama': sft(TALKS, { model_name_or_path: 'llama3' }),
  'answers-alone': sft(TALKS, { assistant_only_loss: true, ...marked }, template),
  pairs: sft(PAIRS),
  'pairs-with-bos': sft(PAIRS, { model_name_or_path: 'llama3' }),
  'pairs-trained-whole': sft(PAIRS, { completion_only_loss: false }),
  'pairs-of-messages': sft(ASKED),
  'pairs-of-messages-trained-whole': sft(ASKED, { completion_only_loss: false }),
  'pairs-and-answers': sft(ASKED, { assistant_only_loss: true, ...marked }, template),
  'pairs-of-answers': sft(
    ASKED,
    { assistant_only_loss: true, completion_only_loss: false, ...marked },
    template,
  ),
  texts: sft([{ text: 'Once upon a time.' }, { text: 'The end.<|im_end|>' }]),
  'texts-with-bos': sft([{ text: 'Once upon a time.' }], { model_name_or_path: 'llama3' }),
  'texts-of-another-column': sft([{ story: 'Once upon a time.' }], { dataset_text_field: 'story' }),
  'texts-with-another-end': sft([{ text: 'Once upon a time.' }], { eos_token: '<|endoftext|>' }),
  short: sft(TALKS, { max_length: 20 }),
  'short-pairs': sft(ASKED, { max_length: 24 }),
  'short-at-the-front': sft(TALKS, { max_length: 20, truncation_mode: 'keep_end' }),
  uncut: sft([{ text: 'word '.repeat(1500) }], { max_length: null }),
  'cut-by-default': sft([{ text: 'word '.repeat(1500) }]),
  'from-value': sft([
    {
      conversations: [
        { from: 'user', value: 'Hi' },
        { from: 'assistant', value: 'Hello' },
      ],
    },
  ]),
  'ids-and-labels': sft([{ input_ids: [5, 6, 7, 8], labels: [-100, -100, 7, 8] }]),
  'ids-and-answers': sft([{ input_ids: [5, 6, 7, 8], assistant_masks: [0, 0, 1, 1] }]),
  'ids-and-completion': sft([{ input_ids: [5, 6, 7, 8], completion_mask: [0, 0, 1, 1] }], {
    completion_only_loss: true,
  }),
  'a-folder': sft([], { dataset_name: './data' }, { 'data/train.jsonl': TALKS }),
  'two-files': sft(
    TALKS,
    {
      datasets: [
        { path: 'json', data_files: './rows.jsonl' },
        { path: 'json', data_files: './more.jsonl' },
      ],
    },
    { 'more.jsonl': TALKS.slice(0, 1) },
  ),
  'chosen-columns': sft(
    TALKS.map(({ messages }) => ({ messages, prompt: 'a' })),
    { datasets: [{ path: 'json', data_files: './rows.jsonl', columns: ['messages'] }] },
  ),
  'a-cloned-template': sft(TALKS, { chat_template_path: 'qwen' }),
  'keys-of-the-launcher': sft(TALKS, { num_processes: 1, mixed_precision: 'no', env: { A: '1' } }),
  'texts-for-values': sft(TALKS, { packing: 'no', max_length: '20' }),
  'flags-of-messages': sft(
    [{ messages: [turn('user', 'Hi'), { ...turn('assistant', 'Hello'), weight: 0 }] }],
    { assistant_only_loss: true, ...marked },
    template,
  ),
};

/** A setting that does nothing: the rows are those of the same file without it. */
const IDLE: Flagged = {
  'completion-of-messages': ['completion_only_loss', sft(TALKS, { completion_only_loss: true })],
  'completion-of-texts': ['completion_only_loss', sft([{ text: 'a b' }], { completion_only_loss: true })],
  'completion-of-labels': [
    'completion_only_loss',
    sft([{ input_ids: [5, 6], labels: [-100, 6], completion_mask: [1, 1] }], { completion_only_loss: true }),
  ],
  'field-of-messages': ['dataset_text_field', sft(TALKS, { dataset_text_field: 'story' })],
  'field-of-ids': [
    'dataset_text_field',
    sft([{ input_ids: [5, 6], labels: [-100, 6] }], { dataset_text_field: 'story' }),
  ],
  'strategy-without-packing': ['packing_strategy', sft(TALKS, { packing_strategy: 'wrapped' })],
  'end-without-length': ['truncation_mode', sft(TALKS, { truncation_mode: 'keep_end', max_length: null })],
};

/** A setting with which TRL stops. */
const STOPS: Flagged = {
  'an-unknown-key': ['max_lenght', sft(TALKS, { max_lenght: 20 })],
  'a-key-of-another-command': ['num_generations', sft(TALKS, { num_generations: 2 })],
  'a-key-of-an-older-version': ['max_seq_length', sft(TALKS, { max_seq_length: 20 })],
  'answers-of-texts': ['assistant_only_loss', sft([{ text: 'a b' }], { assistant_only_loss: true })],
  'answers-of-pairs-of-texts': ['assistant_only_loss', sft(PAIRS, { assistant_only_loss: true })],
  'answers-without-marks': ['assistant_only_loss', sft(TALKS, { assistant_only_loss: true })],
  'no-such-end': ['eos_token', sft([{ text: 'a' }], { eos_token: '<|nowhere|>' })],
  'packing-without-length': ['packing', sft(TALKS, { packing: true, max_length: null })],
  'padding-free-with-length': ['padding_free', sft(TALKS, { padding_free: true })],
  'a-file-as-name': ['dataset_name', sft([], { dataset_name: './rows.jsonl' }, { 'rows.jsonl': TALKS })],
  'a-key-of-a-part': [
    'datasets[0].data_file',
    sft(TALKS, { datasets: [{ path: 'json', data_files: './rows.jsonl', data_file: './rows.jsonl' }] }),
  ],
};

const bare = (key: string, { config, files }: Case): Case => ({
  config: Object.fromEntries(Object.entries(config).filter(([name]) => name !== key)),
  files,
});

compare('trl', 'SFTTrainer', { right: RIGHT, idle: IDLE, stops: STOPS, bare });
