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
    case 'sft_batch':
      return (
        sameRows(ok, 'input_ids', args.conversations, 'row', 'conversation') ??
        sameShape(ok, ['attention_mask', 'labels', 'position_ids'])
      );
    case 'mask':
      return (
        sameRows(ok, 'input_ids', args.sequences) ??
        sameRows(ok, 'truncated', args.sequences, 'value') ??
        sameShape(ok, ['attention_mask', 'position_ids'], args.sequences)
      );
    case 'truncate':
      // Whether companions are cut like the ids is what the properties are about.
      return keptRows(ok, 'input_ids', args.input_ids);
    case 'truncate_prompts':
      return keptRows(ok, 'input_ids', args.prompt_ids) ?? sameShape(ok, ['attention_mask']);
    case 'pack':
      return sameShape(ok, ['labels', 'position_ids', 'segment_ids']);
    case 'preference':
    case 'preference_batch':
      return (
        sameRows(ok, 'chosen_input_ids', args.chosen_ids ?? args.chosen) ??
        sameRows(ok, 'rejected_input_ids', args.rejected_ids ?? args.rejected) ??
        alike(ok, ['chosen_attention_mask', 'chosen_mask'], 'chosen_input_ids') ??
        alike(ok, ['rejected_attention_mask', 'rejected_mask'], 'rejected_input_ids')
      );
    case 'trajectory':
      return (
        alikeRows(ok, ['loss_mask', 'completion_mask', 'logprobs', 'advantages', 'rewards'], 'input_ids') ??
        alikeRows(ok, ['response_lengths', 'truncated'], 'input_ids')
      );
    case 'rollout':
      return (
        sameRows(ok, 'input_ids', args.conversations, 'row', 'conversation') ??
        sameRows(ok, 'prompt_ids', args.conversations, 'row', 'conversation') ??
        sameShape(ok, ['attention_mask'])
      );
    case 'extract':
      return sameRows(ok, 'completion_ids', args.sequences) ?? sameRows(ok, 'logprobs', args.sequences);
    case 'values':
      return (
        sameRows(ok, 'values', args.completion_ids, 'row', 'completion') ??
        oneEach(ok, 'values', args.completion_ids)
      );
    case 'update':
      return ['old', 'before', 'after', 'ref_before', 'ref_after', 'sampler_after']
        .filter((name) => ok[name] !== undefined)
        .map(
          (name) =>
            sameRows(ok, name, args.completion_ids, 'row', 'completion') ??
            oneEach(ok, name, args.completion_ids),
        )
        .find((complaint) => complaint !== undefined);
    case 'model_score':
      return ['logprobs', 'entropy', 'ref_logprobs', 'kl']
        .filter((name) => ok[name] !== undefined)
        .map(
          (name) =>
            sameRows(ok, name, args.completion_ids, 'row', 'completion') ??
            oneEach(ok, name, args.completion_ids),
        )
        .find((complaint) => complaint !== undefined);
    case 'train_step':
      return ok.loss_weights === undefined
        ? undefined
        : (sameRows(ok, 'loss_weights', args.completion_ids, 'row', 'completion') ??
            oneEach(ok, 'loss_weights', args.completion_ids));
    case 'entropy':
      return ok.entropy === undefined && ok.mean_entropy === undefined
        ? 'ok has neither entropy nor mean_entropy'
        : undefined;
    case 'reward_model':
      return sameRows(ok, 'scores', args.completion_ids, 'value', 'completion');
    case 'reward':
      return (
        sameRows(ok, 'rewards', args.completions, 'value', 'completion') ??
        sameRows(ok, 'lengths', args.completions, 'value', 'completion')
      );
    case 'format_score':
      return sameRows(ok, 'scores', args.completions, 'value', 'completion');
    case 'overlong_penalty':
      return sameRows(ok, 'penalties', args.lengths, 'value', 'length');
    case 'clip_advantages':
      return sameRows(ok, 'advantages', args.advantages, 'value', 'advantage');
    case 'preference_loss':
      return ['losses', 'chosen_rewards', 'rejected_rewards']
        .map((name) => sameRows(ok, name, args.chosen_logprobs, 'value', 'pair'))
        .find((complaint) => complaint !== undefined);
    case 'reward_loss':
      return ['losses', 'chosen_weights', 'rejected_weights']
        .map((name) => sameRows(ok, name, args.chosen_scores, 'value', 'pair'))
        .find((complaint) => complaint !== undefined);
    case 'unpaired_preference_loss':
      return (
        sameRows(ok, 'losses', args.logprobs, 'value', 'row') ??
        numbersOf(ok, 'weights', args.logprobs) ??
        numbersOf(ok, 'kl_weights', args.kl_logprobs)
      );
    case 'sampling':
      return (
        sameRows(ok, 'logprobs', args.logits) ??
        sameShape(ok, ['logprobs'], args.logits) ??
        sameRows(ok, 'sampled_logprobs', args.logits, 'value')
      );
    case 'segment_rows':
      return alikeRows(ok, ['completion_ids', 'rewards'], 'prompt_ids');
    case 'unroll':
      return ['observations', 'actions', 'rewards', 'mask']
        .map((name) => sameRows(ok, name, args.starts, 'row', 'start'))
        .find((complaint) => complaint !== undefined);
    case 'score':
      return (
        sameRows(ok, 'logprobs', args.completion_ids, 'row', 'completion') ??
        oneEach(ok, 'logprobs', args.completion_ids)
      );
    case 'advantages':
      return sameRows(ok, 'advantages', args.rewards, 'value', 'reward');
    case 'penalties':
      return sameRows(ok, 'logits', args.logits) ?? sameShape(ok, ['logits'], args.logits);
    case 'full_kl':
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
  return (ok.input_ids ?? args.sequences ?? args.input_ids ?? args.completion_mask) as Lists;
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
  const own = request === undefined ? ok.input_ids : (ok.input_ids ?? request);
  const reference = own as Lists;
  const whose = ok.input_ids === undefined ? 'the request' : 'ok.input_ids';
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

/** Rows that may be fewer where the answer says which ones are kept. */
function keptRows(ok: JsonObject, name: string, given: unknown): string | undefined {
  if (ok.kept === undefined) return sameRows(ok, name, given);
  const kept = ok.kept as readonly number[];
  const outside = kept.findIndex((index) => index < 0 || index >= (given as Lists).length);
  if (outside >= 0)
    return `ok.kept[${outside}] is ${kept[outside]}, there are ${counted((given as Lists).length, 'row')}`;
  return sameRows(ok, name, kept, 'row', 'kept row');
}

/** The same number of rows. */
function alikeRows(ok: JsonObject, names: readonly string[], other: string): string | undefined {
  const rows = (ok[other] as Lists).length;
  const bad = names.find((name) => ok[name] !== undefined && (ok[name] as Lists).length !== rows);
  return bad === undefined
    ? undefined
    : `ok.${bad} has ${counted((ok[bad] as Lists).length, 'row')}, ok.${other} has ${rows}`;
}

/** The same number of rows, each as long as the other's. */
function alike(ok: JsonObject, names: readonly string[], other: string): string | undefined {
  const complaint = alikeRows(ok, names, other);
  if (complaint !== undefined) return complaint;
  for (const name of names) {
    const rows = (ok[name] ?? ok[other]) as Lists;
    const bad = rows.findIndex((row, at) => row.length !== (ok[other] as Lists)[at]?.length);
    if (bad >= 0)
      return `ok.${name}[${bad}] has ${counted(rows[bad]?.length ?? 0, 'value')}, ok.${other}[${bad}] has ${(ok[other] as Lists)[bad]?.length ?? 0}`;
  }
  return undefined;
}

/** A number for each of these, row by row, where there are any. */
function numbersOf(ok: JsonObject, name: string, rows: unknown): string | undefined {
  return ok[name] === undefined ? undefined : (sameRows(ok, name, rows) ?? oneEach(ok, name, rows));
}

function oneEach(ok: JsonObject, name: string, completions: unknown): string | undefined {
  const values = ok[name] as Lists;
  const rows = completions as Lists;
  const bad = values.findIndex((row, i) => row.length !== rows[i]?.length);
  if (bad < 0) return undefined;
  const [has, owed] = [values[bad]?.length ?? 0, rows[bad]?.length ?? 0];
  const facts = `completion ${bad} has ${counted(owed, 'token')}, and ok.${name}[${bad}] ${counted(has, 'value')}`;
  return `${facts}: ${miscount('scores', has, owed)}`;
}
