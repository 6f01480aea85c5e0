// What a case of a rule is: a log that breaks it, or one that looks alike and does not.
import type { Log } from '../logs.ts';

export interface Breaking extends Log {
  readonly what: string;
  /** The row, from 0, of the first value that is wrong. */
  readonly onset: number;
  /** Rows from there to the one in which it is said; 2 where nothing is given: within the first three. */
  readonly within?: number;
}

export interface Holding extends Log {
  readonly what: string;
  /** The rule cannot judge it, and must not pass it. */
  readonly silent?: true;
}

export interface Cases {
  readonly breaking: readonly Breaking[];
  readonly holding: readonly Holding[];
}
