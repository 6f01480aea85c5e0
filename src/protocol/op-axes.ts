// What an index of a field may mean, for the axes of an op.
import type { Args, Ok, Op } from './message.ts';

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

/** What must hold of any op whose axes fit it: check/relations/ has a rule for each. */
export type Relation =
  | 'finite'
  | 'row-order'
  | 'padding'
  | 'masked-values'
  | 'nan-under-the-mask'
  | 'counts'
  | 'nan-shows'
  | 'untrained'
  | 'batch-mates'
  | 'micro-batches'
  | 'many-micro-batches'
  | 'ranks'
  | 'same-twice'
  | 'stacked'
  | 'long'
  | 'inputs'
  | 'renamed-ids';

/** What the kinds of its fields do not tell of an op. */
export interface OpFacts<O extends Op = Op> {
  /** The rows that an answer about one row may depend on. */
  readonly reach: 'row' | 'group' | 'batch';
  /** Real numbers that the answer depends on whatever the formula, of an op that may have a formula of its own. */
  readonly reads?: readonly (keyof Args<O>)[];
  /** What a column of padding holds; where nothing is said, 0. */
  readonly padding?: { readonly [K in keyof Args<O>]?: number };
  /** What stands in the slot behind the last token of the mask counts, too. */
  readonly behind?: true;
  /** Relations that fit the axes and do not hold of a right trainer, or are another property's: why. */
  readonly except?: { readonly [R in Relation]?: string };
  /** Fields that hold token ids: renamed all together, they are other names for the same thing. */
  readonly ids?: { readonly args: readonly (keyof Args<O>)[]; readonly ok: readonly (keyof Ok<O>)[] };
}

export interface OpAxes<O extends Op = Op> extends OpFacts<O> {
  readonly args: { readonly [K in keyof Args<O>]-?: ArgAxis };
  readonly ok: { readonly [K in keyof Ok<O>]-?: OkAxis };
}

/** The ops that are no batch of rows: no general relation knows what its change would leave alone. */
export const WITHOUT_AXES: Readonly<Partial<Record<Op, string>>> = {
  render: 'one conversation, and text of any shape',
  tokenize: 'one conversation, cut into as many rows as the trainer likes',
  decode: 'one list of ids, and text',
  pack: 'which examples share a row depends on all of them and on their order',
  trajectory: 'one episode: what a turn is depends on the turns before it',
  update: 'a step of an optimiser: the weights before it are part of the question',
  train_step: 'a step of an optimiser: the weights before it are part of the question',
  preference_step: 'a step of an optimiser: the weights before it are part of the question',
  parse_tool_call: 'one text, and the call in it',
  tool_step: 'one call in one environment',
  contract: 'one layer of numbers that is to be added up, in parts',
  schedule: 'the rates of the steps of one run',
  segment_rows: 'segments of one episode, in their order',
};
