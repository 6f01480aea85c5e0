// Shapes that tie an answer to its request or its fields to each other. A wrong one is a complaint, so that no
// property indexes into a row that is not there.

import type { Layout, Matrix } from '../vocabulary.ts';
import { fillOf } from './kinds.ts';
import { decodeTrack } from './layout.ts';
import type { Kind, Op } from './message.ts';
import type { Decoded, JsonObject } from './result.ts';

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
        sameRows(ok, 'input_ids', args.conversations) ??
        sameRows(ok, 'prompt_ids', args.conversations) ??
        sameShape(ok, ['attention_mask'])
      );
    case 'extract':
      return sameRows(ok, 'completion_ids', args.sequences);
    case 'score':
      return sameRows(ok, 'logprobs', args.completion_ids) ?? oneEach(ok.logprobs, args.completion_ids);
    case 'advantages':
      return sameRows(ok, 'advantages', args.rewards, 'values');
    case 'penalties':
      return sameRows(ok, 'logits', args.logits) ?? sameShape(ok, ['logits'], args.logits);
    case 'kl':
      return ok.kl === undefined && ok.mean_kl === undefined ? 'ok has neither kl nor mean_kl' : undefined;
    case 'tokenize':
      return ok.labels === undefined
        ? undefined
        : sameRows(ok, 'labels', ok.input_ids, 'values', 'ok.input_ids');
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
    return { complaint: `has ${value.length} rows, the batch has ${row.length}` };
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
  what = 'rows',
  whose = 'the request',
): string | undefined {
  const value = ok[name] as readonly unknown[] | undefined;
  const expected = (against as readonly unknown[]).length;
  if (value === undefined || value.length === expected) return undefined;
  return `ok.${name} has ${value.length} ${what}, ${whose} has ${expected}`;
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
  const has = (logprobs as Lists)[bad]?.length;
  return `ok.logprobs[${bad}] has ${has} values, completion ${bad} has ${rows[bad]?.length} tokens`;
}
