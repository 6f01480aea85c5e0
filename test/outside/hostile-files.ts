// Files of models and data sets that are meant to take the machine, or to be waited for: each with the command that reads it and
// what it must say. `npm run measure:misbehaving` measures the seconds and the memory of each.
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { familyFolder } from '../../src/tokenizers/load.ts';

export interface HostileFile {
  /** Lays it into an empty folder. */
  readonly write: (folder: string) => void;
  /** Words of the command; `checkpoint` is no command, but what a property does with the folder that a trainer names. */
  readonly read: readonly string[];
  readonly says: RegExp;
}

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
const LISTS = `[${'[],'.repeat(5_000_000)}[]]`;
const MEGABYTE = 2 ** 20;
const keys = (count: number): string =>
  `{${Array.from({ length: count }, (_, at) => `"k${at.toString(36)}":0`).join()}}`;

const TOO_DEEP = /nested deeper than 200 levels/;
const TOO_LONG = /it has [\d,]+ bytes; [\d,]+ are read at most/;

/** A file of a tokenizer's folder, all others as they should be. */
function tokenizer(name: string, text: string | ((folder: string) => void), says: RegExp): HostileFile {
  return {
    write(folder) {
      cpSync(familyFolder('qwen'), join(folder, 'tokenizer'), { recursive: true });
      rows(folder);
      const file = join(folder, 'tokenizer', name);
      if (typeof text === 'string') writeFileSync(file, text);
      else text(file);
    },
    read: ['view', 'rows.jsonl', '--tokenizer', 'tokenizer'],
    says,
  };
}

function rows(folder: string): void {
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Yes' },
  ];
  writeFileSync(join(folder, 'rows.jsonl'), `${JSON.stringify({ messages })}\n`);
}

const template = (text: string, says: RegExp): HostileFile => tokenizer('chat_template.jinja', text, says);

/** The tokenizer.json that was there, with other values in it. */
const changed = (values: (json: Record<string, unknown>) => object, says: RegExp): HostileFile =>
  tokenizer(
    'tokenizer.json',
    (file) => {
      const json = JSON.parse(readFileSync(file, 'utf8'));
      writeFileSync(file, JSON.stringify({ ...json, ...values(json) }));
    },
    says,
  );

/** A template of turns, and one that makes two long texts. */
const TURNS = '{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}';
const GROWN =
  "{% set n = namespace(part='aaaaaaaa') %}{% for i in range(15) %}{% set n.part = n.part ~ n.part %}{% endfor %}{% set n.text = n.part ~ n.part %}";

const pipe = (file: string): void => {
  execFileSync('rm', ['-f', file]);
  execFileSync('mkfifo', [file]);
};
/** It has no data, only a length. */
const sparse =
  (bytes: number) =>
  (file: string): void => {
    const descriptor = openSync(file, 'w');
    ftruncateSync(descriptor, bytes);
    closeSync(descriptor);
  };

const CONFIG = {
  model_type: 'gpt2',
  vocab_size: 8,
  n_positions: 8,
  n_embd: 4,
  n_layer: 1,
  n_head: 1,
  tie_word_embeddings: true,
};

function checkpoint(config: string, weights: (file: string) => void, says: RegExp): HostileFile {
  return {
    write(folder) {
      mkdirSync(join(folder, 'model'));
      writeFileSync(join(folder, 'model', 'config.json'), config);
      weights(join(folder, 'model', 'model.safetensors'));
    },
    read: ['checkpoint', 'model'],
    says,
  };
}

const small = (file: string): void => writeFileSync(file, '');
const weights = (write: (file: string) => void, says: RegExp): HostileFile =>
  checkpoint(JSON.stringify(CONFIG), write, says);

/** So many bytes of header, as is said of them, and the header itself. */
const header =
  (length: bigint, text: string, bytes?: number) =>
  (file: string): void => {
    const descriptor = openSync(file, 'w');
    writeSync(descriptor, new Uint8Array(new BigUint64Array([length]).buffer));
    writeSync(descriptor, text);
    if (bytes !== undefined) ftruncateSync(descriptor, bytes);
    closeSync(descriptor);
  };
const headerOf = (text: string, bytes?: number): ((file: string) => void) =>
  header(BigInt(Buffer.byteLength(text)), text, bytes);

const file = (
  name: string,
  read: readonly string[],
  text: string | Uint8Array,
  says: RegExp,
): HostileFile => ({
  write: (folder) => writeFileSync(join(folder, name), text),
  read,
  says,
});
const data = (text: string, says: RegExp): HostileFile =>
  file('rows.jsonl', ['view', 'rows.jsonl', '--tokenizer', familyFolder('qwen')], text, says);
const log = (name: string, text: string | Uint8Array, says: RegExp): HostileFile =>
  file(name, ['monitor', name], text, says);

export const HOSTILE_FILES: Readonly<Record<string, HostileFile>> = {
  'tokenizer.json: deep': tokenizer('tokenizer.json', DEEP, TOO_DEEP),
  'tokenizer.json: five million lists': tokenizer(
    'tokenizer.json',
    LISTS,
    /more than 4,194,304 lists and objects/,
  ),
  'tokenizer.json: three million keys': tokenizer(
    'tokenizer.json',
    keys(3_000_000),
    /more than 2,097,152 keys/,
  ),
  'tokenizer.json: two million keys': tokenizer('tokenizer.json', keys(2_000_000), /tokenizer\.json/),
  'tokenizer.json: 20 million values': tokenizer(
    'tokenizer.json',
    `[${'0,'.repeat(20_000_000)}0]`,
    /more than 16,777,216 values/,
  ),
  'tokenizer.json: 16 million values': tokenizer(
    'tokenizer.json',
    `[${'0,'.repeat(16_000_000)}0]`,
    /is not a JSON object/,
  ),
  'tokenizer.json: 4 GiB': tokenizer('tokenizer.json', sparse(2 ** 32), TOO_LONG),
  'tokenizer.json: a pipe': tokenizer('tokenizer.json', pipe, /it is no file but a pipe or a device/),
  'tokenizer.json: merges of nothing': changed(
    (json) => ({ model: { ...(json.model as object), merges: [null, 1, {}] } }),
    /tokenizer\.json/,
  ),
  'tokenizer.json: an expression that backtracks': changed(
    () => ({
      pre_tokenizer: {
        type: 'Split',
        pattern: { Regex: '(a+)+b|(\\s+)+x|(\\w+)+!' },
        behavior: 'Isolated',
        invert: false,
      },
    }),
    /does not come to an end|cannot be/,
  ),
  'tokenizer.json: a token of five million characters': changed(
    (json) => ({
      added_tokens: [
        ...(json.added_tokens as object[]),
        { id: 9_999, content: 'a?'.repeat(2_500_000), special: true },
      ],
    }),
    /tokenizer|rows/,
  ),
  'tokenizer_config.json: deep': tokenizer('tokenizer_config.json', DEEP, TOO_DEEP),
  'tokenizer_config.json: an endless template': {
    ...tokenizer(
      'tokenizer_config.json',
      (path) => {
        execFileSync('rm', ['-f', join(path, '..', 'chat_template.jinja')]);
        writeFileSync(
          path,
          JSON.stringify({
            chat_template: '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}',
          }),
        );
      },
      /does not come to an end/,
    ),
  },
  'special_tokens_map.json: deep': tokenizer('special_tokens_map.json', DEEP, TOO_DEEP),
  'chat_template.jinja: loops in loops': template(
    '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}',
    /does not come to an end/,
  ),
  'chat_template.jinja: a range of 10**12': template('{{ range(10 ** 12) }}', /range\(\) of 1000000000000/),
  'chat_template.jinja: a text that doubles': template(
    '{% set n = namespace(s="ab") %}{% for a in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s }}',
    /it makes a text of/,
  ),
  'chat_template.jinja: 90,000 brackets': template(`{{ ${'('.repeat(90_000)} }}`, /does not compile/),
  'tokenizer.json: a replacement of nine million characters': changed(
    () => ({ normalizer: { type: 'Replace', pattern: { String: 'Z' }, content: 'y'.repeat(9_000_000) } }),
    /characters of normalizer; 100,000 are read at most/,
  ),
  'tokenizer.json: a decoder of 400,000 rules': changed(
    () => ({
      decoder: {
        type: 'Sequence',
        decoders: Array.from({ length: 400_000 }, () => ({
          type: 'Replace',
          pattern: { String: 'q' },
          content: 'x',
        })),
      },
    }),
    /characters of decoder/,
  ),
  'tokenizer.json: 2,500,000 merges': changed(
    ({ model }) => ({
      model: { ...(model as object), merges: Array.from({ length: 2_500_000 }, (_, at) => `a${at} b${at}`) },
    }),
    /merges; 1,000,000 are read at most/,
  ),
  'tokenizer.json: pieces of no length': changed(
    () => ({ pre_tokenizer: { type: 'FixedLength', length: 0 } }),
    /pieces of no length/,
  ),
  'tokenizer.json: 250,000 tokens of 100 characters': changed(
    () => ({
      model: {
        type: 'Unigram',
        unk_id: 0,
        vocab: Array.from({ length: 250_000 }, (_, id) => [String(id).padStart(100, 'abc'), -1]),
      },
    }),
    /characters of vocabulary/,
  ),
  'tokenizer.json: an added token of 54 million characters': changed(
    ({ added_tokens: added }) => ({
      added_tokens: [...(added as object[]), { id: 9_999, content: 'a?'.repeat(27_000_000), special: true }],
    }),
    /characters of added tokens/,
  ),
  'chat_template.jinja: half a text is looked for in it': template(
    `${TURNS}${GROWN}{{ 'x' if ('aaaab' ~ n.part) in n.text else '' }}`,
    /together in one operation/,
  ),
  'chat_template.jinja: a long text in many places': template(
    `${GROWN}{% set l = [n.text, n.text, n.text, n.text, n.text, n.text, n.text, n.text] %}{% for i in range(6) %}{% set l = l + l %}{% endfor %}{{ (l + l + l + l + l + l) | tojson | length }}`,
    /together in one operation/,
  ),
  'chat_template.jinja: an indent of half a billion': template(
    "{{ 'a\\na' | indent(530000000) | length }}",
    /together in one operation/,
  ),
  'chat_template.jinja: white space': template(`${' '.repeat(99_000)}x${TURNS}`, /white space on end/),
  'chat_template.jinja: comments that are none': template(
    `${TURNS}{{ '${'{#'.repeat(40_000)}' and '' }}`,
    /1 row/,
  ),
  'chat_template.jinja: each rendering takes half a second': template(
    `{% for a in range(200) %}{% for b in range(1000) %}{% endfor %}{% endfor %}${TURNS}`,
    /does not come to an end/,
  ),
  'chat_template.jinja: a refusal of a quarter of a million characters': template(
    `${GROWN}{{ raise_exception(n.part) }}`,
    /refuses the conversation/,
  ),
  'chat_template.jinja: a pipe': tokenizer(
    'chat_template.jinja',
    pipe,
    /it is no file but a pipe or a device/,
  ),
  'chat_template.jinja: 40 MB': template('{{ messages }}\n'.repeat(2_800_000), /no template has more than/),
  'config.json: deep': checkpoint(DEEP, small, TOO_DEEP),
  'config.json: a billion layers': checkpoint(
    JSON.stringify({ ...CONFIG, n_layer: 1e9, n_embd: 2 ** 40, vocab_size: 2 ** 50 }),
    small,
    /config\.json|too few for a header/,
  ),
  'config.json: a model type without a text': checkpoint(
    JSON.stringify({ ...CONFIG, model_type: { toString: 1 } }),
    small,
    /model_type is \{"toString":1\}/,
  ),
  'safetensors: a type without a text': weights(
    headerOf(JSON.stringify({ a: { dtype: { toString: 1 }, shape: [1], data_offsets: [0, 4] } })),
    /dtype \{"toString":1\}, expected/,
  ),
  'safetensors: a shape of four million lengths': weights(
    headerOf(
      JSON.stringify({
        a: { dtype: 'F32', shape: Array.from({ length: 4_000_000 }, () => 1), data_offsets: [0, 0] },
      }),
    ),
    /it is no list of lengths/,
  ),
  'safetensors: empty': weights(small, /0 bytes are too few for a header/),
  'safetensors: a header of 2**63 bytes': weights(
    header(2n ** 63n, '{}'),
    /a header of 9223372036854776000 bytes/,
  ),
  'safetensors: a header of 90 MB': weights(
    headerOf(' '.repeat(90 * MEGABYTE)),
    /a header of 94371840 bytes/,
  ),
  'safetensors: a deep header': weights(headerOf(DEEP), TOO_DEEP),
  'safetensors: a header of a million keys': weights(headerOf(keys(1_000_000)), /its entry is not an object/),
  'safetensors: 4 GiB': weights(headerOf('{}', 2 ** 32), TOO_LONG),
  'safetensors: 128 MiB of halves': weights(
    headerOf(
      JSON.stringify({
        a: { dtype: 'F16', shape: [2 ** 26 - 2 ** 16], data_offsets: [0, 2 * (2 ** 26 - 2 ** 16)] },
      }),
      2 ** 27,
    ),
    /belong to none/,
  ),
  'safetensors: a tensor of lies': weights(
    headerOf(
      JSON.stringify({ a: { dtype: 'F32', shape: [2 ** 40, 2 ** 40], data_offsets: [0, 4] } }),
      100_000,
    ),
    /does not fit bytes 0 to 4/,
  ),
  'JSON lines: a call that has to be looked for': data(
    `${JSON.stringify({
      messages: [
        { role: 'user', content: 'a'.repeat(MEGABYTE) },
        {
          role: 'assistant',
          content: '',
          tool_calls: [
            {
              type: 'function',
              function: { name: `${'a'.repeat(12)}b${'a'.repeat(MEGABYTE / 2)}`, arguments: {} },
            },
          ],
        },
      ],
    })}\n`,
    /message-dropped/,
  ),
  'JSON lines: 75,000 answers without an end': data(
    `{"input_ids": [${'857,357,198,348,'.repeat(75_000)}857], "labels": [${'-100,'.repeat(300_000)}-100]}\n`,
    /nothing-trained/,
  ),
  'JSON lines: a million ids that are none': data(
    `{"input_ids": [${'999999,'.repeat(1_000_000)}1]}\n`,
    /id-outside-vocabulary/,
  ),
  'JSON lines: deep': data(`${DEEP}\n`, TOO_DEEP),
  'JSON lines: a line of 9 MiB': data(`{"text": "${'a'.repeat(9 * MEGABYTE)}"}\n`, /are read at most/),
  'JSON lines: a row of 7 MB': data(
    `{"text": "${'a '.repeat(3.5 * MEGABYTE)}"}\n{"text": "a"}\n`,
    /nothing of it was judged.*1 of 2 rows is flagged/,
  ),
  'JSON lines: a row of a million words': data(`{"text": "${'a '.repeat(MEGABYTE)}"}\n`, /1,048,578 tokens/),
  'JSON lines: four million lists': data(`[${'[],'.repeat(2_700_000)}[]]\n`, /./),
  'a log of JSON lines: deep': log(
    'a.jsonl',
    `{"step": 1, "loss": 2}\n${DEEP}\n{"step": 2, "loss": 2}\n`,
    /./,
  ),
  'a log: one line of 100 MB': log(
    'b.jsonl',
    `{"step": 1, "loss": 2, "x": "${'a'.repeat(100 * MEGABYTE)}"}\n`,
    /./,
  ),
  'CSV: a million columns': log(
    'c.csv',
    `step,${'a,'.repeat(1_000_000)}loss\n1,${'2,'.repeat(1_000_000)}3\n`,
    /./,
  ),
  'trainer_state.json: deep': log('trainer_state.json', `{"log_history": ${DEEP}}`, /./),
  'Parquet: nothing in it': log('d.parquet', Buffer.from(`PAR1${'\0'.repeat(100)}\x64\0\0\0PAR1`), /./),
  'Parquet: a footer of 2 GiB': log('e.parquet', Buffer.from('PAR1\xff\xff\xff\x7fPAR1', 'latin1'), /./),
};
