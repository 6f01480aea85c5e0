// What a text says of its way into the data set: bytes that were read in another encoding, escapes that were not undone, a
// missing value that became a word. All of it may be meant, and none of it can be seen in a loss.
import type { Fault, NoteId } from '../flags.ts';
import { type ChatMessage, callsOf, contentText } from '../shape/messages.ts';

/** The notes of a conversation's texts, each once. */
export function textNotes(messages: readonly ChatMessage[]): Fault[] {
  const spoken = messages.map(({ role, content }, at) => ({
    role,
    text: contentText(content),
    what: `Message ${at}, of role '${role}',`,
  }));
  return [...wordingNotes(spoken), ...repetition(spoken), ...(openThought(spoken) ?? []), ...order(messages)];
}

export interface Spoken {
  readonly text: string;
  /** It begins a sentence: `Message 3, of role 'user',`. */
  readonly what: string;
}

/** What any text may show, in a conversation or not. */
export function wordingNotes(spoken: readonly Spoken[]): Fault[] {
  return WORDINGS.flatMap(({ id, finds, says }) => {
    for (const { text, what } of spoken) {
      const found = finds(text);
      if (found !== undefined) return [note(id, `${what} ${says(found)}.`)];
    }
    return [];
  });
}

/** A text that begins with the one before it, or ends with the one behind it. */
export function repetitionNotes(prompt: string, answer: string): Fault[] {
  const [before, after] = [prompt.trim(), answer.trim()];
  if (before.length >= LONG && after.length > before.length && after.startsWith(before))
    return [note('answer-repeats-prompt', 'The answer begins with all of the prompt.')];
  if (after.length >= LONG && before.length > after.length && before.endsWith(after))
    return [note('prompt-ends-with-answer', 'The prompt ends with all of the answer.')];
  return [];
}

// --- helpers ---

const note = (id: NoteId, sentence: string): Fault => ({ id, sentence, columns: [] });

/** Characters that are not repeated by chance. */
const LONG = 24;
/** Characters of a text that are looked through. */
const LOOKED_AT = 2 ** 16;

interface Wording {
  readonly id: NoteId;
  readonly finds: (text: string) => string | undefined;
  readonly says: (found: string) => string;
}

/** UTF-8 whose bytes were read as Latin-1 or Windows-1252; or that could not be read at all. */
const MOJIBAKE = /[ÂÃ][\u0080-\u00ba\u00bc-\u00bf€ƒˆ‰Š‹Œšžœ]|â€[\u0080-\u00bf™œ˜“”•–—¦]|ï»¿|\ufffd/u;
/** Not what LaTeX begins a command with: \nabla, \neq. */
const ESCAPED_NEWLINE = /\\n(?![a-z])/g;
const ENTITY = /&(?:lt|gt|amp|quot|#39|nbsp);/g;
const MISSING = new Set(['nan', 'NaN', 'null', 'NULL', 'undefined', '<NA>', '[object Object]']);

const WORDINGS: readonly Wording[] = [
  {
    id: 'mojibake',
    finds: (text) => MOJIBAKE.exec(text.slice(0, LOOKED_AT))?.[0],
    says: (found) => `holds '${found}': UTF-8 that was read in another encoding, or bytes that were lost`,
  },
  {
    id: 'escaped-text',
    finds: (text) => {
      if (text.includes('\n')) return undefined;
      return (text.slice(0, LOOKED_AT).match(ESCAPED_NEWLINE)?.length ?? 0) >= 2 ? '\\n' : undefined;
    },
    says: (found) => `holds ${found} as two characters, and no line break`,
  },
  {
    id: 'escaped-text',
    finds: (text) => {
      // What has tags is HTML.
      if (/<\/?[a-z]/i.test(text.slice(0, LOOKED_AT))) return undefined;
      const found = text.slice(0, LOOKED_AT).match(ENTITY) ?? [];
      return found.length >= 2 ? found[0] : undefined;
    },
    says: (found) => `holds ${found} where a character is meant`,
  },
  {
    id: 'missing-value',
    finds: (text) => (MISSING.has(text.trim()) ? text.trim() : undefined),
    says: (found) => `is nothing but '${found}', which is how a missing value is written`,
  },
];

function repetition(spoken: readonly (Spoken & { readonly role: string })[]): Fault[] {
  for (const [at, { role, text }] of spoken.entries()) {
    const before = spoken[at - 1];
    if (role !== 'assistant' || before?.role !== 'user') continue;
    const found = repetitionNotes(before.text, text);
    if (found.length > 0) return found;
  }
  return [];
}

/** The end of a thought is missing where the text was cut, by its sampler or on the way here. */
function openThought(spoken: readonly (Spoken & { readonly role: string })[]): Fault[] | undefined {
  const found = spoken.find(
    ({ role, text }) =>
      role === 'assistant' &&
      ['think', 'thinking'].some(
        (mark) => text.trimStart().startsWith(`<${mark}>`) && !text.includes(`</${mark}>`),
      ),
  );
  return found === undefined
    ? undefined
    : [note('thought-open', `${found.what} begins a thought and does not end it.`)];
}

/** Roles as no dialogue has them. A greeting may come first, and calls of tools are answered before anybody else speaks. */
function order(messages: readonly ChatMessage[]): Fault[] {
  const say = (sentence: string): Fault[] => [note('roles-out-of-order', sentence)];
  if (!messages.some(({ role }) => role === 'assistant')) return [];
  for (const [at, message] of messages.entries()) {
    const before = messages[at - 1];
    if (before === undefined) continue;
    const { role } = message;
    if (role === 'system' && before.role !== 'system' && before.role !== 'developer')
      return say(`Message ${at} is of the system, after one of the ${before.role}.`);
    if (role === 'user' && before.role === 'user')
      return say(`Messages ${at - 1} and ${at} are both of the user.`);
    if (role === 'assistant' && before.role === 'assistant' && callsOf(before).length === 0)
      return say(`Messages ${at - 1} and ${at} are both of the assistant.`);
  }
  const last = messages.at(-1)?.role;
  const swapped = messages.find(({ role }) => role !== 'system')?.role === 'assistant';
  return last === 'assistant' || swapped
    ? []
    : say(`The last message is of the ${last}, and no answer follows.`);
}
