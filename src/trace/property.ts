// What a property of a ledger is: data, like those that a trainer is asked about. There is nothing to generate: the
// cases are the rows, the completions or the steps that the script trained.
import type { PropertyFacts } from '../check/events.ts';
import type { Doubt } from '../check/profile/doubt.ts';
import type { Finding } from '../check/property.ts';
import type { Ledger } from './ledger.ts';

/** One thing that is wrong in a ledger. */
export interface LedgerFinding extends Finding {
  /** What it was found in, plain JSON that a person can read: the row's ids and mask, or a step's weights. */
  readonly given: unknown;
}

/** What is legal where it is meant, and often is not: a sentence, and the lines that declare it; none: `--meant ID` does. */
export interface LedgerNotice extends Pick<Doubt, 'sentence' | 'answers'> {
  /** Correct runs do this as a matter of course: it is shown, and a strict run does not ask it. */
  readonly remark?: boolean;
  /** It is asked in every run, strict or not: nobody does it on purpose as a rule. */
  readonly asked?: boolean;
}

/** What a property says of a whole ledger. */
export interface LedgerJudgement {
  /** Rows, completions or steps that were judged; none: the property is skipped, not passed. */
  readonly judged: number;
  /** Of each of those of which nothing could be said, why: "no tensor is frozen". */
  readonly setAside: readonly string[];
  /** The worst first, at most a few; `more` counts the others. */
  readonly findings: readonly LedgerFinding[];
  readonly more: number;
  /** Told beside the verdicts; they change none. */
  readonly notices?: readonly LedgerNotice[];
  /** Counted over what was judged, as `labels` of a run's properties. */
  readonly labels?: Readonly<Record<string, number>>;
}

export interface LedgerProperty extends PropertyFacts {
  /** A sentence for the user where the ledger has nothing that this rule speaks of: it is then unsupported. */
  readonly needs?: (ledger: Ledger) => string | undefined;
  readonly judge: (ledger: Ledger) => LedgerJudgement;
}

// --- what a rule says that could judge nothing, or not all: what was met most often stands for all ---

/** What most of the cases that were not judged have in common; of equals the last, as the first step has reasons of its own. */
export function mostCommon(reasons: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const each of reasons) counts.set(each, (counts.get(each) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => a - b).at(-1)?.[0];
}

/** "nothing could be judged in 2 cases: no tensor is frozen". */
export function nothingJudged(reasons: readonly string[]): string {
  const often = new Set(reasons).size > 1 ? ', most often' : '';
  return `nothing could be judged in ${reasons.length} ${reasons.length === 1 ? 'case' : 'cases'}${often}: ${mostCommon(reasons)}`;
}

/** Why, of a reason that `nothingJudged` wrote; undefined: another one. */
export const whyNothing = (reason: string): string | undefined => WRITTEN.exec(reason)?.[1];

const WRITTEN = /^nothing could be judged in \d+ cases?(?:, most often)?: (.*)$/s;
