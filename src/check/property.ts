// What a property is: data. The CLI, vitest, `list`, the docs table and the report all read this one object.
import type fc from 'fast-check';
import type { Models } from '../checkpoints/models.ts';
import type { Chosen } from '../kernel/index.ts';
import type { Args, Hello, Ok, Op } from '../protocol/message.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { TrainerFailure } from '../trainer/failure.ts';
import type { ItemName, Level, Role, Semantics } from '../vocabulary.ts';

/** What a generator and a check may know of the trainer before the first case. */
export interface World {
  readonly hello: Hello;
  readonly semantics: Semantics;
  /** What of `semantics` nobody declared: it was measured, and holds where it was measured. */
  readonly measured?: Semantics;
  /** Absent where neither the trainer nor the configuration names one. */
  readonly tokenizer: Tokenizer | undefined;
}

/** An answer, with the names of the arguments that the op wrote into; or why there is none. */
export type Attempt<O extends Op> =
  | { readonly ok: Ok<O>; readonly written: readonly string[] }
  | { readonly refused: string; readonly failure?: TrainerFailure };

/** What a check is handed: the world and a way to ask. `ask` returns good answers only; anything else ends the case. */
export interface Subject extends World {
  /** Random models in folders, for ops that are handed one; and where a trainer may save its own. */
  readonly models: Models;
  /** Computes the reference at a real vocabulary. Chosen at the first call. */
  readonly kernel: () => Promise<Chosen>;
  ask<O extends Op>(op: O, args: Args<O>): Promise<Ok<O>>;
  /** For inputs that should be refused: the answer, or why there is none. An exception of the op, `failure`, refuses, too. */
  attempt<O extends Op>(op: O, args: Args<O>): Promise<Attempt<O>>;
  /**
   * Asks too, and sends each request although the same one was answered before: where it is in question whether the answer is
   * the same. All other answers are shared by the properties of a run.
   */
  readonly anew: Pick<Subject, 'ask' | 'attempt'>;
}

/** One column of a token strip. Where the harness made the ids up, they have no text; where it made up numbers only, no id. */
export interface StripToken {
  readonly id?: number;
  readonly text?: string;
  readonly role: Role;
}

/** A row of tokens with aligned tracks; `marks` are the columns that are wrong, first mismatch first. */
export interface Strip {
  readonly row: number;
  readonly tokens: readonly StripToken[];
  readonly tracks: readonly { readonly name: string; readonly cells: readonly string[] }[];
  readonly marks: readonly number[];
}

export interface NumberDifference {
  readonly where: string;
  readonly expected: number;
  readonly observed: number;
  readonly allowed: number;
}

/** A number that a run logged, over its steps; thinned where there are more points than a plot shows. */
export interface SeriesWindow {
  readonly run: string;
  /** As logged: `train/loss`. */
  readonly name: string;
  /** Of the points, in the order in which they were logged. */
  readonly steps: readonly number[];
  readonly values: readonly number[];
  /** What was allowed, at some of the steps. A side without a bound is infinite. */
  readonly band?: {
    readonly steps: readonly number[];
    readonly lows: readonly number[];
    readonly highs: readonly number[];
  };
  /** Which of the points breaks the rule first. */
  readonly violation?: number;
}

/** What is wrong with one case. */
export interface Finding {
  /** Short and stable; while shrinking, only findings of the first one's kind count. */
  readonly kind: string;
  /** The rule broken, in the field's words, with the token. */
  readonly sentence: string;
  readonly strips?: readonly Strip[];
  readonly numbers?: readonly NumberDifference[];
  /** Of a run's log: what was logged where it went wrong, one for each run that breaks the rule. */
  readonly series?: readonly SeriesWindow[];
  /**
   * One-line declarations under which this is legal, as `"kl_clamp": 1`. A finding that has them is a question: its
   * property's verdict is `ask`, until one of them is declared.
   */
  readonly answers?: readonly string[];
  /** What to do about it, where that does not depend on the bug. */
  readonly advice?: string;
  /** Which tolerance was used and why, or which declared or assumed semantics the expectation rests on. */
  readonly note?: string;
}

/** What must be there for a property to be checkable at all; a sentence for the user where it is not. */
export type Need = (world: World) => string | undefined;

/** Label to share. */
export type Coverage = Readonly<Record<string, number>>;

export interface Property<Case = unknown> {
  /** Permanent, `stage/what-holds`. */
  readonly id: string;
  /** The rule as one sentence. */
  readonly title: string;
  readonly stage: Stage;
  readonly level: Level;
  /** What goes wrong in training when it does not hold, one or two sentences. */
  readonly why: string;
  /** Rows of the bug catalogue that this property catches. */
  readonly catches: readonly string[];
  /** Ops the check calls. */
  readonly ops: readonly Op[];
  readonly needs?: readonly Need[];
  /** It compares answers with a formula: the items of the semantics that say which. What is in doubt of them is asked here. */
  readonly settles?: readonly ItemName[];
  /** Cases are plain JSON: they are saved, edited, replayed. */
  readonly given: (world: World) => fc.Arbitrary<Case>;
  /** No other property asks its requests: its cases are drawn for it alone, so that the properties of its op see more of them. */
  readonly drawnAlone?: true;
  /** At most so many cases, however many are asked for: where each takes long, and all see the same. */
  readonly mostCases?: number;
  /** What a case exercised; counted over the cases that were judged. */
  readonly labels?: (given: Case, world: World) => readonly string[];
  /** The least share of judged cases, 0 to 1, that must carry a label; in this world, where it depends on one. */
  readonly coverage?: Coverage | ((world: World) => Coverage);
  /** Labels whose cases a trainer may refuse, all of them: the protocol says so. Their coverage is not asked for then. */
  readonly mayRefuse?: readonly string[];
  readonly check: (subject: Subject, given: Case) => Promise<Finding | undefined>;
}

/** The stages of a training step, in the order in which a conversation passes them; last, what only `trace`, `monitor` or `golden` can see. */
export const STAGES = [
  'render',
  'tokenize',
  'sft_batch',
  'decode',
  'collate',
  'truncate',
  'pack',
  'preference',
  'multimodal_batch',
  'extract',
  'mask',
  'rollout',
  'trajectory',
  'sampling',
  'penalties',
  'logprobs',
  'score',
  'values',
  'update',
  'model',
  'entropy',
  'kl',
  'reward',
  'tools',
  'token_rewards',
  'gae',
  'returns',
  'advantages',
  'loss',
  'sft_loss',
  'value_loss',
  'preference_loss',
  'reward_loss',
  'unpaired_preference_loss',
  'balance_loss',
  'contract',
  'schedule',
  'segments',
  'trace',
  'monitor',
  'declared',
] as const;
export type Stage = (typeof STAGES)[number];
