// Shapes that tie an answer to its request or its fields to each other, as the names of their dimensions say. A wrong one
// is a complaint, so that no property indexes into a row that is not there.

import type { Layout, Matrix } from '../vocabulary.ts';
import { dimensionsOf, type FieldSpecs, isOptional, kindOf } from './fields.ts';
import { fillOf } from './kinds.ts';
import { decodeTrack } from './layout.ts';
import { type Kind, OPS, type Op } from './message.ts';
import type { OpSpec } from './op.ts';
import type { Decoded, JsonObject } from './result.ts';

/** Whether it is the trainer that miscounted, which no reading of the protocol will mend. */
export function isMiscount(complaint: string): boolean {
  return complaint.endsWith(LOST) || complaint.endsWith(ADDED);
}

const LOST = 'are lost or merged';
const ADDED = 'are added or repeated';

function miscount(what: string, got: number, expected: number): string {
  return `${what} ${got < expected ? LOST : ADDED}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

type Lists = readonly (readonly unknown[])[];

/** Where a dimension was first seen, of the request or of the answer. */
interface Seen {
  readonly name: string;
  readonly value: Lists;
  /** One of it, in words. */
  readonly noun: string;
}
type Dimensions = Map<string, Seen>;

/** First complaint about `ok` as the answer to `args`, both already of the right kinds. Tracks are not seen here. */
export function shapeComplaint(op: Op, args: JsonObject, ok: JsonObject): string | undefined {
  const specs: OpSpec = OPS[op];
  const names = Object.keys(specs.ok);
  if (names.every((name) => isOptional(specs.ok[name] ?? '') && ok[name] === undefined))
    return `ok has neither ${names.join(' nor ')}`;
  const asked: Dimensions = new Map();
  for (const name in specs.args) see(asked, specs.args, name, args[name]);
  const outside = ok.kept === undefined ? undefined : keepOnly(asked, ok.kept as readonly number[]);
  if (outside !== undefined) return outside;
  const answered: Dimensions = new Map();
  for (const name of names) {
    const value = ok[name] as Lists | undefined;
    const [outer, inner] = dimensionsOf(specs.ok[name] ?? '');
    if (value === undefined || outer === undefined) continue;
    const complaint =
      lengthComplaint(name, value, asked.get(outer), answered.get(outer)) ??
      (inner === undefined
        ? undefined
        : kindOf(specs.ok[name] ?? '').endsWith('_rows')
          ? rowComplaint(name, value, asked.get(inner), answered.get(inner), [outer, inner])
          : columnComplaint(name, value, asked.get(inner), answered.get(inner)));
    if (complaint !== undefined) return complaint;
    see(answered, specs.ok, name, value);
  }
  return undefined;
}

function see(seen: Dimensions, specs: FieldSpecs, name: string, value: unknown): void {
  if (value === undefined) return;
  for (const dimension of dimensionsOf(specs[name] ?? ''))
    if (!seen.has(dimension)) seen.set(dimension, { name, value: value as Lists, noun: dimension });
}

/** The rows of the answer may be fewer where it says which ones are kept: of the request these alone count then. */
function keepOnly(asked: Dimensions, kept: readonly number[]): string | undefined {
  for (const [dimension, { name, value }] of asked) {
    const outside = kept.findIndex((index) => index < 0 || index >= value.length);
    if (outside >= 0)
      return `ok.kept[${outside}] is ${kept[outside]}, there are ${counted(value.length, dimension)}`;
    const rows = kept.map((index) => value[index] ?? []);
    asked.set(dimension, { name, value: rows, noun: `kept ${dimension}` });
  }
  return undefined;
}

/** As many as the request has, or else as the first field of the answer that counts the same. */
function lengthComplaint(
  name: string,
  value: Lists,
  asked: Seen | undefined,
  answered: Seen | undefined,
): string | undefined {
  const what = Array.isArray(value[0]) ? 'row' : 'value';
  const expected = (asked ?? answered)?.value.length ?? value.length;
  if (value.length === expected) return undefined;
  if (asked === undefined)
    return `ok.${name} has ${counted(value.length, what)}, ok.${answered?.name} has ${expected}`;
  const facts = `the op was given ${counted(expected, asked.noun)} and answered ${counted(value.length, what)} in ok.${name}`;
  return `${facts}: ${miscount(`${what}s`, value.length, expected)}`;
}

/** Ragged rows, each as long as the one in its place. */
function rowComplaint(
  name: string,
  value: Lists,
  asked: Seen | undefined,
  answered: Seen | undefined,
  [outer, inner]: readonly [string, string],
): string | undefined {
  const rows = (asked ?? answered)?.value ?? value;
  const bad = value.findIndex((row, at) => row.length !== rows[at]?.length);
  if (bad < 0) return undefined;
  const [has, owed] = [value[bad]?.length ?? 0, rows[bad]?.length ?? 0];
  if (asked === undefined)
    return `ok.${name}[${bad}] has ${counted(has, 'value')}, ok.${answered?.name}[${bad}] has ${owed}`;
  const facts = `${outer} ${bad} has ${counted(owed, inner)}, and ok.${name}[${bad}] ${counted(has, 'value')}`;
  return `${facts}: ${miscount('values', has, owed)}`;
}

/** A matrix as wide as the answer's own row where it has one, or else as the request's. */
function columnComplaint(
  name: string,
  value: Lists,
  asked: Seen | undefined,
  answered: Seen | undefined,
): string | undefined {
  // A trainer that answers rows has laid them out anew.
  const other = name === 'input_ids' ? answered : (answered ?? asked);
  if (other === undefined || value[0]?.length === other.value[0]?.length) return undefined;
  const whose = answered === undefined ? 'the request' : `ok.${answered.name}`;
  return `ok.${name} is ${shapeText(value)}, ${whose} is ${shapeText(other.value)}`;
}

/** A track of an answer on the row it belongs to, token-aligned (B, T). The complaint does not begin with the path. */
export function placeTrack(
  track: { readonly name: string; readonly kind: Kind; readonly value: Matrix },
  args: JsonObject,
  ok: JsonObject,
  layout: Layout,
): Decoded<Matrix> {
  const row = rowOf(args, ok);
  const { name, kind, value } = track;
  if (value.length !== row.length)
    return {
      complaint: `has ${counted(value.length, 'row')}, the batch has ${row.length}: ${miscount('rows', value.length, row.length)}`,
    };
  return decodeTrack(value, row[0]?.length ?? 0, layout, fillOf(kind, name));
}

/** The (B, T) matrix whose columns the tracks speak of. */
function rowOf(args: JsonObject, ok: JsonObject): Lists {
  // mask and rollout: the trainer's own row where it answers one. kl and loss: as wide as the tracks handed over.
  return (ok.input_ids ?? args.sequences ?? args.input_ids ?? args.completion_mask) as Lists;
}

function shapeText(value: Lists): string {
  return `(${value.length}, ${value[0]?.length ?? 0})`;
}
