// Messages as tokens, as the tokenizers of torchtune lay them out: each text by itself, and special tokens by their ids.
// Source: tokenize_messages in torchtune/models/llama3/_tokenizer.py, qwen2/_tokenizer.py and qwen2_5/_tokenizer.py.
import type { JsonObject } from '../../../outside/decoded.ts';
import { strip } from '../../../tokenizers/jinja/python-calls.ts';
import type { Tokenizer } from '../../../tokenizers/tokenizer.ts';
import { rowOf, type TaggedPiece } from '../../piece-row.ts';
import type { TokenRow } from '../../row.ts';

export type TokenizerKind = 'llama3_tokenizer' | 'qwen2_tokenizer' | 'qwen2_5_tokenizer';

export interface PromptTemplate {
  /** By role: what stands before and after what is said. */
  readonly tags: Readonly<Record<string, readonly [string, string]>>;
  /** ChatMLTemplate: an answer without words is left open, and other roles stop it. */
  readonly chatml: boolean;
}

export interface TuneTokenizer {
  readonly kind: TokenizerKind;
  /** Ids that torchtune puts in for special tokens, whatever the vocabulary says. */
  readonly specials: Readonly<Record<string, number>>;
  readonly limit?: number;
  readonly template?: PromptTemplate;
}

export interface Said {
  readonly role: string;
  readonly texts: readonly string[];
  readonly trained: boolean;
  /** The message as the row has it. */
  readonly more?: JsonObject;
}

/** Special tokens that rows have, by the tokenizer. */
export const MARKS = {
  llama3_tokenizer: [
    '<|begin_of_text|>',
    '<|start_header_id|>',
    '<|end_header_id|>',
    '<|eot_id|>',
    '<|end_of_text|>',
  ],
  qwen2_tokenizer: ['<|im_start|>', '<|im_end|>'],
  qwen2_5_tokenizer: ['<|im_start|>', '<|im_end|>'],
} as const satisfies Record<TokenizerKind, readonly string[]>;

export function conversationRow(
  given: readonly Said[],
  { kind, specials, limit, template }: TuneTokenizer,
  tokenizer: Tokenizer,
): TokenRow {
  const said = template === undefined ? given : given.map((each, at) => tagged(each, at, given, template));
  const llama = kind === 'llama3_tokenizer';
  const ids: number[] = [];
  const first: number[] = [];
  const pieces: TaggedPiece[] = [];
  const put = (made: readonly number[], piece: TaggedPiece): void => {
    ids.push(...made);
    first.push(...made.map(() => pieces.length));
    pieces.push(piece);
  };
  const mark = (name: string, piece: Omit<TaggedPiece, 'text'>): void =>
    put([specials[name] ?? -1], { ...piece, text: name });
  if (llama) mark('<|begin_of_text|>', frame(-1, false));
  let kept: number | undefined;
  for (const [turn, { role, texts, trained }] of said.entries()) {
    const own = frame(turn, trained);
    const plain = (text: string): void => put(tokenizer.encode(text), { ...own, text });
    mark(llama ? '<|start_header_id|>' : '<|im_start|>', own);
    plain(llama ? strip(role, undefined, true, true) : `${role}\n`);
    if (llama) {
      mark('<|end_header_id|>', own);
      plain('\n\n');
    }
    const answer = role === 'assistant';
    for (const text of texts)
      put(tokenizer.encode(llama ? strip(text, undefined, true, true) : text), {
        ...own,
        text,
        role: answer ? 'completion' : 'prompt',
        part: 'content',
        answer,
      });
    const stop = {
      ...own,
      role: answer ? 'stop' : 'prompt',
      part: answer ? 'stop' : 'frame',
      answer,
    } as const;
    // The last answer of Qwen ends with the EOS token, which is the same.
    if (llama) mark('<|eot_id|>', stop);
    else if (!answer || turn < said.length - 1) {
      mark('<|im_end|>', stop);
      plain('\n');
    }
    if (limit !== undefined && ids.length >= limit) kept ??= ids.length;
  }
  const last = said.at(-1);
  const whole = ids.length + 1;
  if (kept !== undefined) {
    ids.length = kept;
    first.length = kept;
  }
  if (llama) mark('<|end_of_text|>', frame(-1, false));
  else {
    const turn = pieces[first.at(-1) ?? -1]?.turn ?? -1;
    const { role, trained } = said[turn] ?? last ?? { role: '', trained: false };
    const answer = role === 'assistant';
    const part = answer ? ('stop' as const) : ('frame' as const);
    mark('<|im_end|>', { ...frame(turn, trained), role: answer ? 'stop' : 'prompt', part, answer });
  }
  return laid(ids, first, pieces, whole, {
    tokenizer,
    limit,
    eos: specials[llama ? '<|end_of_text|>' : '<|im_end|>'] ?? -1,
    name: (turn) => said[turn]?.role ?? 'template',
  });
}

/** A text of pre-training, with the tokens around it. */
export function textTokens(
  text: string,
  { kind, specials, limit }: TuneTokenizer,
  { tokenizer, addsEos }: { readonly tokenizer: Tokenizer; readonly addsEos: boolean },
): readonly number[] {
  const llama = kind === 'llama3_tokenizer';
  // tiktoken's wrapper makes nothing at all of nothing.
  if (llama && text === '') return [];
  const eos = specials[llama ? '<|end_of_text|>' : '<|im_end|>'] ?? -1;
  const ids = [
    ...(llama ? [specials['<|begin_of_text|>'] ?? -1] : []),
    ...tokenizer.encode(text),
    ...(addsEos ? [eos] : []),
  ];
  return limit === undefined ? ids : ids.slice(0, limit - 1);
}

/** What torchtune tokenises otherwise than the tokenizer in the folder: undefined where there is nothing. */
export function unlike(
  text: string,
  { kind, specials }: TuneTokenizer,
  tokenizer: Tokenizer,
): string | undefined {
  if (kind === 'llama3_tokenizer' && (text.length > LONGEST || hasLongRun(text)))
    return 'a text that torchtune cuts into pieces, as it is too long for it';
  for (const [mark] of text.matchAll(/<[^<>\s]+>/g)) {
    // Llama's special tokens in a text are letters for torchtune; of Qwen it takes those that it knows.
    const theirs = kind === 'llama3_tokenizer' ? undefined : specials[mark];
    if (theirs !== tokenizer.tokenId(mark))
      return `a text with ${mark}, which torchtune tokenises otherwise than tokenizer.json`;
  }
  return undefined;
}

// --- helpers ---

/** MAX_NO_WHITESPACE_CHARS and MAX_ENCODE_CHARS of its wrapper of tiktoken. */
const LONGEST_RUN = 25_000;
const LONGEST = 400_000;

const hasLongRun = (text: string): boolean =>
  text.length > LONGEST_RUN &&
  [/\s+/, /\S+/].some((by) => text.split(by).some((run) => run.length > LONGEST_RUN));

const frame = (turn: number, trained: boolean): Omit<TaggedPiece, 'text'> => ({
  role: 'prompt',
  turn,
  part: 'frame',
  answer: false,
  trained,
});

function tagged(said: Said, at: number, all: readonly Said[], { tags, chatml }: PromptTemplate): Said {
  const [before = '', after = ''] = tags[said.role] ?? [];
  const open = chatml && said.role === 'assistant' && at === all.length - 1 && said.texts.join('') === '';
  return {
    ...said,
    texts: [...(before === '' ? [] : [before]), ...said.texts, ...(after === '' || open ? [] : [after])],
  };
}

interface Around {
  readonly tokenizer: Tokenizer;
  readonly limit: number | undefined;
  readonly eos: number;
  readonly name: (turn: number) => string;
}

/** With a limit, the last token is EOS and is not trained, whether anything was cut or not. */
function laid(
  ids: readonly number[],
  first: readonly number[],
  pieces: readonly TaggedPiece[],
  whole: number,
  { tokenizer, limit, eos, name }: Around,
): TokenRow {
  const made = ids.slice(0, limit);
  const lost = whole - made.length;
  const at = first.slice(0, made.length);
  const row = rowOf(tokenizer, made, pieces, { first: at, last: at }, name);
  if (limit === undefined) return row;
  const end = made.length - 1;
  const cut = (to: number): boolean => lost > 0 && to > end;
  return {
    ...row,
    ids: made.with(end, eos),
    trained: row.trained.with(end, false),
    lost,
    answers: row.answers.map(({ stop, ...answer }) =>
      cut(answer.to) ? { ...answer, cut: true } : { ...answer, ...(stop === undefined ? {} : { stop }) },
    ),
  };
}
