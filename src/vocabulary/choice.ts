// One legal choice, one object: all that is known of it wherever it is declared, measured or explained. The type `Semantics`,
// decoding, the schemas of configurations and events, the tables of PROTOCOL.md and docs, and what a report lists derive from
// this. It judges nothing: what measures a choice is in check/profile/, what practice says of its values in practice.ts there.

/** Ops that answer with a formula of which several are legal. */
export const FORMULAS = [
  'kl',
  'whiten',
  'filter_rollouts',
  'advantages',
  'loss',
  'sft_loss',
  'value_loss',
  'preference_loss',
  'reward_loss',
  'unpaired_preference_loss',
  'balance_loss',
] as const;
export type Formula = (typeof FORMULAS)[number];

export const KL_ESTIMATORS = ['k1', 'k2', 'k3', 'abs'] as const;
/**
 * k1 = -d, k2 = d*d/2, k3 = exp(d) - d - 1, with d = ref_logprobs - logprobs (Schulman 2020, "Approximating KL
 * divergence"); abs = |d|, which estimates no KL and is in use all the same.
 */
export type KlEstimator = (typeof KL_ESTIMATORS)[number];

/** A bound on the size of a number, or on either side of it; null: none on that side. */
export type Clamp = number | readonly [low: number | null, high: number | null];

/** One for each estimator that has one: many trainers bound k3, which is exponentiated, and leave the others alone. */
export type ClampByEstimator = Readonly<Partial<Record<KlEstimator, Clamp | null>>>;

/** Names of a chat template's variables and what they are. */
export type TemplateArguments = Readonly<Record<string, string | number | boolean>>;

/** What a choice that is no name of a list may be, by kind. */
export interface ChoiceTypes {
  flag: boolean;
  number: number;
  'number or null': number | null;
  text: string;
  'template arguments': TemplateArguments;
  clamp: Clamp | null | ClampByEstimator;
  formulas: readonly Formula[];
  lengths: readonly number[];
  ops: readonly string[];
}
export type ChoiceKind = keyof ChoiceTypes;
/** A kind, or every value that there is. */
export type ChoiceValues = ChoiceKind | readonly (string | number)[];

export type ValueOf<V> = V extends ChoiceKind
  ? ChoiceTypes[V]
  : V extends readonly (infer T extends string | number)[]
    ? T
    : never;

export interface Choice<V = ChoiceValues> {
  readonly values: V;
  /** What it is, as PROTOCOL.md says it. */
  readonly says: string;
  /** Ops whose answers it changes; without them, those of its section. */
  readonly ops?: readonly string[];
  /** A usual value, offered where a measured one is doubted. No default: what is not declared is measured, or accepted in any known way. */
  readonly usual?: string | number | boolean | null;
  /** The formula that no answer can be compared with before this is known; others are compared in every known variant. */
  readonly needed?: Formula;
  /** No probe reads it off answers: declared, this value takes a rule away, and undeclared it is what a breach is asked about. */
  readonly meant?: { readonly value: boolean; readonly why: string };
  /** Why else no probe reads it off answers. */
  readonly unmeasured?: string;
  /** Why a probe's value is shown by `profile` alone, and held against no trainer. */
  readonly unheld?: string;
  /** Why practice questions no value that is measured of it. */
  readonly undoubted?: string;
}

export interface Section<C extends { readonly [K in keyof C]: Choice }> {
  readonly title: string;
  readonly choices: { readonly [K in keyof C]: Choice<C[K]['values']> & Required<Pick<Choice, 'ops'>> };
}

/** Choices that one meets at the same stage. The compiler reads the values off them, and knows every name that they are told. */
export const section = <const C extends Readonly<Record<string, Choice>>>(
  title: string,
  ops: readonly string[],
  choices: C,
): Section<C> => ({
  title,
  choices: Object.fromEntries(
    Object.entries(choices).map(([name, choice]) => [name, { ops, ...choice }]),
  ) as unknown as Section<C>['choices'],
});
