// One mutant for each op and each way to break a relation: the bundled trainer's op, right but for what is done to its
// request or its answer on the way. Which ops a way is a mutant of, the matrix of relations says; nobody lists them.

import { isReal, type Signature, signatureOf } from '../../src/check/relations/fit.ts';
import { AXES, type Op, rowCount, type Trainer, unasked } from '../../src/index.ts';
import type { Relation } from '../../src/protocol/axes.ts';
import type { Matrix } from '../../src/vocabulary.ts';
import { startResident } from '../resident.ts';
import type { Mutant } from './mutant.ts';

const BASE = 'lossproof.examples.left_padded';
/** What is handled in one go by those who lose the rest: rows, and columns. */
const ROWS = 16;
const COLUMNS = 64;

type Fields = Readonly<Record<string, unknown>>;
type Rows = readonly unknown[];

export interface Way {
  readonly name: string;
  readonly title: (op: string) => string;
  /** The relations that it breaks. */
  readonly breaks: readonly Relation[];
  readonly args?: (args: Fields, signature: Signature) => Fields;
  readonly answer?: (ok: Fields, signature: Signature, args: Fields) => Fields;
  /** Only the answer to a repeated request is wrong. Counting calls would make it depend on the order of requests in flight. */
  readonly again?: true;
  readonly writes?: true;
}

const WAYS: readonly Way[] = [
  {
    name: 'answers-nan',
    title: (op) => `What ${op} answers is NaN`,
    breaks: ['finite'],
    answer: (ok, { ok: fields }) =>
      edited(ok, fields.filter(isReal), (value) => numbers(value, () => Number.NaN)),
  },
  {
    name: 'knows-the-first-row',
    title: (op) => `Every row of ${op} gets what the first one should`,
    breaks: ['row-order', 'batch-mates'],
    answer: (ok, signature) => edited(ok, ofRows(signature), (rows) => like(rows as Rows, () => 0)),
  },
  {
    name: 'knows-sixteen-rows',
    title: (op) => `Rows of ${op} behind the 16th get what that one should`,
    breaks: ['stacked'],
    answer: (ok, signature) =>
      edited(ok, ofRows(signature), (rows) => like(rows as Rows, (row) => Math.min(row, ROWS - 1))),
  },
  {
    name: 'knows-64-columns',
    title: (op) => `Columns of ${op} behind the 64th get what that one should`,
    breaks: ['long'],
    answer: (ok, { ok: fields }) =>
      edited(
        ok,
        fields.filter(({ axis }) => axis === 'token'),
        (rows) => (rows as Matrix).map((row) => like(row, (column) => Math.min(column, COLUMNS - 1))),
      ),
  },
  {
    name: 'counts-columns',
    title: (op) => `What ${op} answers grows with the columns of the batch`,
    breaks: ['padding'],
    answer: (ok, { args: given, ok: fields }, args) => {
      const track = given.find(({ axis, name }) => axis === 'token' && args[name] !== undefined);
      const width = ((args[track?.name ?? ''] as Matrix | undefined)?.[0] ?? []).length;
      return edited(ok, fields.filter(isReal), (value) => numbers(value, (x) => x * (1 + width)));
    },
  },
  {
    name: 'reads-under-the-mask',
    title: (op) => `What ${op} answers depends on numbers at masked positions`,
    breaks: ['masked-values', 'nan-under-the-mask'],
    answer: (ok, { args: given, ok: fields }, args) => {
      const mask = args[given.find(({ axis }) => axis === 'mask')?.name ?? ''] as Matrix | undefined;
      const tracks = given.filter((field) => field.axis === 'token' && isReal(field));
      const masked = tracks.flatMap(({ name }) =>
        ((args[name] as Matrix | undefined) ?? []).flatMap((row, at) =>
          row.filter((_, column) => mask?.[at]?.[column] !== 1).flat(),
        ),
      );
      const sum = masked.reduce((total, value) => total + value, 0);
      return edited(ok, fields.filter(isReal), (value) => numbers(value, (x) => x + sum));
    },
  },
  {
    name: 'counts-micro-batches',
    title: (op) => `What ${op} answers grows with the number of micro-batches`,
    breaks: ['micro-batches', 'many-micro-batches'],
    answer: (ok, { ok: fields }, { micro_batches: parts = [] }) =>
      edited(ok, fields.filter(isReal), (value) => numbers(value, (x) => x * (parts as Rows).length)),
  },
  {
    name: 'costs-without-tokens',
    title: (op) => `What ${op} answers is 1 higher where no token is trained`,
    breaks: ['untrained'],
    answer: (ok, { ok: fields }, { completion_mask: mask, labels }) => {
      const trained =
        (mask as Matrix | undefined)?.flat().includes(1) ?? (labels as Matrix).flat().some((id) => id >= 0);
      return trained ? ok : edited(ok, fields.filter(isReal), (value) => numbers(value, (x) => x + 1));
    },
  },
  {
    name: 'is-a-constant',
    title: (op) => `${op} answers 0.5 whatever it is asked`,
    breaks: ['counts'],
    answer: (ok, { ok: fields }) => edited(ok, fields.filter(isReal), (value) => numbers(value, () => 0.5)),
  },
  {
    name: 'takes-nan-for-0',
    title: (op) => `${op} goes on with 0 where a number is NaN`,
    breaks: ['nan-shows'],
    args: (args, { args: fields }) =>
      edited(args, fields.filter(isReal), (value) => numbers(value, (x) => (Number.isNaN(x) ? 0 : x))),
  },
  {
    name: 'reads-the-sign-of-zero',
    title: (op) => `What ${op} answers is another thing for -0 than for 0`,
    breaks: ['signed-zero'],
    answer: (ok, { ok: fields }, args) =>
      Array.from({ length: minusZeros(args) }).reduce<Fields>((each) => edited(each, fields, otherwise), ok),
  },
  {
    name: 'remembers',
    title: (op) => `${op} answers something else when it is asked again`,
    breaks: ['same-twice'],
    again: true,
    answer: (ok, { ok: fields }) => edited(ok, fields, otherwise),
  },
  {
    name: 'writes-into-its-arguments',
    title: (op) => `${op} leaves another request behind than it was handed`,
    breaks: ['inputs'],
    writes: true,
  },
];

/** An op of the bundled trainer, and what breaks one of the relations that it is asked. */
export const wrappers: readonly { readonly op: Op; readonly way: Way }[] = (
  Object.keys(AXES) as Op[]
).flatMap((op) =>
  WAYS.filter(({ breaks }) => breaks.some((relation) => unasked(op, relation) === undefined)).map((way) => ({
    op,
    way,
  })),
);

export function wrapperOf(op: Op, way: Way): Mutant {
  return {
    id: `${op.replaceAll('_', '-')}-${way.name}`,
    title: way.title(op),
    rows: [],
    base: 'left_padded',
    ops: [op],
    start: async (resident) => {
      const own = resident ?? startResident();
      const trainer = wrapped(await own.open(BASE), op, way);
      return resident === undefined ? { ...trainer, stop: () => own.stop() } : trainer;
    },
  };
}

function wrapped(right: Trainer, broken: Op, way: Way): Trainer {
  const signature = signatureOf(broken);
  return {
    ...right,
    ask: async (op, args, how) => {
      if ((op as Op) !== broken) return right.ask(op, args, how);
      const asked = way.args?.(args as Fields, signature) ?? args;
      const outcome = await right.ask(op, asked as typeof args, how);
      if (outcome.kind !== 'ok' || (way.again && how?.anew !== true)) return outcome;
      const change = (fields: Fields): Fields => way.answer?.(fields, signature, args as Fields) ?? fields;
      const ok = changedRows(outcome.ok as Fields, rowCount(op, args), change);
      const written = Object.entries(args).find(([, value]) => Array.isArray(value))?.[0];
      return {
        ...outcome,
        ok: ok as typeof outcome.ok,
        ...(way.writes && written !== undefined ? { written: [written] } : {}),
      };
    },
  };
}

/** Of an answer that is nothing but the rows that it keeps, each row is changed: 1 where it is kept. Else what is told of them is. */
function changedRows(ok: Fields, rows: number, change: (ok: Fields) => Fields): Fields {
  const { kept, ...others } = ok;
  if (kept === undefined) return change(ok);
  if (Object.values(others).some((value) => value !== undefined)) return { ...change(others), kept };
  const flags = Array.from({ length: rows }, (_, row) => Number((kept as Rows).includes(row)));
  const changed = change({ kept: flags }).kept as Rows;
  return { kept: changed.flatMap((flag, row) => (flag === 1 ? [row] : [])) };
}

type Fielded = Signature['ok'][number] | Signature['args'][number];

const ofRows = ({ ok }: Signature): readonly Fielded[] =>
  ok.filter(({ axis }) => axis === 'row' || axis === 'token' || axis === 'kept');

/** These fields changed, where they are there. */
function edited(
  all: Fields,
  fields: readonly Fielded[],
  change: (value: unknown, field: Fielded) => unknown,
): Fields {
  const present = fields.filter(({ name }) => all[name] !== undefined);
  return {
    ...all,
    ...Object.fromEntries(present.map((field) => [field.name, change(all[field.name], field)])),
  };
}

/** Each item what the one at `from` is, in its own shape. */
function like(items: Rows, from: (at: number) => number): unknown[] {
  return items.map((item, at) => inShapeOf(item, items[from(at)]));
}

const inShapeOf = (own: unknown, other: unknown): unknown =>
  Array.isArray(own) && Array.isArray(other)
    ? own.map((each, at) => (at < other.length ? inShapeOf(each, other[at]) : each))
    : other;

function numbers(value: unknown, change: (x: number) => number): unknown {
  if (typeof value === 'number') return change(value);
  if (Array.isArray(value)) return value.map((each) => numbers(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, numbers(each, change)]));
}

/** Another answer of the same shape. */
const otherwise = (value: unknown, field: Fielded): unknown =>
  isReal(field) ? numbers(value, (x) => 1.5 * x + 1) : backwards(value);

/** How many numbers of a request are -0. */
function minusZeros(value: unknown): number {
  if (typeof value !== 'object' || value === null) return Number(Object.is(value, -0));
  return Object.values(value).reduce((sum: number, each) => sum + minusZeros(each), 0);
}

const backwards = (value: unknown): unknown =>
  !Array.isArray(value) ? value : Array.isArray(value[0]) ? value.map(backwards) : value.toReversed();
