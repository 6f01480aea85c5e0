// Which index of a field means what: all that the general relations of check/relations/ need to know of an op. It follows
// from the kinds of its fields and from what its object says of a batch.
import { isTrack, kindOf } from './fields.ts';
import { type Args, type Ok, OPS, type Op } from './message.ts';
import type { BatchFacts, OpSpec } from './op.ts';

export type { Relation } from './op.ts';

/**
 * row: the first index is the row. token: the second is the column as well, and counts only where the mask is 1.
 * mask: says which columns count. width: where completions begin. group: only which rows are equal matters.
 * partition: lists of row indices; the answer is for all of them. setting: holds for the whole request.
 */
export type ArgAxis = 'row' | 'token' | 'mask' | 'width' | 'group' | 'partition' | 'setting';
/**
 * row, token: as above, row by row as the rows were handed over. batch: one for the whole request. kept: which rows of the
 * request the rows of the answer are; without it, all of them, in order.
 */
export type OkAxis = 'row' | 'token' | 'batch' | 'kept';

export interface OpAxes<O extends Op = Op> extends BatchFacts<Args<O>, Ok<O>> {
  readonly args: { readonly [K in keyof Args<O>]-?: ArgAxis };
  readonly ok: { readonly [K in keyof Ok<O>]-?: OkAxis };
}

/** One value, for the whole request or the whole answer. */
const SINGLE: readonly string[] = ['int', 'float', 'text', 'flag', 'amounts', 'choices'];
/** Lists that no row has an item of. */
const SETTINGS: readonly string[] = ['eos_token_ids', 'banned_sequences'];
const PARTITIONS: readonly string[] = ['micro_batches', 'ranks'];

const hasTokens = (kind: string): boolean => isTrack(kind) || kind === 'float_cube';

function argAxis(name: string, kind: string, hasTracks: boolean, hasIds: boolean): ArgAxis {
  if (name === 'prompt_width' && hasTracks) return 'width';
  if (SINGLE.includes(kind) || SETTINGS.includes(name)) return 'setting';
  if (PARTITIONS.includes(name)) return 'partition';
  if (name === 'group_ids') return 'group';
  // Where there are ids as well, what is trained of them is another question than what is attended to.
  const isMask = name === 'completion_mask' || (name === 'attention_mask' && !hasIds);
  if (isMask && hasTracks) return 'mask';
  // A matrix of ids beside numbers for each token is one of the same tokens.
  return hasTokens(kind) || (kind === 'int_matrix' && hasTracks) ? 'token' : 'row';
}

function okAxis(name: string, kind: string): OkAxis {
  if (name === 'kept') return 'kept';
  if (SINGLE.includes(kind)) return 'batch';
  return hasTokens(kind) ? 'token' : 'row';
}

function axesFor({ args, ok }: OpSpec, facts: BatchFacts) {
  const hasTracks = Object.values(args).some((spec) => hasTokens(kindOf(spec)));
  const hasIds = 'input_ids' in args;
  return {
    ...facts,
    args: each(args, (name, kind) => argAxis(name, kind, hasTracks, hasIds)),
    ok: each(ok, okAxis),
  };
}

function each<Axis>(
  specs: Readonly<Record<string, string>>,
  axis: (name: string, kind: string) => Axis,
): Record<string, Axis> {
  return Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, axis(name, kindOf(spec))]));
}

const entries = Object.entries(OPS) as [Op, OpSpec][];

/** Of each op that is asked about batches of rows. */
export const AXES: { readonly [O in Op]?: OpAxes<O> } = Object.fromEntries(
  entries.flatMap(([op, spec]) => ('none' in spec.batch ? [] : [[op, axesFor(spec, spec.batch)]])),
);

/** Why each other op is asked no general relation. */
export const WITHOUT_AXES: Readonly<Partial<Record<Op, string>>> = Object.fromEntries(
  entries.flatMap(([op, { batch }]) => ('none' in batch ? [[op, batch.none]] : [])),
);
