// What is known of a bug: one row of the catalogue.

export interface Bug {
  /** Its class and a number: `MSK-04`. Permanent; the numbers have gaps. */
  readonly id: string;
  /** What goes wrong, as a sentence. */
  readonly what: string;
  /** Public threads and commits in which it was seen: `owner/repo#123` or `owner/repo@abc1234`. */
  readonly seen: readonly string[];
  /** What whoever has it does about it: where to look, and what the right code is. */
  readonly todo: string;
  /** What it computes instead, behind "an answer fits exactly if": a finding that does names this row. */
  readonly formula?: string;
  /** Why no mutant shows it. */
  readonly unshown?: string;
}
