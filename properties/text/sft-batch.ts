// Conversations as a batch to train on, made in one go. Each row is first found in its padding, by what the chat template or
// op `tokenize` says of its conversation; then it is a training row like any other, and the rules of `tokenize` judge it.

import type { SftBatch } from '../../src/index.ts';
import {
  type Finding,
  firstFinding,
  IGNORE_INDEX,
  type Need,
  type Property,
  type Role,
  type Subject,
  stripOf,
  tokenAt,
} from '../../src/index.ts';
import { idsFinding } from './ids-differ.ts';
import { labelRules } from './labels.ts';
import { turnRules } from './labels-of-turns.ts';
import {
  type BatchRow,
  base,
  batchRows,
  coverage,
  knownRows,
  placedRow,
  rowWorld,
} from './sft-batch-rows.ts';
import type { RowRule } from './training-row.ts';

/** A rule about each row of which it is known where it stands. */
function ofEachRow(
  id: string,
  title: string,
  why: string,
  catches: readonly string[],
  check: (subject: Subject, row: BatchRow) => Finding | undefined,
  ...needs: readonly Need[]
): Property<SftBatch> {
  return {
    ...base,
    needs,
    id: `sft-batch/${id}`,
    title,
    why,
    catches,
    coverage,
    async check(subject, drawn) {
      for (const row of await batchRows(subject, drawn)) {
        const finding = check(subject, row);
        if (finding !== undefined) return finding;
      }
      return undefined;
    },
  };
}

/** A track of the whole row, padding included, that is other than `expected`. */
function trackFinding(
  subject: Subject,
  { row, ids, from, to }: BatchRow,
  kind: string,
  observed: readonly number[],
  expected: readonly (number | undefined)[],
  words: (token: string, real: boolean) => string,
): Finding | undefined {
  const marks = expected.flatMap((want, column) =>
    want === undefined || want === observed[column] ? [] : [column],
  );
  const [first] = marks;
  if (first === undefined) return undefined;
  return {
    kind,
    sentence: words(`${tokenAt(subject, ids, first)} of row ${row}`, first >= from && first < to),
    strips: [
      stripOf(subject, {
        row,
        ids,
        roles: ids.map((_, column): Role => (column >= from && column < to ? 'prompt' : 'padding')),
        tracks: { expected, observed },
        marks,
      }),
    ],
  };
}

const isReal = ({ from, to }: BatchRow, column: number): boolean => column >= from && column < to;

/** The row must hold its conversation. */
export function rowHolds(
  subject: Subject,
  { row, ids, attention, from, to, found, expected }: BatchRow,
): Finding | undefined {
  if (found) return undefined;
  const sentence = `Row ${row} is not the tokens of conversation ${row} with padding around them.`;
  if (expected !== undefined) {
    const observed = ids.slice(from, to);
    const differs = idsFinding(subject, { ...expected, observed, row });
    return {
      ...differs,
      kind: 'row',
      sentence: `${sentence} Without padding, t${differs.sentence.slice(1)}`,
    };
  }
  return {
    kind: 'row',
    sentence,
    strips: [
      stripOf(subject, {
        row,
        ids,
        roles: ids.map((_, column): Role => (attention[column] === 1 ? 'prompt' : 'padding')),
        tracks: { attention_mask: attention },
        marks: [],
      }),
    ],
  };
}

/** Exactly the conversation must be attended to. */
export function attentionFits(subject: Subject, row: BatchRow): Finding | undefined {
  return trackFinding(
    subject,
    row,
    'attention',
    row.attention,
    row.ids.map((_, column) => Number(isReal(row, column))),
    (token, real) =>
      real
        ? `${token} is a real token, but attention_mask hides it.`
        : `${token} is padding, but attention_mask lets the model see it.`,
  );
}

/** Nothing around the conversation may have a label. */
export function paddingIsBare(subject: Subject, row: BatchRow, trains = 'SFT'): Finding | undefined {
  return trackFinding(
    subject,
    row,
    'padding',
    row.labels,
    row.ids.map((_, column) => (isReal(row, column) ? undefined : IGNORE_INDEX)),
    (token) => `${token} is padding, but ${trains} trains on it.`,
  );
}

/** The rules of `tokenize` about labels, row by row. */
const ofRows = ({ name, title, needs = [], check, coverage: _, ...rule }: RowRule): Property<SftBatch> => ({
  ...base,
  ...rule,
  id: `sft-batch/${name}`,
  title: `In each row of a padded batch: ${title}`,
  coverage,
  needs: [
    knownRows,
    ...needs.map(
      (need): typeof need =>
        (world) =>
          need(rowWorld(world)),
    ),
  ],
  async check(subject, drawn) {
    const rows = await batchRows(subject, drawn);
    return firstFinding(rows.map((row) => async () => check(placedRow(subject, row))));
  },
});

export const sftBatchProperties: readonly Property<SftBatch>[] = [
  ofEachRow(
    'rows-are-the-conversations',
    'Each row is the tokens of its own conversation, whole, with padding around them',
    'A row that lost tokens to its batch mates, or is another conversation than its labels, is trained all the same.',
    ['TRN-01', 'PAD-08', 'PAD-06'],
    rowHolds,
    knownRows,
  ),
  ofEachRow(
    'attention-covers-exactly-the-tokens',
    'attention_mask is 1 on the tokens of the conversation and 0 on padding',
    'A mask inferred from ids hides real stop tokens where pad equals eos.',
    ['EOS-02', 'PAD-02'],
    attentionFits,
  ),
  ofEachRow(
    'padding-is-not-trained',
    'Padding is labelled -100',
    'Padding that is trained teaches the model to go on padding, and makes the loss small by being easy.',
    ['MSK-06', 'PAD-09', 'MSK-16'],
    (subject, row) => paddingIsBare(subject, row),
  ),
  ofEachRow(
    'positions-count-real-tokens',
    'position_ids, where answered, count the real tokens of each row from 0',
    'Positions that count padding move every token of a left-padded row away from where the model learnt it.',
    ['PAD-05'],
    (subject, row) =>
      trackFinding(
        subject,
        row,
        'positions',
        row.positions(),
        row.ids.map((_, column) => (isReal(row, column) ? column - row.from : undefined)),
        (token) => `${token} has another position than the number of real tokens before it.`,
      ),
  ),
  ...[...labelRules, ...turnRules].map(ofRows),
];
