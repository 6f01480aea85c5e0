// Answers found one by one, where contents change what the template writes around them: the same conversation with
// another text in place of an answer differs in that answer only.

import type { Piece } from './piece.ts';
import type { ChatMessage } from './shape/messages.ts';
import { sentinel, type WriteOptions, type Writer } from './writer.ts';

/** The pieces of `text`, all but answers as frames of nobody; undefined where an answer is not to be found. */
export function answersOnly(
  writer: Writer,
  messages: readonly ChatMessage[],
  text: string,
  options: WriteOptions,
): readonly Piece[] | undefined {
  const turns = messages.flatMap(({ role }, at) => (role === 'assistant' ? [at] : []));
  if (turns.length > MOST_ANSWERS || turns.length * messages.length > MOST_RENDERED) return undefined;
  const pieces: Piece[] = [];
  let done = 0;
  for (const turn of turns) {
    const mark = sentinel(turn);
    const other = messages.map((message, at) =>
      at === turn ? { role: message.role, content: mark } : message,
    );
    const rendered = writer.render(other, options);
    const at = 'text' in rendered ? rendered.text.indexOf(mark) : -1;
    if (!('text' in rendered) || at < 0) return undefined;
    const before = rendered.text.slice(0, at);
    const behind = rendered.text.slice(at + mark.length);
    const { assistant: opener } = writer.openers;
    const opened = opener === '' ? -1 : before.lastIndexOf(opener);
    // A header of an earlier turn is not this one's.
    const from = opened >= done ? opened + opener.length : before.length;
    const end = text.length - behind.length;
    if (!text.startsWith(before.slice(0, from)) || !text.endsWith(behind) || end < from || from < done)
      return undefined;
    const closed = writer.closing !== '' && behind.startsWith(writer.closing) ? writer.closing.length : 0;
    const stop = end + closed - (closed === 0 ? 0 : (writer.stop?.length ?? 0));
    pieces.push(
      { text: text.slice(done, from), role: 'prompt', turn: -1, part: 'frame', answer: false },
      { text: text.slice(from, stop), role: 'completion', turn, part: 'content', answer: true },
      { text: text.slice(stop, end + closed), role: 'stop', turn, part: 'stop', answer: true },
    );
    done = end + closed;
  }
  pieces.push({ text: text.slice(done), role: 'prompt', turn: -1, part: 'frame', answer: false });
  return pieces.filter((piece) => piece.text !== '');
}

// --- helpers ---

/** Each answer is rendered once more; a conversation with more of them is left alone. */
const MOST_ANSWERS = 200;
/** Messages in all these renderings: a second of work. 200 answers of a conversation of 16,000 messages would take half a minute. */
const MOST_RENDERED = 2 ** 17;
