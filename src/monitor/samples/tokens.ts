// What rules about samples may ask of the tokenizer of a run: which ids end an answer, and which texts open a message in
// its chat template. Both are read off renderings of contents that nobody writes.

import { renderChat, templateTokens } from '../../tokenizers/template.ts';
import { tokenText } from '../../tokenizers/text.ts';
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import type { Message } from '../../vocabulary.ts';
import type { SampleTokens } from '../rule.ts';

export interface TokenOptions {
  /** Further stop ids, as `eos_token_id` of generation_config.json lists them. */
  readonly stopIds?: readonly number[];
  /** Instead of the tokenizer's own chat template. */
  readonly template?: string;
}

export function sampleTokensOf(tokenizer: Tokenizer, options: TokenOptions = {}): SampleTokens {
  const template = options.template ?? tokenizer.chatTemplate;
  const frame = template === undefined ? NO_FRAME : frameOf(tokenizer, template);
  const { bosTokenId, eosTokenId, padTokenId } = tokenizer;
  const stopIds = [
    ...new Set([
      ...(eosTokenId === undefined ? [] : [eosTokenId]),
      ...(options.stopIds ?? []),
      ...frame.stops,
    ]),
  ];
  const stops = stopIds.flatMap((id) => tokenizer.token(id) ?? []);
  return {
    encode: (text) => tokenizer.encode(text),
    decode: remembering((ids) => tokenizer.decode(ids)),
    textOf: (id) => tokenText(tokenizer, id),
    stopIds,
    ...(bosTokenId === undefined ? {} : { bosId: bosTokenId }),
    ...(padTokenId === undefined ? {} : { padId: padTokenId }),
    specials: [...tokenizer.specialIds].flatMap((id) => tokenizer.token(id) ?? []),
    // GLM ends an answer with the token that opens the next message: as a stop token it is no header.
    headers: frame.headers.filter((header) => !stops.some((stop) => header.startsWith(stop))),
  };
}

/** `eos_token_id` of a generation_config.json: one id or a list. */
export function stopIdsOfConfig(config: unknown): readonly number[] {
  const value =
    typeof config === 'object' && config !== null && 'eos_token_id' in config
      ? config.eos_token_id
      : undefined;
  const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
  return ids.filter((id): id is number => Number.isSafeInteger(id));
}

// --- helpers ---

/** Every rule decodes the ids of the same sample; the text goes when the sample does. */
function remembering(decode: SampleTokens['decode']): SampleTokens['decode'] {
  const known = new WeakMap<readonly number[], string>();
  return (ids) => {
    if (ids.length < WORTH_REMEMBERING) return decode(ids);
    const text = known.get(ids) ?? decode(ids);
    known.set(ids, text);
    return text;
  };
}

/** Ids; fewer are decoded as fast as they are looked up. */
const WORTH_REMEMBERING = 16;

interface Frame {
  readonly stops: readonly number[];
  readonly headers: readonly string[];
}

const NO_FRAME: Frame = { stops: [], headers: [] };

/** Contents of private use, which no template looks for. */
const sentinel = (at: number): string => `\u{f5e01}${at}\u{f5e02}`;
const SENTINEL = /\u{f5e01}\d+\u{f5e02}/u;

/** Conversations whose glue shows every header; a template may refuse any of them. */
const DIALOGUES: readonly (readonly Message['role'][])[] = [
  ['user', 'assistant', 'user', 'assistant'],
  ['system', 'user', 'assistant'],
  ['user', 'assistant', 'tool', 'assistant'],
];

function frameOf(tokenizer: Tokenizer, template: string): Frame {
  const headers = new Set<string>();
  const stops = new Set<number>();
  for (const roles of DIALOGUES) {
    const messages = roles.map((role, at) => ({ role, content: sentinel(at) }));
    const glue = glueOf(tokenizer, template, messages, false);
    for (const [at, text] of glue.entries()) {
      const stop = roles[at - 1] === 'assistant' ? firstControl(tokenizer, text) : undefined;
      if (stop !== undefined && at < roles.length) stops.add(stop);
      // Behind the last content nothing is opened.
      if (at < roles.length) addHeader(headers, tokenizer, text);
    }
    const asked = glueOf(tokenizer, template, messages.slice(0, roles.lastIndexOf('assistant')), true);
    addHeader(headers, tokenizer, asked.at(-1) ?? '');
  }
  return { stops: [...stops], headers: [...headers] };
}

function glueOf(
  tokenizer: Tokenizer,
  template: string,
  messages: readonly Message[],
  addGenerationPrompt: boolean,
): readonly string[] {
  const rendered = renderChat(template, { messages, addGenerationPrompt, ...templateTokens(tokenizer) });
  return 'text' in rendered ? rendered.text.split(SENTINEL) : [];
}

/** The last mark in the glue before a content, with the words around it: `<|im_start|>user⏎`. */
function addHeader(headers: Set<string>, tokenizer: Tokenizer, glue: string): void {
  const controls = controlsIn(tokenizer, glue);
  const last = controls.at(-1);
  if (last === undefined) return;
  // Marks of one header stand with a word between them at most: `<|start_header_id|>user<|end_header_id|>`.
  let from = last.at;
  for (const { at, end } of controls.toReversed().slice(1)) {
    if (!/^[\p{L}_]+$/u.test(glue.slice(end, from))) break;
    from = at;
  }
  const header = glue.slice(from);
  const bos = tokenizer.bosTokenId === undefined ? undefined : tokenizer.token(tokenizer.bosTokenId);
  const eos = tokenizer.eosTokenId === undefined ? undefined : tokenizer.token(tokenizer.eosTokenId);
  if (header.trim() !== bos && header.trim() !== eos) headers.add(header);
}

interface Control {
  readonly id: number;
  readonly at: number;
  readonly end: number;
}

function controlsIn(tokenizer: Tokenizer, text: string): readonly Control[] {
  const found: Control[] = [];
  let from = 0;
  for (const id of tokenizer.encode(text)) {
    const spelled = tokenizer.token(id) ?? '';
    if (!tokenizer.specialIds.has(id) && !MARK.test(spelled)) continue;
    const at = text.indexOf(spelled, from);
    if (at < 0) continue;
    from = at + spelled.length;
    found.push({ id, at, end: from });
  }
  return found;
}

/** Vocabularies do not flag all of their marks as special. */
const MARK = /^(?:<[^\s<>]{3,}>|\[\/?[A-Z_]+\])$/u;

const firstControl = (tokenizer: Tokenizer, text: string): number | undefined =>
  controlsIn(tokenizer, text)[0]?.id;
