import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { familyFolder, loadTokenizer } from '../../src/tokenizers/load.ts';

const home = mkdtempSync(join(tmpdir(), 'lossproof-load-'));
afterAll(() => rmSync(home, { recursive: true }));

/** A folder with these files beside (or instead of) the files of the Llama 3 family. */
function folder(name: string, files: Record<string, string>, base: readonly string[] = BASE): string {
  const made = join(home, name);
  mkdirSync(made);
  for (const file of base) copyFileSync(join(familyFolder('llama3'), file), join(made, file));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(made, file), text);
  return made;
}
const BASE = ['tokenizer.json', 'tokenizer_config.json'];

function problem(path: string): string {
  const loaded = loadTokenizer(path);
  return 'problem' in loaded ? loaded.problem : 'no problem';
}

function templateOf(path: string): string | undefined {
  const loaded = loadTokenizer(path);
  if ('problem' in loaded) throw new Error(loaded.problem);
  return loaded.tokenizer.chatTemplate;
}

describe('a folder that is no tokenizer', () => {
  it('is named when it does not exist', () => {
    expect(problem(join(home, 'nowhere'))).toMatch(/There is no tokenizer folder .*nowhere; give the one/);
  });

  it('is asked for when a file is given', () => {
    expect(problem(join(familyFolder('llama3'), 'tokenizer.json'))).toContain(
      'give the folder that it lies in',
    );
  });

  it('is described by its files, with the call that writes tokenizer.json', () => {
    const path = folder('foreign', { 'config.json': '{}', 'model.safetensors': '' }, []);
    expect(problem(path)).toContain('(it holds config.json, model.safetensors)');
    expect(problem(path)).toContain('save_pretrained');
    expect(problem(folder('bare', {}, []))).toContain('it holds nothing');
  });

  it('with an older vocabulary is told how to convert it', () => {
    expect(problem(folder('old', { 'tokenizer.model': '' }, []))).toMatch(
      /has tokenizer\.model but no tokenizer\.json; AutoTokenizer/,
    );
  });
});

describe('a file that cannot be used', () => {
  it('is named when it is not JSON', () => {
    expect(problem(folder('cut', { 'tokenizer.json': '{"model":' }))).toMatch(
      /tokenizer\.json .* is not JSON/,
    );
    expect(problem(folder('list', { 'tokenizer_config.json': '[]' }))).toContain('is not a JSON object');
  });

  it('is named with the component that the backend does not have', () => {
    const json = JSON.parse(readFileSync(join(familyFolder('llama3'), 'tokenizer.json'), 'utf8'));
    const made = folder('strange', {
      'tokenizer.json': JSON.stringify({ ...json, pre_tokenizer: { type: 'UnicodeScripts' } }),
    });
    expect(problem(made)).toMatch(/uses the PreTokenizer UnicodeScripts, which the backend huggingface/);
  });

  it('is named with a token whose id is none', () => {
    const json = JSON.parse(readFileSync(join(familyFolder('llama3'), 'tokenizer.json'), 'utf8'));
    const [first] = Object.keys(json.model.vocab);
    const vocab = { ...json.model.vocab, [first as string]: 0.5 };
    const text = JSON.stringify({ ...json, model: { ...json.model, vocab } });
    expect(problem(folder('half', { 'tokenizer.json': text }))).toContain(
      `gives the token ${JSON.stringify(first)} the id 0.5`,
    );
    const added = [{ ...json.added_tokens[0], id: -1 }, ...json.added_tokens.slice(1)];
    expect(
      problem(folder('below', { 'tokenizer.json': JSON.stringify({ ...json, added_tokens: added }) })),
    ).toContain('the id -1');
  });

  it('is named with a token that is no text, added or of a list', () => {
    const json = JSON.parse(readFileSync(join(familyFolder('llama3'), 'tokenizer.json'), 'utf8'));
    const added = [json.added_tokens[0], { ...json.added_tokens[1], content: [[400000000, 0]] }];
    expect(
      problem(folder('nested', { 'tokenizer.json': JSON.stringify({ ...json, added_tokens: added }) })),
    ).toContain('has the token [[400000000, 0]], which is no text');
    const model = {
      type: 'Unigram',
      unk_id: 0,
      vocab: [
        ['<unk>', 0],
        [5, -1],
      ],
    };
    expect(
      problem(folder('list of unigrams', { 'tokenizer.json': JSON.stringify({ ...json, model }) })),
    ).toContain('has the token 5, which is no text');
  });

  it('is a problem and no exception when tokenizer.json is an empty object', () => {
    expect(problem(folder('empty', { 'tokenizer.json': '{}' }))).toContain('cannot be read by the backend');
  });

  it('is named with its line when a template does not compile', () => {
    const source = '{{ bos_token }}\n{% for message in messages %}\n{{ message.content }\n{% endfor %}\n';
    expect(problem(folder('broken', { 'chat_template.jinja': source }))).toMatch(
      /chat template of broken: it does not compile, line 3 \(\{\{ message\.content \}\)/,
    );
  });

  it('is named where a block opens that is never closed', () => {
    const source = '{{ bos_token }}\n{% if messages %}\n{{ messages[0].content }}\ntext\n';
    expect(problem(folder('open', { 'chat_template.jinja': source }))).toContain(
      'line 2 ({% if messages %})',
    );
  });
});

describe('the chat template', () => {
  let config: Record<string, unknown>;
  beforeAll(() => {
    config = JSON.parse(readFileSync(join(familyFolder('llama3'), 'tokenizer_config.json'), 'utf8'));
  });
  const withTemplate = (template: unknown): string => JSON.stringify({ ...config, chat_template: template });

  it('comes from chat_template.jinja before tokenizer_config.json', () => {
    const files = {
      'chat_template.jinja': 'from file',
      'tokenizer_config.json': withTemplate('from config'),
    };
    expect(templateOf(folder('both', files))).toBe('from file');
  });

  it('comes from tokenizer_config.json as a string, or by the name default', () => {
    expect(templateOf(folder('string', { 'tokenizer_config.json': withTemplate('text') }))).toBe('text');
    const named = [
      { name: 'tool_use', template: 'tools' },
      { name: 'default', template: 'plain' },
    ];
    expect(templateOf(folder('named', { 'tokenizer_config.json': withTemplate(named) }))).toBe('plain');
  });

  it('has its line ends normalised', () => {
    expect(templateOf(folder('crlf', { 'chat_template.jinja': 'a\r\nb\rc\n' }))).toBe('a\nb\nc\n');
  });

  it('is absent where no file has one', () => {
    expect(templateOf(folder('none', {}))).toBeUndefined();
  });
});

it('special tokens are found in special_tokens_map.json, as text or as objects', () => {
  const made = folder(
    'map',
    {
      'special_tokens_map.json': '{"bos_token": "<|begin_of_text|>", "eos_token": {"content": "<|eot_id|>"}}',
    },
    ['tokenizer.json'],
  );
  const loaded = loadTokenizer(made);
  if ('problem' in loaded) throw new Error(loaded.problem);
  const { tokenizer } = loaded;
  expect(tokenizer.bosTokenId).toBe(tokenizer.tokenId('<|begin_of_text|>'));
  expect(tokenizer.eosTokenId).toBe(tokenizer.tokenId('<|eot_id|>'));
  expect(tokenizer.padTokenId).toBeUndefined();
});
