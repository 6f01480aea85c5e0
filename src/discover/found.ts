// What `discover` finds of a project, as values: for the table, for JSON, for the adapter.
import type { Op } from '../protocol/message.ts';
import type { Semantics } from '../vocabulary.ts';
import type { Candidate, LoadedFile, ProjectRead, ReadFile, Way } from './dialogue.ts';
import type { Broken } from './judge.ts';

export interface Fit {
  readonly candidate: Candidate;
  readonly op: Op;
  readonly way: Way;
  readonly variant: Semantics;
  /** Other constants with which it holds as well: another estimator, another mode. */
  readonly others: readonly { readonly call: string; readonly variant: Semantics }[];
  /** Other constants with which it answers and does not hold. */
  readonly failing: readonly { readonly call: string; readonly broken: Broken }[];
  /** What of level must it breaks all the same, at an edge: a bug of the function's, or a question about its batches. */
  readonly flaws: readonly Broken[];
  /** Properties of level should that it breaks. */
  readonly weaker: readonly Broken[];
  readonly notes: readonly string[];
  readonly judged: number;
}

/** Of what failed when a file was imported; what comes after the first is often its doing. */
export function leftOutWords({ leftOut }: Pick<LoadedFile, 'leftOut'>): string {
  const more = leftOut.length - MOST_LEFT_OUT;
  return `${leftOut.slice(0, MOST_LEFT_OUT).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

const MOST_LEFT_OUT = 3;

/** A flaw that a declaration answers is a question. */
export const isBug = ({ answers }: Broken): boolean => answers === undefined;

export interface Misfit {
  readonly candidate: Candidate;
  readonly op: Op;
  readonly way: Way;
  readonly variant: Semantics;
  readonly broken: readonly Broken[];
  readonly judged: number;
  readonly held: number;
  /** What other ways of calling it assumed, under which it fails as well. */
  readonly tried: readonly string[];
  /** A call that holds, against what the names say. */
  readonly instead?: string;
}

/** It holds, and something is open that nobody but a person can close. */
export interface Open {
  readonly candidate: Candidate;
  readonly op: Op;
  readonly ways: readonly Way[];
  readonly variant: Semantics;
  readonly why: string;
}

export interface Unfit {
  readonly candidate: Candidate;
  /** The op that it came nearest to, and how near. */
  readonly nearest?: { readonly op: Op; readonly held: number; readonly judged: number };
}

export interface Uncalled {
  readonly candidate: Candidate;
  readonly why: string;
}

export interface Found {
  readonly files: readonly ReadFile[];
  readonly arrays: ProjectRead['arrays'];
  readonly loaded: ReadonlyMap<string, LoadedFile>;
  readonly bound: readonly Fit[];
  readonly misfits: readonly Misfit[];
  readonly open: readonly Open[];
  readonly unfit: readonly Unfit[];
  readonly uncalled: readonly Uncalled[];
  /** What wrote to standard output when it was called; each is in one of the lists above, too. */
  readonly printing: readonly Candidate[];
  /** Functions that had no turn, or not all of it. */
  readonly left: number;
  /** Where time or patience was over. */
  readonly inHand?: { readonly candidate: Candidate; readonly doing: 'imported' | 'called' } | undefined;
  readonly restarts: number;
}

export const share = ({ held, judged }: { readonly held: number; readonly judged: number }): number =>
  judged === 0 ? 0 : held / judged;

/** Of files that were not read to their end. */
export const NOTHING_FOUND: Found = {
  files: [],
  arrays: null,
  loaded: new Map(),
  bound: [],
  misfits: [],
  open: [],
  unfit: [],
  uncalled: [],
  printing: [],
  left: 0,
  restarts: 0,
};
