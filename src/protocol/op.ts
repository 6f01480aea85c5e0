// One op, one object: all that the protocol knows of it. Types, decoder, encoder, complaints about shapes, hello, the SDK's
// table, PROTOCOL.md's tables and the relations that it is asked derive from this.
import type { Capability } from './capability.ts';
import { type FieldSpecs, isReal, isTrack, kindOf } from './fields.ts';

/** What must hold of any op whose axes fit it: check/relations/ has a rule for each. */
export type Relation =
  | 'finite'
  | 'row-order'
  | 'padding'
  | 'masked-values'
  | 'nan-under-the-mask'
  | 'counts'
  | 'nan-shows'
  | 'signed-zero'
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

/** What the kinds of its fields do not tell of an op that is asked about batches of rows. */
export interface BatchFacts<A = FieldSpecs, K = FieldSpecs> {
  /** The rows that an answer about one row may depend on. */
  readonly reach: 'row' | 'group' | 'batch';
  /** Real numbers that the answer depends on whatever the formula, of an op that may have a formula of its own. */
  readonly reads?: readonly (keyof A)[];
  /** What a column of padding holds; where nothing is said, 0. */
  readonly padding?: { readonly [N in keyof A]?: number };
  /** What stands in the slot after the last token of the mask counts, too. */
  readonly behind?: true;
  /** Relations that fit the axes and do not hold of a right trainer, or are another property's: why. */
  readonly except?: { readonly [R in Relation]?: string };
  /** Fields that hold token ids: renamed all together, they are other names for the same thing. */
  readonly ids?: { readonly args: readonly (keyof A)[]; readonly ok: readonly (keyof K)[] };
}

export interface OpSpec<A = FieldSpecs, K = FieldSpecs> {
  /** What it is given. */
  readonly args: A;
  /** What a good answer has: at least one, where each may be absent. */
  readonly ok: K;
  /** Answers that are derivatives of the loss by its arguments. */
  readonly gradient?: readonly (keyof K)[];
  /** Capabilities beside those that its fields imply (`capabilitiesOf`). */
  readonly offers?: readonly (keyof Capability)[];
  /** Or why it is no batch of rows: no general relation knows what its change would leave alone. */
  readonly batch: BatchFacts<A, K> | { readonly none: string };
}

/** An op as it stands in the table: the compiler reads its fields off it, and knows every name that it is told. */
export const op = <const A extends FieldSpecs, const K extends FieldSpecs>(
  spec: OpSpec<A, K>,
): OpSpec<A, K> => spec;

/** Those that an op knows: a precision where it answers real numbers, a layout where it has numbers for each token, what it offers. */
export function capabilitiesOf({ args, ok, offers = [] }: OpSpec): readonly (keyof Capability)[] {
  const answered = Object.values(ok).map(kindOf);
  const hasTracks = [...Object.values(args).map(kindOf), ...answered].some(isTrack);
  return [
    ...(answered.some(isReal) ? (['dtype'] as const) : []),
    ...(hasTracks ? (['layout'] as const) : []),
    ...offers,
  ];
}
