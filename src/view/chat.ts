// A conversation made into a row: rendered once, tokenised once, and the mask that the stated convention trains laid on
// the tokens.
import { generationSpans } from '../tokenizers/template.ts';
import type { Fault } from './flags.ts';
import { layOnPieces } from './lay.ts';
import { type ChatMessage, callsTools, contentText, KNOWN_ROLES } from './messages.ts';
import { rowOf, type TaggedPiece } from './piece-row.ts';
import { type Piece, piecesOf, unprinted } from './pieces.ts';
import type { Made, Range, TrainOn, ViewOptions } from './row.ts';
import type { ChatShape } from './shape.ts';
import type { Part, Writer } from './writer.ts';

export function chatRow(shape: ChatShape, writer: Writer, options: ViewOptions): Made {
  const { messages } = shape;
  const write = shape.tools === undefined ? {} : { tools: shape.tools };
  const faults = roleFaults(messages);
  const marked = writer.marked
    ? generationSpans(writer.template, writer.optionsOf(messages, write))
    : undefined;
  const rendered = marked ?? writer.render(messages, write);
  if ('problem' in rendered)
    return { faults: [...faults, { id: 'refused', sentence: rendered.problem, columns: [] }], assumed: [] };
  const { text } = rendered;
  const skeleton = writer.skeleton(messages, write);
  const parts: readonly Part[] = 'problem' in skeleton ? [] : skeleton;
  faults.push(...contentFaults(messages, parts, writer, options));
  const target = options.trainOn ?? (shape.prompt === undefined ? 'assistant' : 'completion');
  const pieces = piecesOf(writer, messages, text, write);
  const ranges = rangesOf(target, {
    shape,
    writer,
    text,
    pieces,
    spans: marked !== undefined && 'spans' in marked ? marked.spans : undefined,
  });
  if (ranges === undefined) return { faults: [...faults, unplaced()], assumed: [] };
  const whole: Piece = { text, role: 'prompt', turn: -1, part: 'frame', answer: false };
  const tagged = withTraining(pieces ?? [whole], ranges);
  const ids = writer.tokenizer.encode(text);
  const laid = layOnPieces(
    writer.tokenizer,
    tagged.map((piece) => piece.text),
    ids,
  );
  if (laid === undefined) return { faults: [...faults, unplaced()], assumed: [] };
  const names = (turn: number): string => messages[turn]?.role ?? 'template';
  return {
    row: rowOf(writer.tokenizer, ids, tagged, laid, names),
    faults,
    assumed: [assumptionOf(shape, target, writer, options)],
  };
}

// --- helpers ---

const unplaced = (): Fault => ({
  id: 'unplaced',
  sentence:
    'The answers cannot be found in what the template renders, so it is not known which tokens are trained.',
  columns: [],
});

/** What of the text is trained, in UTF-16 units; undefined where it cannot be told. */
function rangesOf(
  target: TrainOn,
  row: {
    readonly shape: ChatShape;
    readonly writer: Writer;
    readonly text: string;
    readonly pieces: readonly Piece[] | undefined;
    readonly spans: readonly (readonly [number, number])[] | undefined;
  },
): readonly Range[] | undefined {
  const { shape, writer, text, pieces, spans } = row;
  if (target === 'all') return [{ from: 0, to: text.length }];
  if (target === 'completion' && shape.prompt !== undefined) {
    const options = { prompt: true, ...(shape.tools === undefined ? {} : { tools: shape.tools }) };
    const prompt = writer.render(shape.messages.slice(0, shape.prompt), options);
    if ('text' in prompt && text.startsWith(prompt.text))
      return [{ from: prompt.text.length, to: text.length }];
    // Such as a generation prompt that opens a thought: then the answers themselves.
    return pieces === undefined ? undefined : answerRanges(pieces, shape.prompt);
  }
  const answers =
    spans?.map(([from, to]) => ({ from, to })) ??
    (pieces === undefined ? undefined : answerRanges(pieces, 0));
  return target === 'assistant' ? answers : answers?.slice(-1);
}

/** One range an answer, of messages from `first` on. */
function answerRanges(pieces: readonly Piece[], first: number): Range[] {
  const ranges = new Map<number, Range>();
  let at = 0;
  for (const { text, turn, answer } of pieces) {
    const to = at + text.length;
    if (answer && turn >= first) ranges.set(turn, { from: ranges.get(turn)?.from ?? at, to });
    at = to;
  }
  return [...ranges.values()];
}

/** The pieces, cut where training begins and ends. */
function withTraining(pieces: readonly Piece[], ranges: readonly Range[]): TaggedPiece[] {
  const tagged: TaggedPiece[] = [];
  let at = 0;
  let next = 0;
  for (const piece of pieces) {
    const end = at + piece.text.length;
    let from = at;
    do {
      while (next < ranges.length && (ranges[next]?.to ?? 0) <= from) next++;
      const range = ranges[next];
      const trained = range !== undefined && range.from <= from && from < range.to;
      const to = Math.min(end, range === undefined ? end : trained ? range.to : Math.max(range.from, from));
      const until = to > from ? to : end;
      tagged.push({ ...piece, text: piece.text.slice(from - at, until - at), trained });
      from = until;
    } while (from < end);
    at = end;
  }
  return tagged;
}

function roleFaults(messages: readonly ChatMessage[]): Fault[] {
  const unknown = messages.findIndex(({ role }) => !KNOWN_ROLES.has(role));
  if (unknown < 0) return [];
  return [
    {
      id: 'unknown-role',
      sentence: `Message ${unknown} has the role '${messages[unknown]?.role.slice(0, SHOWN_CHARACTERS)}', which chat templates do not know.`,
      columns: [],
    },
  ];
}

/** Characters of a foreign text shown in a sentence. */
const SHOWN_CHARACTERS = 40;

function contentFaults(
  messages: readonly ChatMessage[],
  skeleton: readonly Part[],
  writer: Writer,
  options: ViewOptions,
): Fault[] {
  const faults: Fault[] = [];
  const answers = messages.filter((message) => message.role === 'assistant' && !callsTools(message));
  const texts = answers
    .filter(({ reasoning_content, thinking }) => !reasoning_content && !thinking)
    .map(({ content }) => contentText(content));
  if (texts.includes(''))
    faults.push({ id: 'empty-answer', sentence: 'An answer of the assistant is empty.', columns: [] });
  if (texts.some((text) => text !== '' && text.trim() === ''))
    faults.push({
      id: 'blank-answer',
      sentence: 'An answer of the assistant is nothing but white space.',
      columns: [],
    });
  const lost = skeleton.length === 0 ? [] : unprinted(skeleton, messages);
  const dropped = lost.find(
    (at) =>
      messages[at] !== undefined && !callsTools(messages[at]) && contentText(messages[at].content) !== '',
  );
  if (dropped !== undefined)
    faults.push({
      id: 'message-dropped',
      sentence: `The template does not print message ${dropped}, of role '${messages[dropped]?.role}'.`,
      columns: [],
    });
  const spelled = controlText(messages, skeleton, writer, options);
  if (spelled !== undefined)
    faults.push({
      id: 'control-text',
      sentence: `Message ${spelled.message}, of role '${messages[spelled.message]?.role}', spells ${spelled.token}, which becomes the token itself.`,
      columns: [],
    });
  return faults;
}

/** Tokens that part turns: those that the skeleton is written with, BOS and EOS. */
function controlText(
  messages: readonly ChatMessage[],
  skeleton: readonly Part[],
  { tokenizer, stop }: Writer,
  options: ViewOptions,
): { readonly message: number; readonly token: string } | undefined {
  const glue = skeleton.flatMap((part) => ('glue' in part ? [part.glue] : [])).join('');
  const named = [tokenizer.bosTokenId, tokenizer.eosTokenId, ...(options.stops ?? [])];
  for (const id of tokenizer.specialIds) {
    const token = tokenizer.token(id);
    if (token === undefined || token.length < 2) continue;
    if (token !== stop && !named.includes(id) && !glue.includes(token)) continue;
    const message = messages.findIndex(({ content }) => contentText(content).includes(token));
    if (message >= 0) return { message, token };
  }
  return undefined;
}

function assumptionOf(shape: ChatShape, target: TrainOn, writer: Writer, options: ViewOptions): string {
  const why = options.trainOn === undefined ? 'assumed, --train-on changes it' : '--train-on';
  const form =
    shape.form === 'instruction and output'
      ? 'instruction and output, as one question of the user and its answer'
      : shape.form;
  const how =
    writer.marked && target !== 'all' && !(target === 'completion' && shape.prompt !== undefined)
      ? 'as the template marks it with {% generation %}'
      : 'with its stop token';
  const what: Record<TrainOn, string> = {
    all: 'every token is trained',
    assistant: `every answer is trained, ${how}`,
    last: `the last answer is trained, ${how}`,
    completion:
      shape.prompt === undefined
        ? `the last answer is trained, ${how}`
        : 'all that follows the prompt is trained',
  };
  return `${form}: ${what[target]} (${why})`;
}
