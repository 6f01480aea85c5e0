// A conversation as ms-swift tokenises it: texts of its own template, joined where they are trained alike, and tokens by
// their name. Source: Template._swift_encode, _encode_context_list, _add_dynamic_eos and LossScale of ms-swift.
import type { Tokenizer } from '../../../tokenizers/tokenizer.ts';
import type { Ids } from '../../../vocabulary.ts';
import type { ChatMessage } from '../../shape/messages.ts';
import type { Ruled } from '../rows.ts';
import type { Talk } from './messages.ts';

/** A text, or tokens by id or by what they are of the tokenizer. */
type Slot = string | readonly (string | number)[];

export interface SwiftTemplate {
  readonly prefix: readonly Slot[];
  readonly prompt: readonly Slot[];
  readonly chatSep: readonly Slot[] | null;
  readonly suffix: readonly Slot[];
  readonly systemPrefix: readonly Slot[] | null;
  readonly systemPrompt: readonly Slot[] | null;
  readonly defaultSystem: string | null;
  readonly addsBos: boolean;
  readonly stops: readonly string[];
}

export interface SwiftSettings {
  readonly template: SwiftTemplate;
  /** loss_scale: default, last_round or all. */
  readonly strategy: string;
  readonly truncation: string;
  readonly system?: string;
}

/** A token that a template names and the tokenizer does not have. */
export function missingToken(
  { prefix, prompt, chatSep, suffix, systemPrefix }: SwiftTemplate,
  tokenizer: Tokenizer,
): string | undefined {
  const slots = [...prefix, ...prompt, ...(chatSep ?? []), ...suffix, ...(systemPrefix ?? [])];
  return slots
    .flatMap((slot) =>
      typeof slot === 'string' ? [...slot.matchAll(/<\|[\w-]+\|>/g)].map(([mark]) => mark) : slot,
    )
    .filter((each) => typeof each === 'string')
    .find((each) => !OF_TOKENIZERS.has(each) && tokenizer.tokenId(each) === undefined);
}

export function encode(
  { messages: given, form }: Talk,
  settings: SwiftSettings,
  tokenizer: Tokenizer,
): Ruled {
  const { template, strategy } = settings;
  if (given.some(({ content }) => TAGS.test(String(content))))
    return { unsupported: 'a text of it has a tag such as <image>' };
  const own = given[0]?.role === 'system' ? String(given[0].content) : undefined;
  const turns = merged(given.slice(own === undefined ? 0 : 1));
  if (turns === undefined)
    return { unsupported: 'two answers follow each other, or a system text comes later' };
  if (turns.length === 0) return { leftOut: 'it has no question and no answer' };
  if (own !== undefined && template.systemPrefix === null && template.systemPrompt === null)
    return { leftOut: 'it has a system text, for which the template has no place' };
  const system = own ?? settings.system ?? template.defaultSystem ?? undefined;
  if (turns[0]?.role === 'assistant') turns.unshift({ role: 'user', content: '' });
  const asked = turns.length % 2 === 1;
  const rounds = Math.ceil(turns.length / 2);
  if (rounds > 1 && template.chatSep === null)
    return { unsupported: 'it has several rounds, and the template has one' };
  const parts: Part[] = [];
  const put = (
    slots: readonly Slot[],
    kind: Part['kind'],
    words: Readonly<Record<string, string>> = {},
  ): void => {
    for (const slot of slots)
      parts.push({ slot: typeof slot === 'string' ? filled(slot, words) : slot, kind });
  };
  if (template.addsBos) {
    const bos = added(tokenizer);
    if (bos === undefined) return { unsupported: 'the tokenizer puts tokens after a text' };
    if (bos.length > 0) parts.push({ slot: bos, kind: 'other' });
  }
  const words = system === undefined ? {} : { SYSTEM: system };
  put(
    template.systemPrompt !== null || !system ? template.prefix : (template.systemPrefix ?? []),
    'other',
    words,
  );
  for (let round = 0; round < rounds; round++) {
    const [question, answer] = [turns[2 * round], turns[2 * round + 1]];
    if (question?.role !== 'user' || (answer !== undefined && answer.role !== 'assistant'))
      return { leftOut: 'its questions and answers do not take turns' };
    const last = round === rounds - 1;
    // Without a system text, its place stays as it is written.
    put(last && template.systemPrompt !== null ? template.systemPrompt : template.prompt, 'other', {
      ...words,
      QUERY: String(question.content),
      ROUND0: String(round),
      ROUND1: String(round + 1),
    });
    if (answer === undefined) break;
    const content = String(answer.content);
    parts.push({ slot: content, kind: 'response', answer });
    if (!last) put(template.chatSep ?? [], 'other');
    else if (!endings(template, tokenizer).some((stop) => content.endsWith(stop)))
      put(template.suffix, 'suffix');
  }
  const lastUser = turns.findLastIndex(({ role }) => role === 'user');
  let round = 0;
  const weighed = parts.map((part): Weighed => {
    const own = part.kind === 'other' ? round : part.kind === 'response' ? round++ : round;
    return { slot: part.slot, trained: isTrained(part, strategy, 2 * own >= lastUser) };
  });
  const { ids, trained } = tokensOf(weighed, tokenizer);
  withEnds(
    ids,
    trained,
    tokensOf(
      template.suffix.map((slot) => ({ slot, trained: false })),
      tokenizer,
    ).ids,
  );
  if (trained.length > 0) trained[0] = false;
  return {
    ids,
    trained,
    form,
    assumed: `${strategy === 'all' ? 'every token is trained' : strategy === 'last_round' ? 'the last answer is trained' : 'every answer is trained'}, with what the template writes after it (loss_scale ${strategy})`,
    messages: asked ? given : given.map(({ loss: _, loss_scale: __, ...message }) => message as ChatMessage),
    ...(strategy === 'all' ? { promptsTrained: true } : {}),
  };
}

// --- helpers ---

/** What a slot may name that every tokenizer has. */
const OF_TOKENIZERS = new Set(['eos_token_id', 'bos_token_id', 'pad_token_id']);
const TAGS = /<(?:image|video|audio|ref-object|bbox|cot-process|start-image)>/;

interface Part {
  readonly slot: Slot;
  readonly kind: 'other' | 'response' | 'suffix';
  readonly answer?: ChatMessage;
}

interface Weighed {
  readonly slot: Slot;
  readonly trained: boolean;
}

/** Questions that follow each other are one. */
function merged(messages: readonly ChatMessage[]): ChatMessage[] | undefined {
  const turns: ChatMessage[] = [];
  for (const message of messages) {
    const before = turns.at(-1);
    if (message.role === 'system' || (before?.role === 'assistant' && message.role === 'assistant'))
      return undefined;
    if (before !== undefined && before.role === message.role)
      turns[turns.length - 1] = { ...before, content: `${String(before.content)}${String(message.content)}` };
    else turns.push(message);
  }
  return turns;
}

const filled = (slot: string, words: Readonly<Record<string, string>>): string =>
  ['SYSTEM', 'QUERY', 'ROUND0', 'ROUND1'].reduce(
    (text, name) =>
      words[name] === undefined ? text : text.replaceAll(`{{${name}}}`, () => words[name] ?? ''),
    slot,
  );

/** Tokens that the tokenizer puts before a text; undefined if it puts some behind. */
function added(tokenizer: Tokenizer): Ids | undefined {
  const [bare = -1] = tokenizer.encode('a');
  const dressed = tokenizer.encode('a', { addSpecialTokens: true });
  const at = dressed.indexOf(bare);
  return at === dressed.length - 1 ? dressed.slice(0, at) : undefined;
}

function endings({ stops, suffix }: SwiftTemplate, tokenizer: Tokenizer): string[] {
  const last = suffix.at(-1);
  const eos = tokenizer.token(tokenizer.eosTokenId ?? -1);
  return [
    ...stops,
    ...(typeof last === 'string' && last.trim() !== '' ? [last.trim()] : []),
    ...(eos === undefined ? [] : [eos]),
  ];
}

/** A message may say itself whether it is trained, or how much. */
function isTrained({ kind, answer }: Part, strategy: string, last: boolean): boolean {
  const loss = answer?.loss;
  const scale = answer?.loss_scale;
  const wanted =
    loss === undefined || loss === null
      ? strategy === 'all' || (kind !== 'other' && (strategy === 'default' || last))
      : Boolean(loss);
  return wanted && (scale === undefined || scale === null || Number(scale) > 0);
}

function tokensOf(
  parts: readonly Weighed[],
  tokenizer: Tokenizer,
): { readonly ids: number[]; readonly trained: boolean[] } {
  const ids: number[] = [];
  const trained: boolean[] = [];
  const put = (own: Ids, weight: boolean): void => {
    ids.push(...own);
    trained.push(...own.map(() => weight));
  };
  let text = '';
  let weight = false;
  for (const { slot, trained: own } of parts) {
    if (typeof slot === 'string' && own === weight) {
      text += slot;
      continue;
    }
    if (text !== '') put(tokenizer.encode(text), weight);
    text = typeof slot === 'string' ? slot : '';
    weight = own;
    if (typeof slot !== 'string')
      put(
        slot.flatMap((each) => idOf(each, tokenizer)),
        own,
      );
  }
  if (text !== '') put(tokenizer.encode(text), weight);
  return { ids, trained };
}

function idOf(each: string | number, tokenizer: Tokenizer): number[] {
  if (typeof each === 'number') return [each];
  const id = {
    eos_token_id: tokenizer.eosTokenId,
    bos_token_id: tokenizer.bosTokenId,
    pad_token_id: tokenizer.padTokenId,
  }[each];
  return id === undefined ? [] : [id];
}

/** Where an answer is trained and the suffix follows it untrained, the suffix is trained as well. */
function withEnds(ids: readonly number[], trained: boolean[], suffix: readonly number[]): void {
  let start = 0;
  for (let at = 1; at <= ids.length; at++) {
    if (trained[at - 1] && at < ids.length && !trained[at]) start = at;
    else if (start > 0 && !trained[at - 1] && (at === ids.length || trained[at])) {
      const fits = at - start >= suffix.length && suffix.every((id, index) => ids[start + index] === id);
      if (fits) trained.fill(true, start, start + suffix.length);
    }
  }
}
