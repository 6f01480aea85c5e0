// A rendered conversation cut into pieces: whose turn, whose words, which of it is an answer, and where its stop token
// is. By the template's skeleton; where contents change what the template writes, answer by answer.
import type { Role } from '../vocabulary.ts';
import { type ChatMessage, contentText } from './messages.ts';
import { controlIn, type Part, sentinel, type WriteOptions, type Writer } from './writer.ts';

export interface Piece {
  readonly text: string;
  readonly role: Role;
  /** Index of its message; -1: of none. */
  readonly turn: number;
  /** `frame`: the template's own writing. */
  readonly part: 'frame' | 'content' | 'stop';
  /** Belongs to an answer, from behind its header to the end of its stop token. */
  readonly answer: boolean;
}

/** The pieces of `text`, joined they are `text`; undefined where the answers are not to be found in it. */
export function piecesOf(
  writer: Writer,
  messages: readonly ChatMessage[],
  text: string,
  options: WriteOptions = {},
): readonly Piece[] | undefined {
  const skeleton = writer.skeleton(messages, options);
  const bodies = 'problem' in skeleton ? undefined : bodiesOf(skeleton, messages, text);
  if (bodies !== undefined && !('problem' in skeleton)) return assemble(writer, messages, skeleton, bodies);
  return answersOnly(writer, messages, text, options);
}

/** Messages that the template does not print at all. */
export function unprinted(skeleton: readonly Part[], messages: readonly ChatMessage[]): number[] {
  const printed = new Set(skeleton.flatMap((part) => ('message' in part ? [part.message] : [])));
  return messages.flatMap((_, at) => (printed.has(at) ? [] : [at]));
}

export function roleOf(role: string): Role {
  if (role === 'assistant') return 'completion';
  if (role === 'system' || role === 'developer') return 'system';
  return role === 'tool' ? 'tool' : 'prompt';
}

// --- helpers ---

/** Each turn is rendered once more where the skeleton does not fit; a conversation longer than this is left alone. */
const MOST_ANSWERS = 200;

/** The contents as they stand in `text`, one a part; each is chosen so that what follows fits. */
function bodiesOf(
  parts: readonly Part[],
  messages: readonly ChatMessage[],
  text: string,
): readonly string[] | undefined {
  const bodies: string[] = [];
  let at = 0;
  for (const [index, part] of parts.entries()) {
    if ('glue' in part) {
      if (!text.startsWith(part.glue, at)) return undefined;
      bodies.push(part.glue);
      at += part.glue.length;
      continue;
    }
    const next = parts[index + 1];
    const follows = (end: number): boolean =>
      next === undefined || ('glue' in next && next.glue === '' && index + 2 === parts.length)
        ? end === text.length
        : !('glue' in next) || text.startsWith(next.glue, end);
    const body = forms(contentText(messages[part.message]?.content)).find(
      (form) => text.startsWith(form, at) && follows(at + form.length),
    );
    if (body === undefined) return undefined;
    bodies.push(body);
    at += body.length;
  }
  return at === text.length ? bodies : undefined;
}

/** A content as templates print it: whole, trimmed, without its thoughts. */
function forms(content: string): readonly string[] {
  const spoken = content.includes('</think>') ? (content.split('</think>').at(-1) ?? '') : content;
  return [
    content,
    content.trim(),
    content.trimStart(),
    content.trimEnd(),
    spoken,
    spoken.replace(/^\n+/, ''),
    spoken.trim(),
  ];
}

function assemble(
  writer: Writer,
  messages: readonly ChatMessage[],
  skeleton: readonly Part[],
  bodies: readonly string[],
): Piece[] {
  const pieces: Piece[] = [];
  const messageAt = (index: number): number => {
    const part = skeleton[index];
    return part !== undefined && 'message' in part ? part.message : -1;
  };
  for (const [index, part] of skeleton.entries()) {
    const text = bodies[index] ?? '';
    if ('message' in part) {
      const role = roleOf(messages[part.message]?.role ?? '');
      pieces.push({ text, role, turn: part.message, part: 'content', answer: role === 'completion' });
    } else pieces.push(...gluePieces(writer, messages, text, messageAt(index - 1), messageAt(index + 1)));
  }
  return pieces.filter(({ text, part }) => text !== '' || part === 'content');
}

/** What stands between two contents: the end of one turn, then the beginning of the next. */
function gluePieces(
  writer: Writer,
  messages: readonly ChatMessage[],
  glue: string,
  before: number,
  after: number,
): Piece[] {
  const answered = before >= 0 && messages[before]?.role === 'assistant';
  const asks = after >= 0 && messages[after]?.role === 'assistant';
  const opener = asks
    ? writer.openers.assistant
    : messages[after]?.role === 'user'
      ? writer.openers.user
      : '';
  const closed =
    answered && writer.closing !== '' && glue.startsWith(writer.closing) ? writer.closing.length : 0;
  const opened = opener === '' ? -1 : glue.lastIndexOf(opener);
  const cut =
    after < 0
      ? glue.length
      : opened >= closed
        ? opened
        : before < 0
          ? 0
          : Math.max(closed, endOfTurn(writer, glue, closed));
  const stopAt = closed - (writer.stop?.length ?? 0);
  const own = before < 0 ? 'system' : roleOf(messages[before]?.role ?? '');
  const head = roleOf(messages[after]?.role ?? '');
  const behindOpener = opened >= closed && asks ? opened + opener.length : glue.length;
  const frame = (text: string, role: Role, turn: number, answer = false): Piece => ({
    text,
    role,
    turn,
    part: 'frame',
    answer,
  });
  return [
    ...(closed === 0
      ? []
      : [
          frame(glue.slice(0, stopAt), 'completion', before, true),
          {
            text: glue.slice(stopAt, closed),
            role: 'stop' as const,
            turn: before,
            part: 'stop' as const,
            answer: true,
          },
        ]),
    // What follows a stop token is nobody's answer.
    frame(glue.slice(closed, cut), answered ? 'prompt' : own, before),
    frame(glue.slice(cut, behindOpener), asks ? 'prompt' : head, after),
    // Such as an empty thought that the template puts before an answer.
    frame(glue.slice(behindOpener), 'completion', after, true),
  ];
}

/** Where the turn in front ends, as far as a mark and the white space behind it say so. */
function endOfTurn(writer: Writer, glue: string, from: number): number {
  const rest = glue.slice(from);
  const lead = rest.length - rest.trimStart().length;
  if (from > 0) return from + lead;
  const control = controlIn(writer.tokenizer, rest);
  if (control === undefined || control.at !== lead) return 0;
  const end = control.at + control.text.length;
  const behind = rest.slice(end);
  return end + (behind.length - behind.trimStart().length);
}

/**
 * Each answer by itself: the same conversation with another text in its place differs from `text` in that answer only.
 */
function answersOnly(
  writer: Writer,
  messages: readonly ChatMessage[],
  text: string,
  options: WriteOptions,
): Piece[] | undefined {
  const turns = messages.flatMap(({ role }, at) => (role === 'assistant' ? [at] : []));
  if (turns.length > MOST_ANSWERS) return undefined;
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
