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

export interface OpAxes<O extends Op = Op> {
  readonly args: { readonly [K in keyof Args<O>]-?: ArgAxis };
  readonly ok: { readonly [K in keyof Ok<O>]-?: OkAxis };
  /** The rows that an answer about one row may depend on. */
  readonly reach: 'row' | 'group' | 'batch';
  /** What a column of padding holds; where nothing is said, 0. */
  readonly padding?: { readonly [K in keyof Args<O>]?: number };
  /** What stands in the slot behind the last token of the mask counts, too. */
  readonly behind?: true;
  /** Fields that hold token ids: renamed all together, they are other names for the same thing. */
  readonly ids?: { readonly args: readonly (keyof Args<O>)[]; readonly ok: readonly (keyof Ok<O>)[] };
}
