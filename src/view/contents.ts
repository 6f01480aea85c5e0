// What can be wrong with the messages of a conversation before there are tokens: roles, empty answers, and what the
// template makes of contents, calls and thoughts.
import { includesText } from '../outside/text.ts';
import type { Fault } from './flags.ts';
import { unprinted } from './pieces.ts';
import type { ViewOptions } from './row.ts';
import { printedFaults } from './rules/printed.ts';
import { textNotes } from './rules/texts.ts';
import { type ChatMessage, callsOf, contentText, KNOWN_ROLES, thoughtOf } from './shape/messages.ts';
import type { Part, Writer } from './writer.ts';

export interface Written {
  readonly messages: readonly ChatMessage[];
  /** What the template made of them. */
  readonly text: string;
  /** Empty where it cannot be had. */
  readonly skeleton: readonly Part[];
}

export function contentFaults(written: Written, writer: Writer, options: ViewOptions): Fault[] {
  return [
    ...emptyAnswers(written.messages),
    ...noTexts(written.messages),
    ...swapped(written.messages),
    ...dropped(written),
    ...lists(written),
    ...controlText(written, writer, options),
    ...escapedArguments(written),
    ...droppedThought(written),
    ...printedFaults(written, writer),
    ...textNotes(written.messages),
  ];
}

/** A role that templates do not know. */
export function roleFaults(messages: readonly ChatMessage[]): Fault[] {
  const at = messages.findIndex(({ role }) => !KNOWN_ROLES.has(role));
  const role = messages[at]?.role.slice(0, SHOWN_CHARACTERS);
  return at < 0
    ? []
    : [fault('unknown-role', `Message ${at} has the role '${role}', which chat templates do not know.`)];
}

// --- helpers ---

/** Characters of a foreign text shown in a sentence. */
const SHOWN_CHARACTERS = 40;
/** Characters that are searched for parts in one row: a second. */
const MOST_LOOKING = 2 ** 30;

const fault = (id: Fault['id'], sentence: string): Fault => ({ id, sentence, columns: [] });

/** Whether parts stand in `text`, each looked for once; undefined when too much has been looked at, which decides nothing. */
function openLooks(text: string): (part: string) => boolean | undefined {
  const known = new Map<string, boolean>();
  let left = MOST_LOOKING;
  return (part) => {
    const before = known.get(part);
    if (before !== undefined) return before;
    left -= text.length + part.length;
    if (left < 0) return undefined;
    const found = includesText(text, part);
    known.set(part, found);
    return found;
  };
}

/** Python prints it as it likes: True, 42, {'a': 1}. */
function noTexts(messages: readonly ChatMessage[]): Fault[] {
  const at = messages.findIndex(({ content }) => isNoText(content));
  if (at < 0) return [];
  const { role, content } = messages[at] as ChatMessage;
  const kind = typeof content === 'object' ? 'an object' : `a ${typeof content}`;
  return [
    fault('content-no-text', `The content of message ${at}, of role '${role}', is ${kind}, not a text.`),
  ];
}

const isNoText = (content: unknown): boolean =>
  typeof content === 'number' ||
  typeof content === 'boolean' ||
  (typeof content === 'object' && content !== null && !Array.isArray(content));

function emptyAnswers(messages: readonly ChatMessage[]): Fault[] {
  const texts = messages
    .filter(
      (message) =>
        message.role === 'assistant' &&
        callsOf(message).length === 0 &&
        thoughtOf(message) === '' &&
        !isNoText(message.content),
    )
    .map(({ content }) => contentText(content));
  return [
    ...(texts.includes('') ? [fault('empty-answer', 'An answer of the assistant is empty.')] : []),
    ...(texts.some((text) => text !== '' && text.trim() === '')
      ? [fault('blank-answer', 'An answer of the assistant is nothing but white space.')]
      : []),
  ];
}

/** A greeting may come first; that nobody answers the last message as well is the shape of a dialogue with its roles exchanged. */
function swapped(messages: readonly ChatMessage[]): Fault[] {
  const first = messages.find(({ role }) => role !== 'system');
  if (first?.role !== 'assistant' || messages.at(-1)?.role !== 'user') return [];
  const sentence =
    'The first message is of the assistant and the last one of the user: are the roles exchanged?';
  return [fault('roles-swapped', sentence)];
}

/** A message, or the calls of one, that the template leaves out. */
function dropped({ messages, text, skeleton }: Written): Fault[] {
  const lost = (skeleton.length === 0 ? [] : unprinted(skeleton, messages)).find((at) => {
    const message = messages[at];
    return message !== undefined && callsOf(message).length === 0 && contentText(message.content) !== '';
  });
  if (lost !== undefined) {
    const sentence = `The template does not print message ${lost}, of role '${messages[lost]?.role}'.`;
    return [fault('message-dropped', sentence)];
  }
  const looks = openLooks(text);
  for (const [at, message] of messages.entries()) {
    const call = callsOf(message).find(({ name }) => looks(name) === false);
    if (call !== undefined)
      return [
        fault('message-dropped', `The template does not print the call of ${call.name} in message ${at}.`),
      ];
  }
  return [];
}

/** Of a list of parts, a template that joins text prints something that Python would not; there it may fail as well. */
function lists({ messages, text }: Written): Fault[] {
  const looks = openLooks(text);
  const at = messages.findIndex(
    ({ content }) =>
      Array.isArray(content) &&
      content.some(
        (part: unknown) =>
          typeof part === 'object' &&
          part !== null &&
          'type' in part &&
          looks(`{"type": ${JSON.stringify(part.type)}`) === true,
      ),
  );
  if (at < 0) return [];
  return [
    fault(
      'content-list',
      `The content of message ${at} is a list of parts, and the template takes it for a text.`,
    ),
  ];
}

/** Tokens that part turns: those that the skeleton is written with, BOS and EOS. */
function controlText({ messages, skeleton }: Written, writer: Writer, options: ViewOptions): Fault[] {
  const tokens = partingTokens(skeleton, writer, options);
  for (const [at, { role, content }] of messages.entries()) {
    const text = contentText(content);
    const token = tokens.find((each) => includesText(text, each));
    if (token === undefined) continue;
    const sentence = `Message ${at}, of role '${role}', spells ${token}, which becomes the token itself.`;
    return [fault('control-text', sentence)];
  }
  return [];
}

/** Skeletons are few, and the same for all rows with the same roles. */
const parting = new WeakMap<readonly Part[], readonly string[]>();

function partingTokens(
  skeleton: readonly Part[],
  { tokenizer, stop }: Writer,
  options: ViewOptions,
): readonly string[] {
  const known = parting.get(skeleton);
  if (known !== undefined) return known;
  const glue = skeleton.flatMap((part) => ('glue' in part ? [part.glue] : [])).join('');
  const named = new Set([tokenizer.bosTokenId, tokenizer.eosTokenId, ...(options.stops ?? [])]);
  // No template writes so much around its contents that all special tokens have to be looked for in it for seconds.
  const parts = glue.length * tokenizer.specialIds.size <= MOST_LOOKING;
  const tokens = [...tokenizer.specialIds].flatMap((id) => {
    const token = tokenizer.token(id);
    if (token === undefined || token.length < 2) return [];
    return token === stop || named.has(id) || (parts && includesText(glue, token)) ? [token] : [];
  });
  parting.set(skeleton, tokens);
  return tokens;
}

/** Arguments that are JSON as text already become a text of JSON within JSON where the template dumps them. */
function escapedArguments({ messages, text }: Written): Fault[] {
  const looks = openLooks(text);
  for (const [at, message] of messages.entries()) {
    const call = callsOf(message).find(
      ({ given }) =>
        typeof given === 'string' && given.includes('"') && looks(JSON.stringify(given)) === true,
    );
    if (call !== undefined)
      return [
        fault(
          'escaped-arguments',
          `The arguments of ${call.name} in message ${at} are printed as a quoted text.`,
        ),
      ];
  }
  return [];
}

/** Thoughts of earlier answers are dropped by many templates, and should be; the last one's are the ones to learn. */
function droppedThought({ messages, text }: Written): Fault[] {
  const last = messages.at(-1);
  const thought = last?.role === 'assistant' ? thoughtOf(last).trim() : '';
  if (thought === '' || includesText(text, thought)) return [];
  return [fault('thought-dropped', 'The template does not print the thought of the last answer.')];
}
