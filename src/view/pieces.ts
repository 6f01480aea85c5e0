// A rendered conversation cut into pieces: whose turn, whose words, which of it is an answer, and where its stop token
// is. By the template's skeleton; where contents change what the template writes, answer by answer.
import type { Role } from '../vocabulary.ts';
import { answersOnly } from './answers-only.ts';
import type { Piece } from './piece.ts';
import { type ChatMessage, callsOf, contentText } from './shape/messages.ts';
import { controlIn, type Part, type Skeleton, type WriteOptions, type Writer } from './writer.ts';

/** The pieces of `text`, joined they are `text`; undefined where the answers are not to be found in it. */
export function piecesOf(
  writer: Writer,
  messages: readonly ChatMessage[],
  skeleton: Skeleton,
  text: string,
  options: WriteOptions = {},
): readonly Piece[] | undefined {
  const bodies = 'problem' in skeleton ? undefined : bodiesOf(skeleton, messages, text);
  const assembled =
    bodies === undefined || 'problem' in skeleton ? undefined : assemble(writer, messages, skeleton, bodies);
  return assembled ?? answersOnly(writer, messages, text, options);
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
): Piece[] | undefined {
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
      continue;
    }
    const between = betweenContents(writer, messages, text, messageAt(index - 1), messageAt(index + 1));
    if (between === undefined) return undefined;
    // Not push(...between): a row may have more calls than a call has arguments.
    for (const piece of between) pieces.push(piece);
  }
  return pieces.filter(({ text, part }) => text !== '' || part === 'content');
}

/** What stands between two contents, and in it the answers that are calls and nothing else. */
function betweenContents(
  writer: Writer,
  messages: readonly ChatMessage[],
  glue: string,
  before: number,
  after: number,
): Piece[] | undefined {
  const pieces: Piece[] = [];
  let rest = glue;
  let last = before;
  for (let turn = before + 1; turn < (after < 0 ? messages.length : after); turn++) {
    const message = messages[turn];
    if (message?.role !== 'assistant' || callsOf(message).length === 0) continue;
    const { openers, closing } = writer;
    const opened = openers.assistant === '' ? -1 : rest.indexOf(openers.assistant);
    const from = opened + openers.assistant.length;
    const to = opened < 0 || closing === '' ? -1 : rest.indexOf(closing, from);
    if (to < 0) return undefined;
    pieces.push(...gluePieces(writer, messages, rest.slice(0, from), last, turn), {
      text: rest.slice(from, to),
      role: 'completion',
      turn,
      part: 'content',
      answer: true,
    });
    rest = rest.slice(to);
    last = turn;
  }
  return [...pieces, ...gluePieces(writer, messages, rest, last, after)];
}

/** The end of one turn, then the beginning of the next. */
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
  const closed = answered ? closedAt(writer, messages[before], glue) : 0;
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

/** Where the stop token of the answer in front ends; 0 where there is none. Behind words there may be calls. */
function closedAt({ closing }: Writer, message: ChatMessage | undefined, glue: string): number {
  if (closing === '' || message === undefined) return 0;
  const at = callsOf(message).length > 0 ? glue.indexOf(closing) : glue.startsWith(closing) ? 0 : -1;
  return at < 0 ? 0 : at + closing.length;
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
