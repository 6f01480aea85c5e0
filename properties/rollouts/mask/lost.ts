// What is said of a row of the training batch that is not its prompt followed by its completion: one that lost its stop
// token only, which has a likely cause, and any other.
import {
  type Finding,
  LOST_STOP_ADVICE,
  type MaskedRow,
  nameOf,
  type Subject,
  stripOf,
} from '../../../src/index.ts';

/** Tokens were lost, added or changed. */
export function otherRowFinding(subject: Subject, row: MaskedRow): Finding {
  const whole = [...row.prompt, ...row.completion];
  return {
    kind: 'row',
    sentence: `Row ${row.row} of the training batch is not its prompt (${row.prompt.length} tokens) followed by its completion (${row.completion.length} tokens) with padding elsewhere.`,
    strips: [
      stripOf(subject, {
        ...row,
        tracks: { 'prompt + completion': fromPrompt(row, whole) },
        marks: [],
      }),
    ],
  };
}

/** At the columns of the row: from where its prompt seems to begin. */
function fromPrompt({ ids, roles }: MaskedRow, whole: readonly number[]): (number | undefined)[] {
  const start = Math.max(0, roles.indexOf('prompt'));
  return ids.map((_, column) => whole[column - start]);
}

/** The row with the column that it lost: a stop token that is not there is never trained. */
export function lostStopFinding(subject: Subject, row: MaskedRow, stop: number): Finding {
  const end = (row.plan?.completionStart ?? 0) + row.completion.length;
  const beside = <T>(items: readonly T[], item: T): T[] => [
    ...items.slice(0, end),
    item,
    ...items.slice(end),
  ];
  return {
    kind: 'stop lost',
    sentence: `Row ${row.row} of the training batch holds its prompt and its completion, but not the stop token ${nameOf(subject, stop)} (id ${stop}) that ended it.`,
    strips: [
      stripOf(subject, {
        row: row.row,
        ids: beside(row.ids, stop),
        roles: beside(row.roles, 'stop'),
        tracks: {
          sampled: beside<number | undefined>(
            row.ids.map((id, column) => (row.roles[column] === 'padding' ? undefined : id)),
            stop,
          ),
          'in the row': beside<number | undefined>(row.ids, undefined),
        },
        marks: [end],
      }),
    ],
    advice: LOST_STOP_ADVICE,
  };
}
