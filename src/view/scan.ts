// A whole data set looked at: every row is made, judged and counted; only rows that will be shown are kept.
import { tokenText } from '../tokenizers/text.ts';
import { chatRow } from './chat.ts';
import type { SettingFault } from './config/fault.ts';
import { cutRow } from './cut.ts';
import { type Fault, type FlagId, isNote, type NoteId } from './flags.ts';
import { idsRow } from './ids-row.ts';
import { judge } from './judge.ts';
import type { Making } from './making.ts';
import { overlaid } from './own/own.ts';
import { AS_MADE, asMade, ownShape } from './own/shown.ts';
import type { Entry } from './read.ts';
import { openRepeated, sameHalves } from './repeated.ts';
import { addShares, type RoleShare } from './roles.ts';
import type { Made, TokenRow, ViewOptions } from './row.ts';
import { shapesOf } from './shape/shape.ts';
import { bytesOf, type Form, hasTrainFlags, messagesIn, type Shape } from './shape/shapes.ts';
import { textRow } from './text-row.ts';

export interface ViewedRow {
  /** The line in the file, or the item of an array. */
  readonly number: number;
  readonly form?: Form;
  /** Absent where it could not be made. */
  readonly row?: TokenRow;
  /** How each token is shown, of rows that are kept. */
  readonly texts?: readonly string[];
  /** The first is the one to begin with. */
  readonly faults: readonly Fault[];
  /** A conversation whose messages have train flags, or have none; absent: no conversation. */
  readonly told?: boolean;
}

export interface Count {
  readonly id: FlagId | NoteId;
  readonly rows: number;
  /** The first few, by their number. */
  readonly first: readonly number[];
  /** There are others. */
  readonly more: boolean;
  /** What is said of the first of them. */
  readonly example: string;
}

export interface View {
  readonly rows: number;
  readonly flagged: number;
  /** Rows of which nothing could be made. */
  readonly unread: number;
  readonly tokens: number;
  readonly trained: number;
  /** Whose tokens they are, most first, and how many of each are trained. */
  readonly roles: readonly RoleShare[];
  /** Of each row of which something was made: its tokens without padding, and how many of it are trained. */
  readonly sizes: { readonly tokens: readonly number[]; readonly trained: readonly number[] };
  /** Most rows first; notes stand behind flags. */
  readonly counts: readonly Count[];
  readonly assumed: readonly string[];
  /** What is wrong with the configuration that the rows were made by, where there is one. */
  readonly settings?: readonly SettingFault[];
  /** Flagged ones first, each in the order of the file. */
  readonly kept: readonly ViewedRow[];
}

export interface Keep {
  /** So many rows, flagged ones first. */
  readonly most: number;
  /** Or these alone. */
  readonly numbers?: ReadonlySet<number>;
}

export function scan(entries: Iterable<Entry>, options: Making, keep: Keep): View {
  const scanner = openScanner(options, keep);
  for (const entry of entries) scanner.look(entry);
  return scanner.end();
}

export interface Scanner {
  readonly look: (entry: Entry) => void;
  readonly end: () => View;
}

/** The same for rows that come one by one. */
export function openScanner(options: Making, keep: Keep): Scanner {
  let [rows, flagged, unread, tokens, trained] = [0, 0, 0, 0, 0];
  const roles = new Map<string, { tokens: number; trained: number }>();
  const repeated = openRepeated();
  const counts = new Map<Fault['id'], Counting>();
  const assumed = new Set<string>();
  const sizes: { tokens: number[]; trained: number[] } = { tokens: [], trained: [] };
  let long = 0;
  let told = 0;
  const untold = new Map<Fault['id'], Counting>();
  const bad: ViewedRow[] = [];
  const noted: ViewedRow[] = [];
  const good: ViewedRow[] = [];
  const look = (entry: Entry): void => {
    const all = viewedRows(entry, options, assumed);
    // An unreadable row gets one flag, not a second one for being repeated.
    const again = all.some(({ row }) => row !== undefined) ? repeated(entry) : undefined;
    const common = [again, sameHalves(all)].filter((each) => each !== undefined);
    for (const made of all) {
      const viewed = common.length === 0 ? made : { ...made, faults: [...made.faults, ...common] };
      rows++;
      tokens += viewed.row?.ids.length ?? 0;
      const own = viewed.row?.trained.reduce((sum, each) => sum + Number(each), 0) ?? 0;
      trained += own;
      if (viewed.row !== undefined) {
        sizes.tokens.push(viewed.row.real.to - viewed.row.real.from);
        sizes.trained.push(own);
        addShares(viewed.row, roles);
      }
      if ((viewed.row?.ids.length ?? 0) > TRL_LENGTH && viewed.form !== 'input_ids') long++;
      if (viewed.row === undefined && !viewed.faults.some(({ id }) => id === 'left-out')) unread++;
      const isFlagged = viewed.faults.some(({ id }) => !isNote(id));
      if (isFlagged) flagged++;
      count(viewed, counts);
      if (viewed.told === true) told++;
      if (viewed.told === false) count({ number: viewed.number, faults: [NO_TRAIN_FLAGS] }, untold);
      const list = isFlagged ? bad : viewed.faults.length > 0 ? noted : good;
      if (keep.numbers === undefined ? list.length < keep.most : keep.numbers.has(viewed.number))
        list.push(viewed);
    }
  };
  const order = (count: Count): number => (isNote(count.id) ? Number.MAX_SAFE_INTEGER : 0) - count.rows;
  const end = (): View => ({
    rows,
    flagged,
    unread,
    tokens,
    trained,
    roles: [...roles].map(([name, share]) => ({ name, ...share })).sort((a, b) => b.tokens - a.tokens),
    sizes,
    // That others have flags is known only when all rows have been seen.
    counts: [...counts.values(), ...namelessOf(rows, options), ...(told === 0 ? [] : untold.values())].sort(
      (left, right) => order(left) - order(right),
    ),
    assumed: [...assumed, ...lengthsOf(long, options)],
    kept: (keep.numbers === undefined
      ? [...variedFirst(bad), ...noted, ...good].slice(0, keep.most)
      : [...bad, ...noted, ...good].sort((left, right) => left.number - right.number)
    ).map((viewed) => withTexts(viewed, options)),
  });
  return { look, end };
}

/** Row numbers named beside a count. */
export const FIRST_ROWS = 5;

// --- helpers ---

type Counting = { -readonly [Key in keyof Count]: Count[Key] } & { first: number[] };

function count({ number, faults }: ViewedRow, counts: Map<Fault['id'], Counting>): void {
  for (const id of new Set(faults.map((fault) => fault.id))) {
    const example = faults.find((fault) => fault.id === id)?.sentence ?? '';
    const known = counts.get(id) ?? { id, rows: 0, first: [], more: false, example };
    known.rows++;
    // A preference is two rows of one line.
    if (known.first.at(-1) !== number) {
      if (known.first.length < FIRST_ROWS) known.first.push(number);
      else known.more = true;
    }
    counts.set(id, known);
  }
}

/** Of the data set as a whole: every row is made with this tokenizer. */
function namelessOf(rows: number, { tokenizer }: ViewOptions): Count[] {
  const { nameless = [] } = tokenizer ?? {};
  if (rows === 0 || nameless.length === 0) return [];
  const example = `${nameless.join(' and ')} ${nameless.length === 1 ? 'is' : 'are'} not in the vocabulary.`;
  return [{ id: 'token-without-id', rows, first: [1], more: rows > 1, example }];
}

const NO_TRAIN_FLAGS: Fault = {
  id: 'no-train-flags',
  sentence: 'No message of the conversation has a train flag.',
  columns: [],
};

/** Half a million tokens of a language that is written in words: to make more of one row takes gigabytes. */
const MOST_TEXT = 2 ** 21;

/** In one row: each takes a kilobyte or more until it is shown, however empty it is. */
const MOST_MESSAGES = 2 ** 15;

/** max_length of TRL's configurations where nobody sets it. */
const TRL_LENGTH = 1024;

function lengthsOf(long: number, { maxLength }: ViewOptions): string[] {
  if (long === 0 || maxLength !== undefined) return [];
  const [rows, are] = long === 1 ? ['row', 'is'] : ['rows', 'are'];
  return [
    `no row is cut; ${long.toLocaleString('en')} ${rows} of text ${are} longer than ${TRL_LENGTH.toLocaleString('en')} tokens, where TRL cuts unless max_length says otherwise: --max-length ${TRL_LENGTH} shows that`,
  ];
}

/** One row of each kind of fault before a second of any: what is seen first should not be one fault three times. */
function variedFirst(rows: readonly ViewedRow[]): ViewedRow[] {
  const seen = new Set<string>();
  const first: ViewedRow[] = [];
  const others: ViewedRow[] = [];
  for (const viewed of rows) {
    const fresh = viewed.faults.some(({ id }) => !isNote(id) && !seen.has(id));
    for (const { id } of viewed.faults) seen.add(id);
    (fresh ? first : others).push(viewed);
  }
  return [...first, ...others];
}

function withTexts(viewed: ViewedRow, { tokenizer }: ViewOptions): ViewedRow {
  if (viewed.row === undefined || tokenizer === undefined) return viewed;
  const texts = new Map<number, string>();
  const textOf = (id: number): string => {
    const text = texts.get(id) ?? tokenText(tokenizer, id);
    texts.set(id, text);
    return text;
  };
  return { ...viewed, texts: viewed.row.ids.map(textOf) };
}

function viewedRows(
  { number, value, problem, long, from = 0 }: Entry,
  options: Making,
  assumed: Set<string>,
): ViewedRow[] {
  const unreadable = (sentence: string, id: FlagId = 'unread'): ViewedRow[] => [
    { number, faults: [{ id, sentence, columns: [] }] },
  ];
  if (problem !== undefined) return unreadable(problem, long ? 'too-long' : 'unread');
  const shapes = options.shapes === undefined ? shapesOf(value) : options.shapes(value, from);
  const own = options.own?.of(number);
  if ('problem' in shapes) {
    const problem = unreadable(shapes.problem, shapes.id);
    if (own === undefined || options.own?.agrees(number, []) !== false) return problem;
    return own.map((row) => viewedOf(number, ownShape(row, undefined), asMade(row, options), assumed));
  }
  const made = shapes.map((shape) => viewedOf(number, shape, options, assumed));
  if (
    own === undefined ||
    options.own?.agrees(
      number,
      made.map(({ row }) => row),
    ) !== false
  )
    return made;
  if (own.length === 0) return unreadable('The trainer leaves the row out.', 'left-out');
  return own.map((row, at) => {
    const like = overlaid(made[at]?.row, row);
    if (like === undefined) return viewedOf(number, ownShape(row, shapes[at]), asMade(row, options), assumed);
    assumed.add(AS_MADE);
    return { ...made[at], number, row: like, faults: judge(like, asMade(row, options)) };
  });
}

function viewedOf(number: number, shape: Shape, options: Making, assumed: Set<string>): ViewedRow {
  const made = makeRow(shape, options);
  for (const each of made.assumed) assumed.add(each);
  const { form } = shape;
  const told = hasTrainFlags(shape);
  const of = { number, form, ...(told === undefined ? {} : { told }) };
  if (made.row === undefined) return { ...of, faults: made.faults };
  const row = shape.kind === 'made' ? made.row : cutRow(made.row, options.maxLength, options.truncationSide);
  const own =
    'promptsTrained' in shape && shape.promptsTrained === true
      ? { ...options, promptsTrained: true }
      : options;
  return { ...of, row, faults: [...made.faults, ...judge(row, own)] };
}

function makeRow(shape: Shape, options: ViewOptions): Made {
  const { tokenizer, writer } = options;
  const refuse = (sentence: string, id: 'unread' | 'too-long' = 'unread'): Made => ({
    faults: [{ id, sentence, columns: [] }],
    assumed: [],
  });
  const bytes = bytesOf(shape);
  if (bytes > MOST_TEXT)
    return refuse(
      `The row has ${bytes.toLocaleString('en')} bytes of text; ${MOST_TEXT.toLocaleString('en')} are made into tokens at most.`,
      'too-long',
    );
  const messages = messagesIn(shape);
  if (messages > MOST_MESSAGES)
    return refuse(
      `The row has ${messages.toLocaleString('en')} messages and calls; ${MOST_MESSAGES.toLocaleString('en')} are made into tokens at most.`,
      'too-long',
    );
  if (shape.kind === 'made')
    return { row: shape.row, faults: [], assumed: [`${shape.form}: ${shape.assumed}`] };
  if (shape.kind === 'ids') return idsRow(shape, options);
  if (tokenizer === undefined)
    return refuse(
      'The row is text, which only a tokenizer makes tokens of: --tokenizer DIR names the folder that tokenizer.save_pretrained(DIR) wrote.',
    );
  if (shape.kind === 'text') return textRow(shape, tokenizer, options);
  if (writer === undefined)
    return refuse(
      'The row is a conversation, and the tokenizer has no chat template: --template FILE names one.',
    );
  return chatRow(shape, writer, options);
}
