// What a chat template puts around the contents of messages: the header that opens an answer, what closes it, and for
// each arrangement of roles a skeleton of the rendering. Learned by rendering contents that nobody writes.
import { byteOfToken } from '../tokenizers/byte-fallback.ts';
import { hasGenerationTags } from '../tokenizers/spans.ts';
import { type Rendered, type RenderOptions, renderChat, templateTokens } from '../tokenizers/template.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { Message } from '../vocabulary.ts';
import { type ChatMessage, callsOf, contentText } from './shape/messages.ts';

/** Text that the template writes, or the content of a message. */
export type Part = { readonly glue: string } | { readonly message: number };
/** A rendering with its contents taken out, in the order in which it prints them; or why it does not render. */
export type Skeleton = readonly Part[] | { readonly problem: string };

export interface Writer {
  readonly tokenizer: Tokenizer;
  readonly template: string;
  /** The template itself marks what it wants trained, with {% generation %}. */
  readonly marked: boolean;
  /** What opens an answer, a user's turn; '' where nothing does. */
  readonly openers: { readonly assistant: string; readonly user: string };
  /**
   * What stands before the content of a second question, before that of an answer, and behind a question where the model is to
   * answer; undefined where it cannot be had.
   */
  readonly turns: { readonly question?: string; readonly answer?: string; readonly prompted?: string };
  /** From the end of an answer to the end of its stop token; '' where the template writes none. */
  readonly closing: string;
  /** The text of that token. */
  readonly stop: string | undefined;
  render(messages: readonly ChatMessage[], options?: WriteOptions): Rendered;
  optionsOf(messages: readonly ChatMessage[], options?: WriteOptions): RenderOptions;
  /** Equal for conversations with the same roles, and made once for them. */
  skeleton(messages: readonly ChatMessage[], options?: WriteOptions): Skeleton;
}

export interface WriteOptions {
  readonly prompt?: boolean;
  readonly tools?: readonly unknown[];
}

/** `extra`: further variables of the template. */
export function writerOf(
  tokenizer: Tokenizer,
  template: string,
  extra?: Readonly<Record<string, unknown>>,
): Writer {
  const optionsOf: Writer['optionsOf'] = (messages, options = {}) => ({
    // Roles and contents that the vocabulary does not have are the template's to judge.
    messages: messages as unknown as readonly Message[],
    addGenerationPrompt: options.prompt === true,
    ...templateTokens(tokenizer),
    ...(options.tools === undefined ? {} : { tools: options.tools }),
    ...(extra === undefined ? {} : { extra }),
  });
  const render: Writer['render'] = (messages, options) => renderChat(template, optionsOf(messages, options));
  const skeletons = new Map<string, Skeleton>();
  const frame = frameOf(tokenizer, render);
  return {
    tokenizer,
    template,
    marked: hasGenerationTags(template),
    ...frame,
    render,
    optionsOf,
    skeleton(messages, options = {}) {
      const key = keyOf(messages, options);
      const known = skeletons.get(key);
      if (known !== undefined) return known;
      const made = skeletonOf(render, messages, options);
      if (skeletons.size < CACHED_SKELETONS) skeletons.set(key, made);
      return made;
    },
  };
}

/** The first token in a text that is a mark and not a word: where it stands, and its spelling. */
export function controlIn(
  tokenizer: Tokenizer,
  text: string,
): { readonly at: number; readonly text: string } | undefined {
  for (const id of tokenizer.encode(text)) {
    if (!isControl(tokenizer, id)) continue;
    const spelled = tokenizer.token(id) ?? '';
    const at = text.indexOf(spelled);
    if (at >= 0) return { at, text: spelled };
  }
  return undefined;
}

/** Special, or spelled like a mark: vocabularies do not flag all of theirs. */
export function isControl(tokenizer: Tokenizer, id: number): boolean {
  if (tokenizer.specialIds.has(id)) return true;
  const spelled = tokenizer.token(id) ?? '';
  return /^(?:<[^\s<>]+>|\[\/?[A-Z_]+\])$/u.test(spelled) && byteOfToken(spelled) === undefined;
}

/** A content that stands for message `at`: characters of private use, which no template looks for. */
export const sentinel = (at: number): string => `\u{f5e01}${at}\u{f5e02}`;

// --- helpers ---

/** Roles repeat; conversations with tool calls do not, and need not be kept. */
const CACHED_SKELETONS = 256;
const SENTINEL = /\u{f5e01}(\d+)\u{f5e02}/gu;

type Render = Writer['render'];

/** A call without words: templates write other things around words. */
function isSilent(message: ChatMessage): boolean {
  return callsOf(message).length > 0 && contentText(message.content) === '';
}

function keyOf(messages: readonly ChatMessage[], { tools }: WriteOptions): string {
  let key = tools === undefined ? '' : JSON.stringify(tools);
  for (const message of messages) {
    const { content, ...rest } = message;
    key += `\n${isSilent(message) ? '!' : ''}`;
    // Most messages have nothing else, and need not be written as JSON.
    key += Object.keys(rest).length === 1 ? message.role : JSON.stringify(rest);
  }
  return key;
}

function frameOf(
  tokenizer: Tokenizer,
  render: Render,
): Pick<Writer, 'openers' | 'turns' | 'closing' | 'stop'> {
  const user = { role: 'user', content: sentinel(0) };
  const answer = { role: 'assistant', content: sentinel(1) };
  const asked = textOf(render([user]));
  const prompted = textOf(render([user], { prompt: true }));
  const answered = textOf(render([user, answer]));
  const again = textOf(
    render([
      user,
      answer,
      { role: 'user', content: sentinel(2) },
      { role: 'assistant', content: sentinel(3) },
    ]),
  );
  const end = answered?.indexOf(sentinel(1)) ?? -1;
  const tail = answered === undefined || end < 0 ? '' : answered.slice(end + sentinel(1).length);
  const stop = controlIn(tokenizer, tail);
  const closing = stop === undefined ? '' : tail.slice(0, stop.at + stop.text.length);
  const between = again === undefined ? '' : betweenOf(again, sentinel(1), sentinel(2)).slice(closing.length);
  return {
    openers: {
      assistant:
        asked !== undefined && prompted?.startsWith(asked) === true ? prompted.slice(asked.length) : '',
      user: between.trimStart(),
    },
    turns: turnsOf(asked, prompted, answered, again),
    closing,
    stop: stop?.text,
  };
}

function turnsOf(asked?: string, prompted?: string, answered?: string, again?: string): Writer['turns'] {
  const behind = (text: string | undefined): string | undefined =>
    text?.includes(sentinel(0)) === true
      ? text.slice(text.indexOf(sentinel(0)) + sentinel(0).length)
      : undefined;
  const whole = (text: string | undefined, ...contents: readonly number[]): string | undefined =>
    contents.every((at) => text?.includes(sentinel(at)) === true) ? text : undefined;
  const question = whole(again, 1, 2);
  const answer = whole(answered, 0, 1);
  // Without a prompt of its own, a template answers with what the row begins with.
  const own = prompted === asked ? undefined : behind(prompted);
  return {
    ...(question === undefined ? {} : { question: betweenOf(question, sentinel(1), sentinel(2)) }),
    ...(answer === undefined ? {} : { answer: betweenOf(answer, sentinel(0), sentinel(1)) }),
    ...(own === undefined ? {} : { prompted: own }),
  };
}

function textOf(rendered: Rendered): string | undefined {
  return 'text' in rendered ? rendered.text : undefined;
}

function betweenOf(text: string, left: string, right: string): string {
  const from = text.indexOf(left);
  const to = text.indexOf(right);
  return from < 0 || to < from ? '' : text.slice(from + left.length, to);
}

function skeletonOf(render: Render, messages: readonly ChatMessage[], options: WriteOptions): Skeleton {
  const rendered = render(
    messages.map((message, at) => (isSilent(message) ? message : { ...message, content: sentinel(at) })),
    options,
  );
  if ('problem' in rendered) return rendered;
  const parts: Part[] = [];
  for (const [index, text] of rendered.text.split(SENTINEL).entries())
    parts.push(index % 2 === 0 ? { glue: text } : { message: Number(text) });
  return parts;
}
