// JSON as Python's json module speaks it. Reading: also bare NaN, Infinity, -Infinity. Writing: a float field
// stays a float on the other side (1.0, not 1; -0.0; NaN), because Python reads 1 as an int and numpy then makes
// an integer array of it. Which field is float is known from OPS, so that ints keep JSON.stringify's speed.
import { OF_AN_ANSWER } from '../outside/bounds.ts';
import { parsePython } from '../outside/json.ts';
import type { Layout, Turn } from '../vocabulary.ts';
import { kindOf } from './fields.ts';
import { encodeTrack } from './layout.ts';
import { type Args, type FieldSpecs, type Hello, type Kind, OPS, type Op, type Segment } from './message.ts';
import { dealt, overRanks } from './ranks.ts';
import { type Decoded, isJsonObject } from './result.ts';
import { BASE64_LEAST_ELEMENTS, elementsOf, encodeTensor, type TensorDType } from './tensor.ts';

/** How one trainer wants its numbers: fixed by its hello. */
export interface Wire {
  /** Of an op's tracks. */
  readonly layoutOf: (op: Op) => Layout;
  /** How many ranks an op has, where it must be told which rows each of them has. */
  readonly ranksOf?: (op: Op) => number | undefined;
  readonly base64: boolean;
  /** The dtype of float tensors; bfloat16 and float16 travel as float32, which holds them exactly. */
  readonly floats: TensorDType;
}

export const TOKEN_ROW: Layout = { alignment: 'token', span: 'row' };

export function wireOf(hello: Hello): Wire {
  return {
    layoutOf: (op) => hello.ops[op]?.layout ?? hello.layout ?? TOKEN_ROW,
    ranksOf: (op) => {
      const ranks = hello.ops[op]?.ranks;
      return typeof ranks === 'number' ? ranks : undefined;
    },
    base64: hello.tensors === 'base64',
    floats: [hello, ...Object.values(hello.ops)].some(({ dtype }) => dtype === 'float64')
      ? 'float64'
      : 'float32',
  };
}

/** One line that a trainer wrote, Python's dialect. A complaint names the character where it stops being JSON, or what is too much. */
export function parseAnswer(line: string): Decoded<unknown> {
  return parsePython(line, OF_AN_ANSWER);
}

/** The `args` object of a request: token-aligned in, the trainer's layout and number encoding out. */
export function encodeArgs<O extends Op>(op: O, args: Args<O>, wire: Wire): string {
  const values = withRanks(op, args, wire);
  let text = '{';
  const layout = wire.layoutOf(op);
  for (const field of FIELDS[op]) {
    const value = values[field.name];
    if (value === undefined) continue;
    if (text.length > 1) text += ',';
    text +=
      field.key +
      encodeValue(field.kind, value, wire, { layout, promptWidth: values.prompt_width as number });
  }
  return `${text}}`;
}

/** The same arguments as values, in the trainer's layout: for a trainer in this process. */
export function wireArgs<O extends Op>(op: O, args: Args<O>, wire: Wire): Args<O> {
  const values: Record<string, unknown> = { ...withRanks(op, args, wire) };
  for (const { name, kind } of FIELDS[op]) {
    if ((kind !== 'int_track' && kind !== 'float_track') || values[name] === undefined) continue;
    values[name] = encodeTrack(values[name] as number[][], values.prompt_width as number, wire.layoutOf(op));
  }
  return values as Args<O>;
}

/** With the rows of each rank, where the trainer has a number of ranks. */
function withRanks<O extends Op>(op: O, args: Args<O>, wire: Wire): Readonly<Record<string, unknown>> {
  const values = args as Readonly<Record<string, unknown>>;
  const count = wire.ranksOf?.(op);
  if (count === undefined) return values;
  // The first field of every op that has ranks holds an entry a row.
  const rows = (values[FIELDS[op][0]?.name ?? ''] as readonly unknown[]).length;
  const parts = values.ranks as readonly (readonly number[])[] | undefined;
  // One part is no partition: whoever sends it asks nothing about ranks.
  const ranks = parts === undefined || parts.length < 2 ? dealt(rows, count) : overRanks(parts, count);
  return { ...values, ranks };
}

/** A float as Python's json reads it back: 1.0, -0.0, 1e+21, NaN, -Infinity. */
export function floatText(x: number): string {
  if (!Number.isInteger(x)) return `${x}`;
  if (x === 0) return 1 / x < 0 ? '-0.0' : '0.0';
  return Math.abs(x) < 1e21 ? `${x}.0` : `${x}`; // from 1e21 on JavaScript itself writes an exponent
}

interface Field {
  readonly name: string;
  readonly key: string;
  readonly kind: Kind;
}

const FIELDS = Object.fromEntries(
  Object.entries(OPS).map(([op, spec]) => [op, fieldsOf(spec.args)]),
) as unknown as Readonly<Record<Op, readonly Field[]>>;

function fieldsOf(specs: FieldSpecs): Field[] {
  return Object.entries(specs).map(([name, spec]) => ({
    name,
    key: `${JSON.stringify(name)}:`,
    kind: kindOf(spec),
  }));
}

/** How a track of one request crosses. */
interface Place {
  readonly layout: Layout;
  readonly promptWidth: number;
}

function encodeValue(kind: Kind, value: unknown, wire: Wire, { layout, promptWidth }: Place): string {
  switch (kind) {
    case 'float':
      return floatText(value as number);
    case 'int_track':
    case 'float_track': {
      const track = encodeTrack(value as number[][], promptWidth, layout);
      return encodeNumbers(kind === 'int_track', track, wire);
    }
    case 'floats':
    case 'float_matrix':
    case 'float_cube':
      return encodeNumbers(false, value as Nested, wire);
    case 'int_matrix':
      return encodeNumbers(true, value as Nested, wire);
    case 'float_rows':
      return floatsText(value as Nested);
    case 'segments':
      return `[${(value as Segment[]).map(segmentText).join(',')}]`;
    case 'turns':
      return `[${(value as Turn[]).map(turnText).join(',')}]`;
    case 'amounts':
    case 'choices':
      return amountsText(value as Record<string, number | string>);
    default:
      return JSON.stringify(value);
  }
}

type Nested = readonly number[] | readonly Nested[];

function encodeNumbers(integers: boolean, value: Nested, wire: Wire): string {
  if (wire.base64 && elementsOf(value) >= BASE64_LEAST_ELEMENTS) {
    return JSON.stringify(encodeTensor(value, integers ? 'int64' : wire.floats));
  }
  return integers ? JSON.stringify(value) : floatsText(value);
}

function floatsText(value: Nested): string {
  let text = '[';
  for (let i = 0; i < value.length; i += 1) {
    const item = value[i];
    if (i > 0) text += ',';
    text += typeof item === 'number' ? floatText(item) : floatsText(item ?? []);
  }
  return `${text}]`;
}

function segmentText(segment: Segment): string {
  const { prompt_ids, completion_ids, reward } = segment;
  return `{"prompt_ids":${JSON.stringify(prompt_ids)},"completion_ids":${JSON.stringify(completion_ids)},"reward":${floatText(reward)}}`;
}

function turnText({ role, ids, logprobs, finish_reason }: Turn): string {
  return `{"role":${JSON.stringify(role)},"ids":${JSON.stringify(ids)},"logprobs":${floatsText(logprobs)},"finish_reason":${JSON.stringify(finish_reason)}}`;
}

function amountsText(amounts: Record<string, number | string>): string {
  const text = (x: number | string): string => (typeof x === 'string' ? JSON.stringify(x) : floatText(x));
  const parts = Object.entries(amounts).map(([name, x]) => `${JSON.stringify(name)}:${text(x)}`);
  return `{${parts.join(',')}}`;
}

/** True for an object that may be an answer: `{"id": integer, ...}`. */
export function isAnswerLine(value: unknown): value is Readonly<Record<string, unknown>> & { id: number } {
  return isJsonObject(value) && Number.isSafeInteger(value.id);
}
