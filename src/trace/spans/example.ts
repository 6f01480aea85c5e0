// An example of a data set as trainers make ids of it, and which of these should be trained. Where trainers differ
// and nothing is declared, either is right.
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import { chatRow } from '../../view/chat.ts';
import { idsRow } from '../../view/ids-row.ts';
import type { Entry } from '../../view/read.ts';
import type { Range, TokenRow, TrainOn, ViewOptions } from '../../view/row.ts';
import { shapesOf } from '../../view/shape/shape.ts';
import {
  type ChatShape,
  type Form,
  hasTrainFlags,
  type IdsShape,
  type TextShape,
} from '../../view/shape/shapes.ts';
import { textRow } from '../../view/text-row.ts';
import type { Writer } from '../../view/writer.ts';
import type { Ids } from '../../vocabulary.ts';
import { chatExpectation, textExpectation } from './convention.ts';
import type { Marks } from './marks.ts';
import { turnsIn } from './template.ts';
import type { Expected, Stretch } from './walk.ts';

/** One row that may be made of an example. */
export interface Example extends Stretch {
  /** Its line in the file, or item of the array. */
  readonly number: number;
  readonly form: Form;
  readonly ids: Ids;
  /** What every trainer's row of it has: without BOS, and without what may stand behind its end. */
  readonly core: Range;
}

export interface Maker {
  readonly tokenizer: Tokenizer;
  readonly writer: Writer | undefined;
  readonly marks: Marks | undefined;
  /** Undefined where those that stand in a text are text like the rest. */
  readonly textMarks: Marks | undefined;
  readonly trainOn: TrainOn | undefined;
}

/**
 * A text may be a conversation already rendered. Where a few of many texts hold the marks of a chat, somebody wrote about chats,
 * as in `plainWherePlain`.
 */
export function marksInTexts(
  entries: readonly Entry[],
  { tokenizer, marks, trainOn }: Omit<Maker, 'textMarks'>,
): Marks | undefined {
  if (marks === undefined || trainOn !== undefined) return marks;
  const texts = entries.flatMap(({ value, problem }) => {
    const shapes = problem === undefined ? shapesOf(value) : [];
    return 'problem' in shapes
      ? []
      : shapes.flatMap((shape) =>
          shape.kind === 'text' && shape.prompt === undefined ? [tokenizer.encode(shape.text)] : [],
        );
  });
  const chats = texts.filter((ids) => turnsIn(ids, marks, trainOn) !== undefined);
  return 2 * chats.length < texts.length ? undefined : marks;
}

/** Several for a preference pair, and where prompt and answer have other ids apart than together; none where it is unread. */
export function examplesOf({ number, value, problem }: Entry, maker: Maker): readonly Example[] {
  if (problem !== undefined) return [];
  const shapes = shapesOf(value);
  if ('problem' in shapes) return [];
  return shapes
    .flatMap((shape) => {
      if (shape.kind === 'chat') return chatRows(shape, maker);
      if (shape.kind === 'text') return textRows(shape, maker);
      // A row that a trainer's configuration made: no data set of a traced run is read with one.
      return shape.kind === 'ids' ? idsRows(shape, maker) : [];
    })
    .map((made) => ({ ...finished(made, maker), number }))
    .filter(({ core }) => core.to > core.from);
}

// --- helpers ---

interface Made extends Stretch {
  readonly form: Form;
  readonly ids: Ids;
  /** Behind here stands what trainers may leave out. */
  readonly end: number;
}

const optionsOf = ({ tokenizer, writer }: Maker, trainOn: TrainOn): ViewOptions => ({
  tokenizer,
  ...(writer === undefined ? {} : { writer }),
  trainOn,
  truncationSide: 'right',
});

function chatRows(shape: ChatShape, maker: Maker): Made[] {
  const { writer, tokenizer } = maker;
  if (writer === undefined) return [];
  const { prompt, ...whole } = shape;
  const { row } = chatRow(whole, writer, optionsOf(maker, 'assistant'));
  if (row === undefined) return [];
  const write = shape.tools === undefined ? {} : { tools: shape.tools };
  const texts = prompt === undefined ? undefined : promptTexts(writer, shape.messages, prompt, write);
  const promptIds = texts === undefined ? undefined : tokenizer.encode(texts.prompt);
  const { end, ...stretch } = chatExpectation(row, {
    writer,
    promptIds,
    // A preference has one answer; of other data an answer in the prompt may be trained as well.
    preference: shape.form === 'chosen' || shape.form === 'rejected',
    trainOn: maker.trainOn,
  });
  const made = { ...stretch, end, form: shape.form, ids: row.ids };
  if (texts === undefined || promptIds === undefined || texts.rest === undefined) return [made];
  return [made, ...apart(made, promptIds, tokenizer.encode(texts.rest))];
}

/** The prompt with its generation prompt, and what follows it where the whole begins with it. */
function promptTexts(
  writer: Writer,
  messages: ChatShape['messages'],
  prompt: number,
  write: { readonly tools?: readonly unknown[] },
): { readonly prompt: string; readonly rest: string | undefined } | undefined {
  const asked = writer.render(messages.slice(0, prompt), { ...write, prompt: true });
  const whole = writer.render(messages, write);
  if ('problem' in asked || 'problem' in whole) return undefined;
  const rest = whole.text.startsWith(asked.text) ? whole.text.slice(asked.text.length) : undefined;
  return { prompt: asked.text, rest };
}

function textRows(shape: TextShape, maker: Maker): Made[] {
  const { tokenizer, textMarks, trainOn } = maker;
  const { row } = textRow(shape, tokenizer, optionsOf(maker, 'all'));
  if (row === undefined) return [];
  const { form, prompt, text } = shape;
  const end = row.roles.at(-1) === 'stop' ? row.ids.length - 1 : row.ids.length;
  if (prompt === undefined) return [{ ...freeText(row, textMarks, trainOn), form, ids: row.ids, end }];
  const promptIds = tokenizer.encode(prompt, { addSpecialTokens: true });
  const stretch = textExpectation(row, promptIds, trainOn);
  const made = { ...stretch, form, ids: row.ids, end };
  const eos = row.ids.slice(end);
  const spelled = eos[0] === undefined ? '' : (tokenizer.token(eos[0]) ?? '');
  const body = spelled !== '' && text.endsWith(spelled) ? text.slice(0, -spelled.length) : text;
  return [made, ...apart(made, promptIds, [...tokenizer.encode(body), ...eos])];
}

/** A text may be a conversation already rendered; otherwise any of it may be trained. */
function freeText(row: TokenRow, marks: Marks | undefined, trainOn: TrainOn | undefined): Stretch {
  const turns = marks === undefined ? undefined : turnsIn(row.ids, marks, trainOn);
  return turns ?? { roles: row.roles, expected: row.ids.map(() => undefined), completions: [] };
}

/** Labels and masks of the data say what is trained. */
function idsRows(shape: IdsShape, maker: Maker): Made[] {
  const { row } = idsRow(shape, optionsOf(maker, 'assistant'));
  if (row === undefined) return [];
  const { from, to } = row.real;
  const told = shape.labels !== undefined || shape.masks.length > 0 || shape.chat !== undefined;
  const ids = row.ids.slice(from, to);
  if (!told)
    return [
      {
        ...freeText({ ...row, ids, roles: row.roles.slice(from, to) }, maker.marks, maker.trainOn),
        form: shape.form,
        ids,
        end: ids.length,
      },
    ];
  // Whether the trainer reads train flags is not known.
  const open = maker.trainOn === 'all' || hasTrainFlags(shape) === true;
  return [
    {
      form: shape.form,
      ids,
      roles: row.roles.slice(from, to),
      expected: row.trained.slice(from, to).map((trained): Expected => trained || (open ? undefined : false)),
      completions: runsOf(row.trained.slice(from, to), ids, maker),
      end: ids.length,
    },
  ];
}

/** What is trained without a gap is one completion. */
function runsOf(trained: readonly boolean[], ids: Ids, { marks, tokenizer }: Maker): Stretch['completions'] {
  const runs: { from: number; to: number; stop?: number }[] = [];
  for (const [at, each] of trained.entries()) {
    if (!each) continue;
    const open = runs.at(-1);
    if (open !== undefined && open.to === at) open.to = at + 1;
    else runs.push({ from: at, to: at + 1 });
  }
  return runs.map((run) => {
    const last = ids[run.to - 1] ?? -1;
    const stops = marks?.stops.has(last) === true || last === tokenizer.eosTokenId;
    return stops ? { ...run, stop: run.to - 1 } : run;
  });
}

/** The same row with prompt and answer made into ids apart, as some trainers do; none where it has the same ids. */
function apart(made: Made, promptIds: Ids, restIds: Ids): Made[] {
  const ids = [...promptIds, ...restIds];
  let same = 0;
  while (same < ids.length && ids[same] === made.ids[same]) same++;
  if (same === ids.length && same === made.ids.length) return [];
  let back = 0;
  while (back < restIds.length && ids[ids.length - 1 - back] === made.ids[made.ids.length - 1 - back]) back++;
  const by = ids.length - made.ids.length;
  // Behind the prompt, what is counted as prompt in the whole is the answer's all the same.
  const known = (at: number): number | undefined => {
    if (at < promptIds.length) return at < same ? at : undefined;
    return at >= ids.length - back && at - by >= promptIds.length ? at - by : undefined;
  };
  const inPrompt = (at: number): boolean => at < promptIds.length;
  return [
    {
      form: made.form,
      ids,
      roles: ids.map((_, at) => made.roles[known(at) ?? -1] ?? (inPrompt(at) ? 'prompt' : 'completion')),
      // The answer's first ids, which are other ones than in the whole, are its own all the same.
      expected: ids.map((_, at): Expected => {
        const own = known(at);
        return own === undefined ? !inPrompt(at) : made.expected[own];
      }),
      completions: made.completions.map(({ from, to, stop }) => ({
        from: Math.max(promptIds.length, from + by),
        to: to + by,
        ...(stop === undefined ? {} : { stop: stop + by }),
      })),
      end: made.end + by,
    },
  ];
}

function finished({ end, ...made }: Made, { tokenizer }: Maker): Omit<Example, 'number'> {
  const bos = tokenizer.bosTokenId;
  let from = 0;
  while (from < end && made.ids[from] === bos) from++;
  // Where BOS and EOS share an id, it says little wherever it stands.
  const expected = made.expected.map((each, at) => (made.ids[at] === bos && at < from ? undefined : each));
  return { ...made, expected, core: { from, to: end } };
}
