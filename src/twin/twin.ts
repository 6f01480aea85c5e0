// The result of a twin: for each change, whether the run with it agrees with the run without.
import type { Outcome } from './verdict.ts';

/** The change that changes nothing: what all others are compared by. */
export const REPEAT = 'repeat';
/** The change whose run begins where another one ended. */
export const RESUME = 'resume';

export interface TwinResult {
  /** The change, or `pair` of two commands, or `resume`. */
  readonly name: string;
  readonly sentence: string;
  readonly outcome: Outcome;
}

export type TwinVerdict = 'agree' | 'parts' | 'untold';

/** A difference fails. There is no verdict where nothing was compared, or where the script differs from itself. */
export function verdictOf(results: readonly TwinResult[]): TwinVerdict {
  if (results.some(({ name, outcome }) => name === REPEAT && outcome.kind === 'parts')) return 'untold';
  const kinds = results.map(({ outcome }) => outcome.kind);
  if (kinds.includes('parts')) return 'parts';
  return kinds.includes('agree') || kinds.includes('sized') ? 'agree' : 'untold';
}
