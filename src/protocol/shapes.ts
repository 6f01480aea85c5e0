// Shapes that tie an answer to its request or its fields to each other. A wrong one is a complaint, so that no
// property indexes into a row that is not there.

import type { Layout, Matrix } from '../vocabulary.ts';
import { fillOf } from './kinds.ts';
import { decodeTrack } from './layout.ts';
import type { Kind, Op } from './message.ts';
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

/** First complaint about `ok` as the answer to `args`, both already of the right kinds. Tracks are not seen here. */
export function shapeComplaint(op: Op, args: JsonObject, ok: JsonObject): string | undefined {
  switch (op) {
    case 'collate':
      return sameShape(ok, ['attention_mask', 'labels', 'position_ids']);
    case 'mask':
      return (
        sameRows(ok, 'input_ids', args.sequences) ??
        sameShape(ok, ['attention_mask', 'position_ids'], args.sequences)
      );
    case 'rollout':
      return (
        sameRows(ok, 'input_ids', args.conversations, 'row', 'conversation') ??
        sameRows(ok, 'prompt_ids', args.conversations, 'row', 'conversation') ??
        sameShape(ok, ['attention_mask'])
      );
    case 'extract':
      return sameRows(ok, 'completion_ids', args.sequences);
    case 'score':
      return (
        sameRows(ok, 'logprobs', args.completion_ids, 'row', 'completion') ??
        oneEach(ok.logprobs, args.completion_ids)
      );
    case 'advantages':
      return sameRows(ok, 'advantages', args.rewards, 'value', 'reward');
    case 'penalties':
      return sameRows(ok, 'logits', args.logits) ?? sameShape(ok, ['logits'], args.logits);
    case 'kl':
      return ok.kl === undefined && ok.mean_kl === undefined ? 'ok has neither kl nor mean_kl' : undefined;
    case 'tokenize':
      return sameLength(ok, 'labels', 'input_ids');
    default:
      return undefined;
  }
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
  return (ok.input_ids ?? args.sequences ?? args.input_ids ?? args.logprobs) as Lists;
}

function sameRows(
  ok: JsonObject,
  name: string,
  against: unknown,
  what = 'row',
  given = 'row',
): string | undefined {
  const value = ok[name] as readonly unknown[] | undefined;
  const expected = (against as readonly unknown[]).length;
  if (value === undefined || value.length === expected) return undefined;
  const facts = `the op was given ${counted(expected, given)} and answered ${counted(value.length, what)} in ok.${name}`;
  return `${facts}: ${miscount(`${what}s`, value.length, expected)}`;
}

function sameLength(ok: JsonObject, name: string, other: string): string | undefined {
  const [value, against] = [ok[name], ok[other]] as readonly (readonly unknown[] | undefined)[];
  if (value === undefined || value.length === against?.length) return undefined;
  return `ok.${name} has ${counted(value.length, 'value')}, ok.${other} has ${against?.length ?? 0}`;
}

function sameShape(ok: JsonObject, names: readonly string[], request?: unknown): string | undefined {
  const own = names.includes('logits') ? undefined : ok.input_ids;
  const reference = (own ?? request) as Lists;
  const whose = own === undefined ? 'the request' : 'ok.input_ids';
  for (const name of names) {
    const value = ok[name] as Lists | undefined;
    if (value === undefined) continue;
    if (value.length !== reference.length || value[0]?.length !== reference[0]?.length) {
      return `ok.${name} is ${shapeText(value)}, ${whose} is ${shapeText(reference)}`;
    }
  }
  return undefined;
}

function shapeText(value: Lists): string {
  return `(${value.length}, ${value[0]?.length ?? 0})`;
}

function oneEach(logprobs: unknown, completions: unknown): string | undefined {
  const rows = completions as Lists;
  const bad = (logprobs as Lists).findIndex((row, i) => row.length !== rows[i]?.length);
  if (bad < 0) return undefined;
  const [has, owed] = [(logprobs as Lists)[bad]?.length ?? 0, rows[bad]?.length ?? 0];
  const facts = `completion ${bad} has ${counted(owed, 'token')}, and ok.logprobs[${bad}] ${counted(has, 'value')}`;
  return `${facts}: ${miscount('scores', has, owed)}`;
}
