// Requests changed in ways that must not matter, by the axes of their fields alone: rows in another order, rows left
// out, columns of padding added, masked values overwritten.
import { type ArgAxis, AXES, type OkAxis, type OpAxes } from '../../protocol/axes.ts';
import type { Args, Ok, Op } from '../../protocol/message.ts';
import type { Matrix } from '../../vocabulary.ts';

type Rows = readonly (readonly unknown[])[];

/** The axes of an op. @throws TypeError where it has no entry in `AXES`. */
export function axesOf<O extends Op>(op: O): OpAxes<O> {
  const axes = AXES[op] as OpAxes<O> | undefined;
  if (axes === undefined)
    throw new TypeError(`op \`${op}\` has no axes: give it an entry in protocol/axes.ts`);
  return axes;
}

/** Every field that is there, changed by its axis; what `change` leaves undefined stays as it is. */
function changed<O extends Op>(
  op: O,
  args: Args<O>,
  change: (value: unknown, axis: ArgAxis, name: string) => unknown,
): Args<O> {
  const axes = axesOf(op).args as Readonly<Record<string, ArgAxis>>;
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const axis = axes[name];
      return [name, value === undefined || axis === undefined ? value : (change(value, axis, name) ?? value)];
    }),
  ) as Args<O>;
}

/** The first field along `axis`. */
export function fieldAlong<O extends Op>(op: O, args: Args<O>, axis: ArgAxis): unknown {
  const axes = axesOf(op).args as Readonly<Record<string, ArgAxis>>;
  return Object.entries(args).find(([name, value]) => value !== undefined && axes[name] === axis)?.[1];
}

/** Number of rows of a request. */
export function rowCount<O extends Op>(op: O, args: Args<O>): number {
  const rows = fieldAlong(op, args, 'row') ?? fieldAlong(op, args, 'token') ?? fieldAlong(op, args, 'mask');
  return Array.isArray(rows) ? rows.length : 0;
}

/** The answer row by row of the request, where it says which rows it kept: of one that it left out, `kept` is 0 and all else `undefined`. */
export function asAsked<O extends Op>(op: O, args: Args<O>, ok: Ok<O>): Readonly<Record<string, unknown>> {
  const axes = axesOf(op).ok as Readonly<Record<string, OkAxis>>;
  const fields = Object.entries(ok);
  const kept = fields.find(([name]) => axes[name] === 'kept')?.[1] as readonly number[] | undefined;
  if (kept === undefined) return ok as Readonly<Record<string, unknown>>;
  const places = Array.from({ length: rowCount(op, args) }, (_, row) => kept.indexOf(row));
  return Object.fromEntries(
    fields.map(([name, rows]) => {
      // Whether it is there at all: a filter may answer nothing else.
      if (axes[name] === 'kept') return [name, places.map((at) => Number(at >= 0))];
      return [name, Array.isArray(rows) ? places.map((at) => rows[at]) : rows];
    }),
  );
}

/** The rows `order` names, in that order; partitions keep which of them belong together. */
export function pickRows<O extends Op>(op: O, args: Args<O>, order: readonly number[]): Args<O> {
  return changed(op, args, (value, axis) => {
    if (axis === 'partition')
      return (value as readonly (readonly number[])[])
        .map((rows) => rows.flatMap((row) => (order.includes(row) ? [order.indexOf(row)] : [])))
        .filter((rows) => rows.length > 0);
    if (axis === 'width' || axis === 'setting') return undefined;
    const picked = order.map((row) => (value as readonly unknown[])[row]);
    return axis === 'group' ? renumbered(picked) : picked;
  });
}

/** Groups by the order in which they come first: a trainer may take their names for positions. */
function renumbered(groups: readonly unknown[]): number[] {
  const names = [...new Set(groups)];
  return groups.map((group) => names.indexOf(group));
}

/** Which columns of each row count: those of the mask, or of the labels, or what is attended to behind the prompt. */
export function trainedOf<O extends Op>(op: O, args: Args<O>): readonly (readonly boolean[])[] {
  const mask = fieldAlong(op, args, 'mask') as Matrix | undefined;
  if (mask !== undefined) return mask.map((row) => row.map((on) => on === 1));
  const {
    labels,
    attention_mask: attention,
    prompt_width: width = 0,
  } = args as {
    readonly labels?: Matrix;
    readonly attention_mask?: Matrix;
    readonly prompt_width?: number;
  };
  if (labels !== undefined) return labels.map((row) => row.map((label) => label >= 0));
  return (attention ?? []).map((row) => row.map((on, column) => on === 1 && column >= width));
}

/** All rows as one part. */
export function wholePartition<O extends Op>(op: O, args: Args<O>): Args<O> {
  const all = Array.from({ length: rowCount(op, args) }, (_, row) => row);
  return changed(op, args, (_, axis) => (axis === 'partition' ? [all] : undefined));
}

/** Columns of padding on both sides: values 0 (or what the axes say), mask 0. */
export function padColumns<O extends Op>(op: O, args: Args<O>, left: number, right: number): Args<O> {
  const padding = (axesOf(op).padding ?? {}) as Readonly<Record<string, number>>;
  return changed(op, args, (value, axis, name) => {
    if (axis === 'width') return (value as number) + left;
    if (axis !== 'token' && axis !== 'mask') return undefined;
    const fill = padding[name] ?? 0;
    return (value as Rows).map((row) => {
      const blank = (): unknown => like(row[0], fill);
      return [...Array.from({ length: left }, blank), ...row, ...Array.from({ length: right }, blank)];
    });
  });
}

/** Columns of a row that belong together. */
export interface Run {
  readonly start: number;
  readonly length: number;
}
export const NO_RUN: Run = { start: 0, length: 0 };

/** The last token of each run predicts what the one before it does, so that its first token may stand behind its last. */
export function closeCircles<O extends Op>(op: O, args: Args<O>, runs: readonly Run[]): Args<O> {
  return changed(op, args, (value, axis, name) => {
    if (axis !== 'token' || !predictsNext(name)) return undefined;
    return (value as Rows).map((row, at) => {
      const { start, length } = runs[at] ?? NO_RUN;
      return length === 0 ? row : row.with(start + length - 1, row[start - 1] as number);
    });
  });
}

/** What stands in a column is of the token after it, and of the label beside that. */
export const predictsNext = (name: string): boolean => name === 'logits' || name === 'ref_logits';

/** Each row's run of columns, so many times one behind the other. */
export function repeatColumns<O extends Op>(
  op: O,
  args: Args<O>,
  runs: readonly Run[],
  times: number,
): Args<O> {
  const padding = (axesOf(op).padding ?? {}) as Readonly<Record<string, number>>;
  const longest = Math.max(...runs.map(({ length }) => length));
  return changed(op, args, (value, axis, name) => {
    if (axis !== 'token' && axis !== 'mask') return undefined;
    return (value as Rows).map((row, at) => {
      const { start, length } = runs[at] ?? NO_RUN;
      const run = row.slice(start, start + length);
      const missing = (times - 1) * (longest - length);
      return [
        ...row.slice(0, start + length),
        ...Array.from({ length: times - 1 }, () => run).flat(),
        ...row.slice(start + length),
        ...Array.from({ length: missing }, () => like(row[0], padding[name] ?? 0)),
      ];
    });
  });
}

function like(value: unknown, fill: number): unknown {
  return Array.isArray(value) ? value.map((each) => like(each, fill)) : fill;
}

/**
 * `junk` wherever the mask is 0, another multiple of it in each field so that differences are large too. Only fields of
 * numbers that are of their own token: logits mean something to the column after them.
 */
export function overwriteMasked<O extends Op>(op: O, args: Args<O>, junk: number): Args<O> {
  const mask = fieldAlong(op, args, 'mask') as Rows | undefined;
  if (mask === undefined) return args;
  let field = 0;
  return changed(op, args, (value, axis, name) => {
    if (axis !== 'token' || predictsNext(name)) return undefined;
    const written = junk * (MULTIPLES[field++ % MULTIPLES.length] ?? 1);
    return (value as Rows).map((row, b) =>
      row.map((each, t) => (mask[b]?.[t] === 1 ? each : like(each, written))),
    );
  });
}

/** No token is trained: the mask is 0 everywhere, and what holds something else in padding holds that. */
export function withoutTrained<O extends Op>(op: O, args: Args<O>): Args<O> {
  const padding = (axesOf(op).padding ?? {}) as Readonly<Record<string, number>>;
  return changed(op, args, (value, axis, name) => {
    const fill = axis === 'mask' ? 0 : padding[name];
    return fill === undefined ? undefined : (value as Rows).map((row) => row.map(() => fill));
  });
}

/** By field, in the order of policy, behaviour policy, reference: their ratio and their KL both become large. */
const MULTIPLES: readonly number[] = [1, 3, -2];

/** New names for token ids: a rotation that calls a stop token (or the pad) 0, the id that passes for `not set`. */
export function renaming<O extends Op>(op: O, args: Args<O>): (id: number) => number {
  const { eos_token_ids: stops, pad_token_id: pad = 0 } = args as {
    readonly eos_token_ids?: readonly number[];
    readonly pad_token_id?: number;
  };
  const anchor = stops?.[0] ?? pad;
  const names = Object.entries(args).flatMap(([name, value]) =>
    axesOf(op).ids?.args.includes(name as keyof Args<O>) ? flatNumbers(value) : [],
  );
  const count = Math.max(anchor, ...names) + 1;
  return (id) => (id < 0 ? id : (id - anchor + count) % count);
}

const flatNumbers = (value: unknown): number[] =>
  Array.isArray(value) ? value.flatMap(flatNumbers) : typeof value === 'number' ? [value] : [];

/** Fields in `names` with every id renamed; -100 and its like stay. */
export function renamed<T extends object>(
  fields: T,
  names: readonly PropertyKey[],
  rename: (id: number) => number,
): T {
  const all = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(all) : typeof value === 'number' ? rename(value) : value;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, names.includes(name) ? all(value) : value]),
  ) as T;
}
