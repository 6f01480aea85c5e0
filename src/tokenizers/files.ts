// The files of a tokenizer folder as one value, whichever way the trainer's library wrote them. Reads; parses
// nothing beyond JSON.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isJsonObject } from '../outside/decoded.ts';
import { readText } from '../outside/file.ts';
import { parseStrict } from '../outside/json.ts';
import { told } from '../outside/text.ts';
import { tooMuchOf } from './sizes.ts';
import { sourceOfTemplate } from './template-source.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface TokenizerFiles {
  readonly folder: string;
  readonly tokenizer: Json;
  readonly config: Json;
  readonly bosToken: string | undefined;
  readonly eosToken: string | undefined;
  readonly padToken: string | undefined;
  readonly unkToken: string | undefined;
  /** Tokens whose ids stand outside of tokenizer.json: Python reads these, too. */
  readonly addedElsewhere: ReadonlySet<string>;
  readonly chatTemplate: string | undefined;
}

/** Everything that a backend needs, or one sentence on what is wrong and what to do. */
export function readTokenizerFiles(folder: string): TokenizerFiles | { readonly problem: string } {
  const missing = problemOfFolder(folder);
  if (missing !== undefined) return { problem: missing };
  const tokenizer = readJson(join(folder, 'tokenizer.json'));
  if ('problem' in tokenizer) return tokenizer;
  const stray = tooMuchOf(tokenizer.json) ?? strayToken(tokenizer.json);
  if (stray !== undefined)
    return {
      problem: `${join(folder, 'tokenizer.json')} ${stray}; write it again with save_pretrained.`,
    };
  const config = readJson(join(folder, 'tokenizer_config.json'), {});
  if ('problem' in config) return config;
  const map = readJson(join(folder, 'special_tokens_map.json'), {});
  if ('problem' in map) return map;
  const added = readJson(join(folder, 'added_tokens.json'), {});
  const jinja = textOf(join(folder, 'chat_template.jinja'));
  if ('problem' in jinja) return jinja;
  const template = sourceOfTemplate(jinja.text, config.json.chat_template);
  const token = (name: string): string | undefined =>
    tokenText(config.json[name]) ?? tokenText(map.json[name]);
  return {
    folder,
    tokenizer: tokenizer.json,
    config: config.json,
    bosToken: token('bos_token'),
    eosToken: token('eos_token'),
    padToken: token('pad_token'),
    unkToken: token('unk_token') ?? unknownOf(tokenizer.json.model),
    addedElsewhere: new Set([
      ...addedIn(config.json.added_tokens_decoder),
      ...Object.keys('json' in added ? added.json : {}),
    ]),
    chatTemplate: template,
  };
}

/** Special tokens that are named and have no id, as `eos_token "<|im_end|>"`. */
export function namelessIn(
  files: TokenizerFiles,
  idOf: (token: string | undefined) => number | undefined,
): readonly string[] {
  return (
    [
      ['bos_token', files.bosToken],
      ['eos_token', files.eosToken],
      ['pad_token', files.padToken],
    ] as const
  ).flatMap(([role, token]) =>
    token === undefined || idOf(token) !== undefined || files.addedElsewhere.has(token)
      ? []
      : [`${role} ${JSON.stringify(token)}`],
  );
}

// --- helpers ---

/** Names shown of a folder that is not a tokenizer's: enough to recognise it, short enough for one line. */
const SHOWN_FILES = 6;

function problemOfFolder(folder: string): string | undefined {
  let names: string[];
  try {
    if (statSync(folder).isFile())
      return `The tokenizer ${folder} is a file; give the folder that it lies in.`;
    names = readdirSync(folder).sort();
  } catch {
    return `There is no tokenizer folder ${folder}; give the one that save_pretrained wrote.`;
  }
  if (names.includes('tokenizer.json')) return undefined;
  const convertible = names.find((name) => /^(tokenizer\.model|vocab\.(json|txt)|spiece\.model)$/.test(name));
  if (convertible !== undefined)
    return `The tokenizer folder ${folder} has ${convertible} but no tokenizer.json; AutoTokenizer.from_pretrained(folder).save_pretrained(folder) writes one.`;
  const shown = names.slice(0, SHOWN_FILES).join(', ');
  const more = names.length > SHOWN_FILES ? `, and ${names.length - SHOWN_FILES} more` : '';
  return `The tokenizer folder ${folder} has no tokenizer.json (it holds ${shown === '' ? 'nothing' : shown + more}); write one with tokenizer.save_pretrained(folder).`;
}

/** What is said of a token that is no text, or whose id is none: ids are numbered from 0, and backends take both as they are. */
function strayToken({ model, added_tokens: added }: Json): string | undefined {
  const vocab = isJsonObject(model) ? model.vocab : undefined;
  const pairs: readonly (readonly [unknown, unknown])[] = [
    ...(isJsonObject(vocab) ? Object.entries(vocab) : []),
    // Of unigrams there is a list, in the order of their ids, each with its score.
    ...(Array.isArray(vocab)
      ? vocab.map((entry, id) => [Array.isArray(entry) ? entry[0] : entry, id] as const)
      : []),
    ...(Array.isArray(added)
      ? added.filter(isJsonObject).map(({ content, id }) => [content, id] as const)
      : []),
  ];
  for (const [token, id] of pairs) {
    if (typeof token !== 'string') return `has the token ${told(token)}, which is no text`;
    if (!(Number.isSafeInteger(id) && (id as number) >= 0))
      return `gives the token ${told(token)} the id ${told(id)}`;
  }
  return undefined;
}

function addedIn(decoder: unknown): string[] {
  return isJsonObject(decoder) ? Object.values(decoder).flatMap((token) => tokenText(token) ?? []) : [];
}

/** The model's own name of it; of unigrams, its place in the list. */
function unknownOf(model: unknown): string | undefined {
  if (!isJsonObject(model)) return undefined;
  if (typeof model.unk_token === 'string') return model.unk_token;
  const entry: unknown =
    Array.isArray(model.vocab) && typeof model.unk_id === 'number' ? model.vocab[model.unk_id] : undefined;
  return Array.isArray(entry) && typeof entry[0] === 'string' ? entry[0] : undefined;
}

/** No text where there is no such file; one that is there and cannot be read is no reason to take another template. */
function textOf(file: string): { readonly text: string | undefined } | { readonly problem: string } {
  if (!existsSync(file)) return { text: undefined };
  const read = readText(file);
  return 'ok' in read ? { text: read.ok } : { problem: `${file} cannot be read: ${read.complaint}.` };
}

function readJson(file: string, absent?: Json): { readonly json: Json } | { readonly problem: string } {
  if (absent !== undefined && !existsSync(file)) return { json: absent };
  const text = readText(file);
  if ('complaint' in text) return { problem: `${file} cannot be read: ${text.complaint}.` };
  const parsed = parseStrict(text.ok);
  if ('complaint' in parsed)
    return {
      problem: `${basename(file)} in the tokenizer folder is not JSON (${parsed.complaint}); write it again with save_pretrained. File: ${file}`,
    };
  const json = parsed.ok;
  if (isJsonObject(json)) return { json: json as Json };
  return { problem: `${file} is not a JSON object; write it again with save_pretrained.` };
}

/** A special token is written as its text, or as an object with `content`. */
function tokenText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const { content } = value as { content?: unknown };
  return typeof content === 'string' ? content : undefined;
}
