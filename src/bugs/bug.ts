// One row of the catalogue of bugs.

export interface Bug {
  /** Its class and a number: `MSK-04`. Permanent; the numbers have gaps. */
  readonly id: string;
  /** What goes wrong, as a sentence. */
  readonly what: string;
  /** Public threads and commits in which it was seen: `owner/repo#123` or `owner/repo@abc1234`. */
  readonly seen: readonly string[];
  /** How to fix it: where to look, and what the right code is. */
  readonly todo: string;
  /** What it computes instead, as the end of "an answer fits exactly if ...". A finding that fits it names this row. */
  readonly formula?: string;
  /** Why no mutant shows it. */
  readonly unshown?: string;
}
