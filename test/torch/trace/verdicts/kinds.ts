// What a case of a topic is: a script as it should be, or with one mistake.
import type { Clean } from './correct.ts';
import type { Faulty } from './faults.ts';

export interface Cases {
  readonly clean: Readonly<Record<string, CleanCase>>;
  readonly faulty: Readonly<Record<string, FaultyCase>>;
}

/** Blamed for nothing. */
export interface CleanCase extends Clean {
  /** What must stand in the output: a notice, or what was recognised. */
  readonly says?: RegExp;
  /** What is told of it, and must be told of no other: of its heads (`beside`), or of its weights between steps. */
  readonly tells?: 'beside' | 'made-anew';
}

/** Found by a property that names it, or, where it cannot be known, told as not known: then no pass. */
export type FaultyCase = Faulty | Unknowable;

export interface Unknowable {
  readonly words: string;
  readonly data?: readonly unknown[];
  readonly options?: string;
  /** The sentence that says what is not known. */
  readonly unknown: RegExp;
}
