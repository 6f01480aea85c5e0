// A conversation made into a row: rendered once, tokenised once, and the mask that the stated convention trains laid on
// the tokens.
import { generationSpans } from '../tokenizers/template.ts';
import { contentFaults, roleFaults } from './contents.ts';
import type { Fault } from './flags.ts';
import { layOnPieces } from './lay.ts';
import type { Piece } from './piece.ts';
import { rowOf, type TaggedPiece } from './piece-row.ts';
import { piecesOf } from './pieces.ts';
import { withoutPrompt } from './prompt.ts';
import type { Made, Range, TrainOn, ViewOptions } from './row.ts';
import type { ChatMessage } from './shape/messages.ts';
import type { ChatShape } from './shape/shapes.ts';
import { NOTHING_TOLD, type Told, toldIn } from './shape/train-flags.ts';
import { answerRanges, toldAssumption, toldFaults, toldRanges, withTurnsOf } from './trained/told.ts';
import type { Writer } from './writer.ts';

export function chatRow(shape: ChatShape, writer: Writer, options: ViewOptions): Made {
  const { messages } = shape;
  const write = shape.tools === undefined ? {} : { tools: shape.tools };
  const faults = roleFaults(messages);
  const marked = writer.marked
    ? generationSpans(writer.template, writer.optionsOf(messages, write))
    : undefined;
  const rendered = marked ?? writer.render(messages, write);
  if ('problem' in rendered) return { faults: [...faults, refused(rendered.problem)], assumed: [] };
  const { text } = rendered;
  const skeleton = writer.skeleton(messages, write);
  faults.push(
    ...contentFaults({ messages, text, skeleton: 'problem' in skeleton ? [] : skeleton }, writer, options),
  );
  const pieces = piecesOf(writer, messages, skeleton, text, write);
  const target = options.trainOn ?? (shape.prompt === undefined ? 'assistant' : 'completion');
  const spans = marked !== undefined && 'spans' in marked ? marked.spans : undefined;
  // Who says that everything is trained has a trainer that reads no flags.
  const told = target === 'all' ? NOTHING_TOLD : toldIn(messages);
  faults.push(...toldFaults(messages));
  const ranges = rangesOf(target, shape.prompt, { text, pieces, spans, told, messages });
  if (ranges === undefined) return { faults: [...faults, unplaced()], assumed: [] };
  const whole: Piece = { text, role: 'prompt', turn: -1, part: 'frame', answer: false };
  const tagged = withTraining(pieces ?? [whole], ranges).map((piece): TaggedPiece => {
    const own = piece.answer ? told.get(piece.turn)?.trained : undefined;
    return own === undefined ? piece : { ...piece, told: own };
  });
  const ids = writer.tokenizer.encode(text);
  const laid = layOnPieces(
    writer.tokenizer,
    tagged.map((piece) => piece.text),
    ids,
  );
  if (laid === undefined) return { faults: [...faults, unplaced()], assumed: [] };
  const names = (turn: number): string => messages[turn]?.role ?? 'template';
  const row = rowOf(writer.tokenizer, ids, tagged, laid, names);
  const assumed = [assumptionOf(shape, target, writer, options), ...toldAssumption(messages, target)];
  if (target === 'all' || shape.prompt === undefined) return { row, faults, assumed };
  const prompt = writer.render(messages.slice(0, shape.prompt), { ...write, prompt: true });
  if ('problem' in prompt) return { faults: [...faults, refused(`The prompt: ${prompt.problem}`)], assumed };
  const made = withoutPrompt(row, writer.tokenizer.encode(prompt.text), writer.tokenizer);
  return { row: made.row, faults: [...faults, ...made.faults], assumed };
}

// --- helpers ---

const refused = (sentence: string): Fault => ({ id: 'refused', sentence, columns: [] });

const unplaced = (): Fault => ({
  id: 'unplaced',
  sentence:
    'The answers cannot be found in what the template renders, so it is not known which tokens are trained.',
  columns: [],
});

/** What of the text is trained, in UTF-16 units; undefined where it cannot be told. What is prompt is taken off later. */
function rangesOf(
  target: TrainOn,
  prompt: number | undefined,
  row: {
    readonly text: string;
    readonly pieces: readonly Piece[] | undefined;
    readonly spans: readonly (readonly [number, number])[] | undefined;
    readonly told: ReadonlyMap<number, Told>;
    readonly messages: readonly ChatMessage[];
  },
): readonly Range[] | undefined {
  const { text, pieces, spans, told, messages } = row;
  const whole = target === 'all' || (target === 'completion' && prompt !== undefined);
  const all = target === 'assistant' || whole;
  const decided = [...told].some(
    ([turn, { trained, only }]) =>
      messages[turn]?.role === 'assistant' &&
      (trained === false || only !== undefined || (trained === true && !all)),
  );
  if (whole && !decided) return [{ from: 0, to: text.length }];
  const found = pieces === undefined ? undefined : answerRanges(pieces);
  const marked = spans?.map(([from, to]) => ({ from, to }));
  if (decided) {
    if (found === undefined || pieces === undefined) return undefined;
    const answers = marked === undefined ? found : withTurnsOf(marked, found);
    return toldRanges(answers, { told, messages, pieces, all });
  }
  const answers = marked ?? found;
  return target === 'assistant' ? answers : answers?.slice(-1);
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

function assumptionOf(shape: ChatShape, target: TrainOn, writer: Writer, options: ViewOptions): string {
  const { form } = shape;
  const how = writer.marked ? 'as the template marks it with {% generation %}' : 'with its stop token';
  const where = shape.prompt === undefined ? '' : ' after the prompt';
  const what: Record<TrainOn, string> = {
    all: 'every token is trained',
    assistant: `every answer${where} is trained, ${how}`,
    last: `the last answer is trained, ${how}`,
    completion:
      shape.prompt === undefined
        ? `the last answer is trained, ${how}`
        : 'all that follows the prompt is trained',
  };
  return `${form}${READ_AS[form] ?? ''}: ${what[target]} (${whyOf(shape, options)})`;
}

/** What trainers do otherwise with a row of this form. */
const READ_AS: Partial<Record<ChatShape['form'], string>> = {
  conversations: ', human and gpt read as user and assistant (TRL leaves the names as they are)',
  'instruction and output': ', as one question of the user and its answer',
};

function whyOf({ prompt }: ChatShape, { trainOn, declaredBy = '--train-on' }: ViewOptions): string {
  if (trainOn !== undefined) return declaredBy;
  return prompt === undefined
    ? 'assumed; TRL trains every token here, unless assistant_only_loss=True: --train-on all shows that'
    : 'assumed, --train-on changes it';
}
