// Ids that should be others: the first that differs in words, and both rows one below the other.
import { type Finding, type Ids, type Role, type Subject, stripOf, tokenAt } from '../../src/index.ts';

export interface IdsDiffer {
  readonly expected: Ids;
  readonly observed: Ids;
  readonly source: string;
  /** Where they part, if that is not the first id that differs. */
  readonly column?: number;
  readonly row?: number;
}

/** `source` has the ids that are expected, as a sentence goes on: "the rendered template". */
export function idsFinding(
  subject: Subject,
  { expected, observed, source, column = -1, row = 0 }: IdsDiffer,
): Finding {
  const width = Math.max(expected.length, observed.length);
  const ids = Array.from({ length: width }, (_, at) => observed[at] ?? expected[at] ?? 0);
  const marks = ids.flatMap((_, at) => (expected[at] === observed[at] ? [] : [at]));
  const first = column < 0 ? (marks[0] ?? width) : column;
  const idAt = (all: Ids, none: string): string =>
    first < all.length ? tokenAt(subject, all, first).replace(/^Token \d+ /, '') : none;
  return {
    kind: 'ids',
    sentence: `${tokenAt(subject, ids, first)}: ${source} has ${idAt(expected, 'no token')} there, the trainer ${idAt(observed, 'none')}.`,
    strips: [
      stripOf(subject, {
        row,
        ids,
        roles: ids.map((): Role => 'prompt'),
        tracks: { expected: ids.map((_, at) => expected[at]), observed: ids.map((_, at) => observed[at]) },
        marks,
      }),
    ],
  };
}
