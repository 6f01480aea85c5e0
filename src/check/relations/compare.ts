// Two answers that must agree, the second to a changed request: which of its rows and columns are which of the first.
import type { OkAxis } from '../../protocol/axes.ts';
import type { Args, Op } from '../../protocol/message.ts';
import type { Matrix, Role } from '../../vocabulary.ts';
import { type Band, bandOf, show } from '../numbers.ts';
import type { Finding, World } from '../property.ts';
import { stripOf } from '../rows/strips.ts';
import { axesOf, fieldAlong, rowCount } from './transform.ts';

/** An answer, or what was made of it; with how far off a field may be where the band does not say. */
export interface Observed {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly slack?: Readonly<Record<string, number>>;
  /** What a finding must add. */
  readonly note?: string;
  /** Many requests stand behind it, some for each token: a large batch would take too long. */
  readonly estimated?: boolean;
}

export interface Comparison<O extends Op> {
  readonly world: World;
  readonly op: O;
  readonly args: Args<O>;
  readonly before: Observed;
  readonly after: Observed;
  /** Rows of the first answer that the second still has, and where they are; default: all, in place. */
  readonly place?: ReadonlyMap<number, number>;
  /** Columns that the second has more, on the left. */
  readonly shift?: number;
  /** Values for the whole batch are compared too. Default: true. */
  readonly batch?: boolean;
  /** Ends the sentence: "when the rows are in another order". */
  readonly when: string;
  /** Length of the longest sum in it, where the mask does not tell. */
  readonly terms?: number;
  /** Any other number is a change, however near: where the question is whether anything moved at all. */
  readonly exact?: boolean;
}

/** The first value that changed. */
export function agreement<O extends Op>(comparison: Comparison<O>): Finding | undefined {
  const axes = axesOf(comparison.op).ok as Readonly<Record<string, OkAxis>>;
  for (const [name, before] of Object.entries(comparison.before.fields)) {
    const after = comparison.after.fields[name];
    const axis = axes[name];
    if (before === undefined || axis === undefined) continue;
    const found =
      axis === 'batch'
        ? comparison.batch === false
          ? undefined
          : changedValue(comparison, name, before, after)
        : changedRow(comparison, name, axis, before as readonly unknown[], after as readonly unknown[]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function bandFor<O extends Op>({ world, op, args, terms }: Comparison<O>): Band {
  const mask = fieldAlong(op, args, 'mask') as Matrix | undefined;
  return bandOf(world, terms ?? Math.max(1, mask?.flat().length ?? rowCount(op, args)));
}

function noteFor<O extends Op>(comparison: Comparison<O>): string {
  const { note } = comparison.before;
  return `${bandFor(comparison).reason}${note === undefined ? '' : `. ${note}`}`;
}

function changedValue<O extends Op>(
  comparison: Comparison<O>,
  name: string,
  before: unknown,
  after: unknown,
): Finding | undefined {
  const where = firstDifference(before, after, comparison, name);
  if (where === undefined) return undefined;
  return {
    kind: name,
    sentence: `${name}${where.path} changes from ${word(where.before)} to ${word(where.after)} ${comparison.when}.`,
    note: noteFor(comparison),
  };
}

function changedRow<O extends Op>(
  comparison: Comparison<O>,
  name: string,
  axis: OkAxis,
  before: readonly unknown[],
  after: readonly unknown[] | undefined,
): Finding | undefined {
  const { op, args, when, place, shift = 0 } = comparison;
  const mask = fieldAlong(op, args, 'mask') as Matrix | undefined;
  for (const [row, value] of before.entries()) {
    const at = place === undefined ? row : place.get(row);
    if (at === undefined) continue;
    if (axis === 'row' || axis === 'kept') {
      const where = firstDifference(value, after?.[at], comparison, name);
      if (where === undefined) continue;
      return {
        kind: name,
        sentence: `${name} of row ${row}${where.path} changes from ${word(where.before)} to ${word(where.after)} ${when}.`,
        note: noteFor(comparison),
      };
    }
    const cells = value as readonly unknown[];
    const others = (after?.[at] as readonly unknown[] | undefined)?.slice(shift) ?? [];
    const marks = cells.flatMap((cell, column) =>
      (mask === undefined || mask[row]?.[column] === 1) &&
      firstDifference(cell, others[column], comparison, name) !== undefined
        ? [column]
        : [],
    );
    const [column] = marks;
    if (column === undefined) continue;
    return {
      kind: name,
      sentence: `${name} of token ${column} of row ${row} changes from ${word(cells[column])} to ${word(others[column])} ${when}.`,
      note: noteFor(comparison),
      strips: [
        stripOf(comparison.world, {
          row,
          ids: cells.map((_, each) => each),
          roles: rolesOf(comparison, row, cells.length),
          tracks: { mask: mask?.[row] ?? [], before: cells.map(cellOf), after: others.map(cellOf) },
          marks,
          shown: 'columns',
        }),
      ],
    };
  }
  return undefined;
}

function rolesOf<O extends Op>({ op, args }: Comparison<O>, row: number, width: number): Role[] {
  const mask = fieldAlong(op, args, 'mask') as Matrix | undefined;
  const promptWidth = (fieldAlong(op, args, 'width') as number | undefined) ?? 0;
  return Array.from({ length: width }, (_, column): Role => {
    if (mask?.[row]?.[column] === 1) return 'completion';
    return column < promptWidth ? 'prompt' : 'padding';
  });
}

interface Difference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Numbers within the band or the slack, NaN equal to nothing; lists by place; everything else exactly. */
function firstDifference<O extends Op>(
  before: unknown,
  after: unknown,
  comparison: Comparison<O>,
  name: string,
): Difference | undefined {
  if (typeof before === 'number' && typeof after === 'number') {
    if (comparison.exact)
      return before === after || Object.is(before, after) ? undefined : { path: '', before, after };
    const slack = Math.max(comparison.before.slack?.[name] ?? 0, comparison.after.slack?.[name] ?? 0);
    const same =
      before === after || bandFor(comparison).close(after, before) || Math.abs(after - before) <= slack;
    return same ? undefined : { path: '', before, after };
  }
  if (typeof before === 'object' && before !== null && typeof after === 'object' && after !== null) {
    const [left, right] = [before as Record<string, unknown>, after as Record<string, unknown>];
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const found = firstDifference(left[key], right[key], comparison, name);
      if (found !== undefined)
        return { ...found, path: Array.isArray(before) ? `[${key}]${found.path}` : `.${key}${found.path}` };
    }
    return undefined;
  }
  return before === after ? undefined : { path: '', before, after };
}

const word = (value: unknown): string =>
  typeof value === 'number' || value === undefined ? show(value) : JSON.stringify(value);
const cellOf = (value: unknown): number | string | undefined =>
  typeof value === 'number' ? value : value === undefined ? undefined : JSON.stringify(value);

/** The first number of an answer that counts and is none; `undefined` where all are numbers. */
export function notANumber<O extends Op>(
  op: O,
  args: Args<O>,
  { fields }: Observed,
): { readonly name: string; readonly where: string; readonly value: number } | undefined {
  const axes = axesOf(op).ok as Readonly<Record<string, OkAxis>>;
  const mask = fieldAlong(op, args, 'mask') as Matrix | undefined;
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || axes[name] === undefined) continue;
    if (axes[name] !== 'token' || mask === undefined) {
      const found = nonFinite(value);
      if (found !== undefined) return { name, where: `${name}${found.path}`, value: found.value };
      continue;
    }
    for (const [row, cells] of (value as Matrix).entries()) {
      const column = cells.findIndex((cell, at) => mask[row]?.[at] === 1 && nonFinite(cell) !== undefined);
      if (column >= 0)
        return {
          name,
          where: `${name} of token ${column} of row ${row}`,
          value: nonFinite(cells[column])?.value ?? Number.NaN,
        };
    }
  }
  return undefined;
}

function nonFinite(value: unknown): { path: string; value: number } | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : { path: '', value };
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, each] of Object.entries(value)) {
    const found = nonFinite(each);
    if (found !== undefined) return { ...found, path: `[${key}]${found.path}` };
  }
  return undefined;
}
