// Every legal choice in one table, by section, in the order in which a conversation meets them.
import type { ChoiceKind, ValueOf } from './choice.ts';
import { ADVANTAGES } from './choices/advantages.ts';
import { ANY_OP } from './choices/any-op.ts';
import { LOSSES } from './choices/losses.ts';
import { ROLLOUTS } from './choices/rollouts.ts';
import { SCORES } from './choices/scores.ts';
import { TEXT } from './choices/text.ts';

const ALL = [...TEXT, ...ROLLOUTS, ...SCORES, ...ADVANTAGES, ...LOSSES, ANY_OP] as const;

/** One object with the fields of each of a union. */
type Joined<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer All) => void
  ? All
  : never;
type Table = Joined<(typeof ALL)[number]['choices']>;

/** By its key of the semantics. */
export const CHOICES: Table = Object.assign({}, ...ALL.map(({ choices }) => choices));
export type ChoiceName = keyof Table;
export const choiceNames = Object.keys(CHOICES) as readonly ChoiceName[];

/** What the profile and reports group them by. */
export const SECTIONS: readonly { readonly title: string; readonly names: readonly ChoiceName[] }[] = ALL.map(
  ({ title, choices }) => ({ title, names: Object.keys(choices) as ChoiceName[] }),
);

/**
 * What may legally differ between correct trainers. Every item may be declared in `hello`; what is not declared
 * is never held against the trainer: a check then accepts any of the known variants.
 */
export type Semantics = { readonly [K in ChoiceName]?: ValueOf<Table[K]['values']> };

/** Kinds that say what is meant: a list of formulas, cuts or ops on purpose. */
type Meant = Extract<ChoiceKind, 'formulas' | 'lengths' | 'ops'>;

/** Of the semantics, what can be read off answers: whether a formula, a cut, or writing into an argument, is meant cannot. */
export type ItemName = {
  [K in ChoiceName]: Table[K]['values'] extends Meant ? never : K;
}[ChoiceName];

/** Those that answers of this op may show. */
export const itemsOf = (op: string): readonly ItemName[] =>
  choiceNames.filter((name): name is ItemName => {
    const { ops, meant, unmeasured } = CHOICES[name];
    return meant === undefined && unmeasured === undefined && ops.includes(op);
  });
