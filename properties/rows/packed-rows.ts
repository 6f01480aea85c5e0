// What packing answers, read as examples and padding. A rule holds where the rows can be read so that it does: examples
// that are alike may stand in each other's place.
import {
  discard,
  type Finding,
  type Ids,
  IGNORE_INDEX,
  type LimitedExamples,
  type Ok,
  type PackedRows,
  type Place,
  packedExamples,
  packLabels,
  placeExamples,
  type Subject,
  stripOf,
  type World,
} from '../../src/index.ts';

export const packing = {
  stage: 'pack',
  level: 'must',
  ops: ['pack'],
  given: (world: World) => packedExamples(world.hello.tokens),
  labels: packLabels,
  coverage: {
    'three examples or more': 0.2,
    'all in one row': 0.1,
    'several rows': 0.15,
    'an example of one token': 0.15,
    'first token is labelled': 0.2,
  },
} as const;

export interface Packed {
  readonly drawn: LimitedExamples;
  readonly answer: Ok<'pack'>;
  /** How the rows are to be read, from their ids alone. */
  readonly reading: PackedRows;
  /** One such reading; undefined: there is none. */
  readonly places: readonly Place[] | undefined;
  /** Every example is in one row, whole. */
  readonly whole: boolean;
}

export async function pack(subject: Subject, drawn: LimitedExamples): Promise<Packed> {
  const answer = await subject.ask('pack', {
    input_ids: drawn.examples.map(({ ids }) => ids),
    labels: drawn.examples.map(({ labels }) => labels),
    max_length: drawn.limit,
    pad_token_id: drawn.pad,
  });
  const stops = subject.hello.tokens?.eos_token_ids ?? [];
  const texts = drawn.examples.map((example) => JSON.stringify(example));
  const reading: PackedRows = {
    rows: answer.input_ids.length,
    width: answer.input_ids[0]?.length ?? 0,
    lengths: drawn.examples.map(({ ids }) => ids.length),
    matches: (example, offset, row, column) =>
      answer.input_ids[row]?.[column] === drawn.examples[example]?.ids[offset],
    // Padding, or a stop token that the packer puts between examples.
    fills: (row, column) => [drawn.pad, ...stops].includes(answer.input_ids[row]?.[column] ?? -1),
    kinds: drawn.examples.map((example) => texts.indexOf(JSON.stringify(example))),
    required: (example) => isWorthwhile(drawn, example),
  };
  const whole = placeExamples(reading);
  if (whole !== undefined) return { drawn, answer, reading, places: whole, whole: true };
  const across = { ...reading, ...STREAM };
  return { drawn, answer, reading: across, places: placeExamples(across), whole: false };
}

/** A stream that is cut into blocks: examples go on in the next row, and the rest may be left for later. */
const STREAM = { across: true, required: () => false } as const;

/** No filter has a reason to leave it out. */
export function isWorthwhile({ examples }: LimitedExamples, example: number): boolean {
  const { ids, labels } = examples[example] ?? { ids: [], labels: [] };
  return ids.length > 1 && labels.slice(1).some((label) => label !== IGNORE_INDEX);
}

export const placed = ({ places }: Packed): readonly Place[] =>
  places ?? discard('the rows cannot be read as examples: another rule says so', 'trainer');

export interface Cell {
  readonly row: number;
  readonly column: number;
  /** Undefined: padding. */
  readonly example: number | undefined;
  /** Of its example; of padding, 0 where an example ends right before it, else 1. */
  readonly offset: number;
}

/** Its row is nothing but padding, which makes the number of rows divisible: what tells examples apart tells nothing there. */
export const isFiller = ({ answer, drawn }: Packed, { row, example }: Cell): boolean =>
  example === undefined && answer.input_ids[row]?.every((id) => id === drawn.pad) === true;

/** All cells of the rows under one reading. */
export function cellsOf({ reading: { rows, width } }: Packed, places: readonly Place[]): readonly Cell[] {
  const cells: Cell[] = Array.from({ length: rows * width }, (_, at) => ({
    row: Math.floor(at / width),
    column: at % width,
    example: undefined,
    offset: 1,
  }));
  for (const { example, row, start, length } of places)
    for (let offset = 0; offset < length; offset++) {
      const at = row * width + start + offset;
      cells[at] = { row: Math.floor(at / width), column: at % width, example, offset };
    }
  for (const [at, cell] of cells.entries())
    if (cell.example === undefined && cell.column > 0 && cells[at - 1]?.example !== undefined)
      cells[at] = { ...cell, offset: 0 };
  return cells;
}

/** What a rule says of one cell: whether it holds, and how it is said where it does not. */
export interface CellRule {
  readonly holds: (cell: Cell) => boolean;
  readonly words: (cell: Cell) => string;
  readonly track: (cell: Cell) => number | undefined;
}

/** The rows can be read so that the rule holds of every cell. */
export function judged(subject: Subject, packed: Packed, kind: string, rule: CellRule): Finding | undefined {
  const places = placed(packed);
  const { reading, drawn } = packed;
  const fits = (read: PackedRows): boolean =>
    placeExamples({
      ...read,
      matches: (example, offset, row, column) =>
        read.matches(example, offset, row, column) && rule.holds({ row, column, example, offset }),
      fills: (row, column, first) =>
        read.fills(row, column, first) &&
        rule.holds({ row, column, example: undefined, offset: first ? 0 : 1 }),
    }) !== undefined;
  // Where examples are alike, a stream that was cut into blocks may look as if they were whole.
  if (fits(reading) || fits({ ...reading, ...STREAM })) return undefined;
  const cells = cellsOf(packed, places);
  const wrong = cells.find((cell) => !rule.holds(cell));
  if (wrong === undefined) return undefined;
  const inRow = cells.filter(({ row }) => row === wrong.row);
  return {
    kind,
    sentence: rule.words(wrong),
    strips: [
      stripOf(subject, {
        row: wrong.row,
        ids: packed.answer.input_ids[wrong.row] ?? [],
        roles: inRow.map(({ example }) => (example === undefined ? 'padding' : 'prompt')),
        tracks: {
          example: inRow.map(({ example }) => example),
          [kind]: inRow.map((cell) => rule.track(cell)),
        },
        marks: inRow.flatMap((cell) => (rule.holds(cell) ? [] : [cell.column])),
      }),
    ],
    note: `Examples are counted as they were handed over, ${drawn.examples.length} in all.`,
  };
}

export const shown = (ids: Ids): string => `[${ids.join(', ')}]`;
export const tokenOf = ({ row, column, example, offset }: Cell): string =>
  example === undefined
    ? `Column ${column} of packed row ${row} is padding`
    : `Column ${column} of packed row ${row} is token ${offset} of example ${example}`;
