// Where two answers to the same request differ, by the kinds of the op's fields: value by value, and of rows, column by
// column along the ids that they share.
import { type Band, bandOf } from '../check/numbers.ts';
import type { World } from '../check/property.ts';
import { OPS, type Op } from '../protocol/message.ts';
import type { DType } from '../vocabulary.ts';
import { aligned, inPlace, type Pairing } from './align.ts';
import { counting, type Fields, isFloat, kindOf } from './entry.ts';
import { isIds } from './words.ts';

export interface Answers {
  readonly op: Op;
  readonly args: Fields;
  readonly before: Fields;
  readonly after: Fields;
  readonly band: Band;
}

/** One value. `column` counts in `Row.columns`. */
export interface Cell {
  readonly field: string;
  readonly column: number;
  readonly before: unknown;
  readonly after: unknown;
}

/** One row of tokens, with all fields that lie along it. */
export interface Row {
  readonly row: number;
  /** The field whose ids these are; undefined where only numbers are known. */
  readonly base: string | undefined;
  readonly columns: readonly Pairing[];
  readonly idsBefore: readonly number[];
  readonly idsAfter: readonly number[];
  /** Of the answer that lie along it and changed in this row. */
  readonly fields: readonly string[];
  readonly cells: readonly Cell[];
}

/** A value beside the rows: `path` is empty for a whole field. */
export interface Loose {
  readonly field: string;
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface Differences {
  readonly rows: readonly Row[];
  readonly loose: readonly Loose[];
}

/** The band of the coarser of two precisions: the recorded answer's, and the trainer's of today. */
export function coarserBand(world: World, recorded: DType): Band {
  const [left, right] = [bandOf({ ...world, hello: { ...world.hello, dtype: recorded } }), bandOf(world)];
  return left.absolute > right.absolute ? left : right;
}

export function differences(answers: Answers): Differences {
  const rows: Row[] = [];
  const loose: Loose[] = [];
  const groups = new Map<string, string[]>();
  for (const name of Object.keys(OPS[answers.op].ok)) {
    const [before, after] = [answers.before[name], answers.after[name]];
    if (before === undefined && after === undefined) continue;
    if (before === undefined || after === undefined) loose.push({ field: name, path: '', before, after });
    else if (isRows(answers, name)) {
      const base = baseOf(answers, name) ?? '';
      groups.set(base, [...(groups.get(base) ?? []), name]);
    } else loose.push(...looseIn(answers, name, before, after, ''));
  }
  for (const [base, fields] of groups) rows.push(...rowsOf(answers, base === '' ? undefined : base, fields));
  return { rows, loose };
}

/** The rows of a field; a list that lies along `input_ids` is one row. */
export function matrixOf(value: unknown): readonly (readonly unknown[])[] {
  const list = value as readonly unknown[];
  return list.length > 0 && !Array.isArray(list[0]) ? [list] : (list as readonly (readonly unknown[])[]);
}

// --- helpers ---

/** Lists of lists, and lists beside `input_ids` that are one row themselves. */
function isRows({ op }: Answers, name: string): boolean {
  const kind = kindOf(op, name);
  if (/^(int|float)_(rows|matrix|track)$/.test(kind)) return true;
  const alone = Object.hasOwn(OPS[op].ok, 'input_ids') && kindOf(op, 'input_ids') === 'ints';
  return alone && kind === 'ints';
}

/** Ids of the request that an answer may lie along. */
const ASKED = ['sequences', 'input_ids', 'completion_ids', 'sampled_ids', 'prompt_ids'];

/** Whose tokens the columns of a field are: ids of the answer, else of the request (`args.` before the name). */
function baseOf({ op, args, before, after }: Answers, name: string): string | undefined {
  if (isIds(op, name)) return name;
  const prefix = name.split('_')[0] ?? '';
  const ids = Object.keys(OPS[op].ok).filter((each) => isIds(op, each));
  const ordered = [
    ...ids.filter((each) => each.startsWith(`${prefix}_`)),
    ...ids.filter((each) => each === 'input_ids'),
    ...ids,
  ];
  const own = ordered.find((each) => fits(before[name], before[each]) && fits(after[name], after[each]));
  if (own !== undefined) return own;
  const asked = ASKED.find((each) => fits(before[name], args[each]) && fits(after[name], args[each]));
  return asked === undefined ? undefined : `args.${asked}`;
}

function fits(value: unknown, ids: unknown): boolean {
  if (!Array.isArray(value) || !Array.isArray(ids)) return false;
  const [left, right] = [matrixOf(value), matrixOf(ids)];
  return left.length === right.length && left.every((row, at) => row.length === right[at]?.length);
}

function rowsOf(answers: Answers, base: string | undefined, fields: readonly string[]): Row[] {
  const { before, after, args } = answers;
  const asked = base?.startsWith('args.') ? args[base.slice('args.'.length)] : undefined;
  const idsOf = (fields: Fields): readonly (readonly number[])[] =>
    base === undefined ? [] : (matrixOf(asked ?? fields[base]) as readonly (readonly number[])[]);
  const [idsBefore, idsAfter] = [idsOf(before), idsOf(after)];
  const most = Math.max(
    ...fields.flatMap((name) => [matrixOf(before[name]).length, matrixOf(after[name]).length]),
  );
  const rows: Row[] = [];
  for (let row = 0; row < most; row++) {
    const [was = [], is = []] = [idsBefore[row], idsAfter[row]];
    const width = (side: Fields): number =>
      Math.max(0, ...fields.map((name) => matrixOf(side[name])[row]?.length ?? 0));
    const ways = [
      inPlace(width(before), width(after)),
      ...(base === undefined ? [] : [aligned(was, is)]),
    ].map((columns) => ({ columns, cells: cellsIn(answers, fields, base, row, columns) }));
    // Along the shared ids, unless that leaves as much changed as place by place.
    const [first, second = first] = ways;
    if (first === undefined || second === undefined) continue;
    const { columns, cells } = second.cells.length < first.cells.length ? second : first;
    if (cells.length === 0) continue;
    const changed = fields.filter((name) => cells.some(({ field }) => field === name));
    rows.push({ row, base, columns, idsBefore: was, idsAfter: is, fields: changed, cells });
  }
  return rows;
}

function cellsIn(
  answers: Answers,
  fields: readonly string[],
  base: string | undefined,
  row: number,
  columns: readonly Pairing[],
): Cell[] {
  // A token that is new or gone takes its place in every track with it: it is one change, not one of each.
  const paired = (column: number): boolean =>
    columns[column]?.before !== undefined && columns[column]?.after !== undefined;
  return fields
    .flatMap((field) => cellsOf(answers, field, row, columns))
    .filter(
      ({ field, column }) => field === base || base === undefined || paired(column) || !fields.includes(base),
    );
}

function cellsOf(answers: Answers, field: string, row: number, columns: readonly Pairing[]): Cell[] {
  const counts = counting(answers.op, answers.args, field);
  const [before, after] = [matrixOf(answers.before[field])[row], matrixOf(answers.after[field])[row]];
  return columns.flatMap((pair, column): Cell[] => {
    const was = pair.before === undefined ? undefined : before?.[pair.before];
    const is = pair.after === undefined ? undefined : after?.[pair.after];
    if (pair.before !== undefined && pair.before === pair.after && !counts(row, pair.before)) return [];
    return isSame(answers, field, was, is) ? [] : [{ field, column, before: was, after: is }];
  });
}

function isSame({ op, band }: Answers, field: string, before: unknown, after: unknown): boolean {
  if (typeof before !== 'number' || typeof after !== 'number') return before === after;
  return isFloat(kindOf(op, field)) ? band.close(after, before) : before === after;
}

function looseIn(answers: Answers, field: string, before: unknown, after: unknown, path: string): Loose[] {
  if (typeof before === 'object' && typeof after === 'object' && before !== null && after !== null) {
    const [left, right] = [before as Fields, after as Fields];
    const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])];
    return keys.flatMap((key) =>
      looseIn(
        answers,
        field,
        left[key],
        right[key],
        `${path}${Array.isArray(before) ? `[${key}]` : `.${key}`}`,
      ),
    );
  }
  return isSame(answers, field, before, after) ? [] : [{ field, path, before, after }];
}
