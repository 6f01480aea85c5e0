// One entry of a golden file: a case and what the trainer said to it, as it is written down. Numbers have the digits that the
// trainer's precision has, so that another platform's last bit is no other line; what says nothing is null.
import { createHash } from 'node:crypto';
import { AXES } from '../protocol/axes.ts';
import { isOptional, type Kind, kindOf as kindOfSpec } from '../protocol/fields.ts';
import { decodeKind, fillOf } from '../protocol/kinds.ts';
import { OPS, type Op } from '../protocol/message.ts';
import { shown } from '../protocol/result.ts';
import type { DType } from '../vocabulary.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** What the trainer said: fields of the op, token-aligned; or why it would not. */
export type Said =
  | { readonly kind: 'answer'; readonly fields: Fields }
  | { readonly kind: 'refused' | 'skipped'; readonly why: string };

export interface Entry {
  readonly id: string;
  /** `hello` for what the trainer declares. */
  readonly op: Op | typeof HELLO;
  /** As written: long texts by their fingerprint. */
  readonly args: Fields;
  readonly said: Said;
}

export const HELLO = 'hello';

/** A longer text of a request stands in the file as its fingerprint: a chat template is no reading. */
const LONG_TEXT = 300;
const SHOWN_OF_IT = 24;
/** Enough to tell texts apart that nobody forges. */
const FINGERPRINT_DIGITS = 16;

export function fingerprintOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex').slice(0, FINGERPRINT_DIGITS)}`;
}

/** A request as it is written: fields in the order of the protocol. */
export function writtenArgs(op: Op, args: Fields): Fields {
  return inOrder(OPS[op].args, args, (_, value) =>
    typeof value === 'string' && value.length > LONG_TEXT
      ? `${value.slice(0, SHOWN_OF_IT)}... (${value.length} characters, ${fingerprintOf(value)})`
      : value,
  );
}

/** Digits that are written: far more than the tolerance of the precision asks for, fewer than platforms differ in. */
const DIGITS: Readonly<Record<DType, number>> = { float64: 12, float32: 8, bfloat16: 6, float16: 6 };

/** An answer as it is written, plain JSON. */
export function writtenAnswer(op: Op, args: Fields, fields: Fields, dtype: DType): Fields {
  const number = (value: number): unknown =>
    Number.isFinite(value) ? Number(value.toPrecision(DIGITS[dtype])) + 0 : String(value);
  return inOrder(OPS[op].ok, fields, (name, value) => {
    const kind = kindOf(op, name);
    const counts = counting(op, args, name);
    return isFloat(kind) ? eachNumber(value, number, counts) : sorted(value);
  });
}

/** The answer that is meant by what is written; a complaint names the path behind `answer`. */
export function readAnswer(op: Op, written: Fields): { fields: Fields } | { complaint: string } {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(written)) {
    if (!Object.hasOwn(OPS[op].ok, name)) return { complaint: `.${name} is no field of op ${op}` };
    const kind = kindOf(op, name);
    const decoded = decodeKind(kind, isFloat(kind) ? numbersOf(value) : value, `.${name}`);
    if ('complaint' in decoded) return decoded;
    fields[name] = decoded.ok;
  }
  const missing = Object.entries(OPS[op].ok).find(
    ([name, spec]) => !isOptional(spec) && fields[name] === undefined,
  );
  return missing === undefined ? { fields } : { complaint: ` has no ${missing[0]}` };
}

export function kindOf(op: Op, name: string): Kind {
  const spec = (OPS[op].ok as Readonly<Record<string, string>>)[name] ?? 'text';
  return kindOfSpec(spec);
}

export function isFloat(kind: Kind): boolean {
  return kind.startsWith('float') || kind === 'amounts';
}

/**
 * Which places of a field say something. Numbers of tokens outside the mask, or of padding where there is no mask, are
 * unknown, as protocol/layout.ts has it; masks and weights are 0 there, and count.
 */
export function counting(op: Op, args: Fields, name: string): (row: number, column: number) => boolean {
  const kind = kindOf(op, name);
  if (kind !== 'float_track' || !Number.isNaN(fillOf(kind, name))) return () => true;
  const axes = AXES[op];
  const masked = Object.entries(axes?.args ?? {}).find(([, axis]) => axis === 'mask')?.[0];
  const mask = (masked === undefined ? args.attention_mask : args[masked]) as
    | readonly (readonly number[])[]
    | undefined;
  if (mask === undefined) return () => true;
  if (masked === undefined) return (row, column) => column > 0 && mask[row]?.[column] === 1;
  const behind = axes?.behind === true;
  return (row, column) =>
    mask[row]?.[column] === 1 || (behind && column > 0 && column - 1 === mask[row]?.lastIndexOf(1));
}

// --- helpers ---

function inOrder(
  specs: Readonly<Record<string, string>>,
  values: Fields,
  write: (name: string, value: unknown) => unknown,
): Fields {
  const names = Object.keys(specs).filter((name) => values[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, write(name, values[name])]));
}

function eachNumber(
  value: unknown,
  write: (value: number) => unknown,
  counts: (row: number, column: number) => boolean,
  at: readonly number[] = [],
): unknown {
  if (typeof value === 'number') {
    const [row = 0, column = 0] = at;
    return at.length < 2 || counts(row, column) ? write(value) : null;
  }
  if (Array.isArray(value))
    return value.map((each, index) => eachNumber(each, write, counts, [...at, index]));
  if (typeof value !== 'object' || value === null) return value;
  return sorted(
    Object.fromEntries(Object.entries(value).map(([key, each]) => [key, eachNumber(each, write, counts)])),
  );
}

/** Objects of an answer have no order of their own. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, sorted(each)]),
  );
}

function numbersOf(value: unknown): unknown {
  if (value === null || value === 'NaN') return Number.NaN;
  if (value === 'Infinity' || value === '-Infinity') return Number(value);
  if (Array.isArray(value)) return value.map(numbersOf);
  if (typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, numbersOf(each)]));
}

/** As a sentence quotes a value of a file. */
export function quotedValue(value: unknown): string {
  return shown(value);
}
