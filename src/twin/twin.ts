// The result of a twin: for each change, whether the run with it agrees with the run without.
import type { Outcome } from './verdict.ts';

export interface TwinResult {
  /** The change, or `pair` of two commands, or `resume`. */
  readonly name: string;
  readonly sentence: string;
  readonly outcome: Outcome;
  /** What was changed to what, where the tracer says so: `8 × 1 rows instead of 4 × 2`. */
  readonly detail?: string;
}

export type TwinVerdict = 'agree' | 'parts' | 'untold';

/** What does not agree fails; where nothing was compared there is no verdict. */
export function verdictOf(results: readonly TwinResult[]): TwinVerdict {
  const kinds = results.map(({ outcome }) => outcome.kind);
  if (kinds.includes('parts')) return 'parts';
  return kinds.includes('agree') ? 'agree' : 'untold';
}
