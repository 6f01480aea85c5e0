// Every column of an example is cut with its tokens, and what has no label left is not handed on.
import {
  type Ids,
  IGNORE_INDEX,
  isSubsequence,
  type LimitedExamples,
  many,
  type Property,
} from '../../src/index.ts';
import { eachRow, isLong, readings, shown, trained, truncation } from './cut-rows.ts';

export const truncateColumns: readonly Property<LimitedExamples>[] = [
  {
    ...truncation,
    id: 'truncate/companions-are-cut-alike',
    title: 'Labels, attention_mask and position_ids are as long as their row, and belong to its tokens',
    why: 'If a column is cut elsewhere than the ids, the next collator shifts or stretches it, and the row trains other tokens.',
    catches: ['TRN-05', 'MSK-11'],
    check: eachRow(({ row, ids, labels, example }, _, __, { answer }) => {
      const columns = {
        labels,
        attention_mask: answer.attention_mask?.[row],
        position_ids: answer.position_ids?.[row],
      };
      for (const [name, values] of Object.entries(columns)) {
        if (values !== undefined && values.length !== ids.length)
          return {
            kind: name,
            sentence: `Row ${row} has ${many(ids.length, 'token')}, and ${name} ${many(values.length, 'value')}.`,
          };
      }
      const hidden = columns.attention_mask?.findIndex((real) => real !== 1) ?? -1;
      if (hidden >= 0)
        return {
          kind: 'attention_mask',
          sentence: `Token ${hidden} of row ${row} is a token of its example, but attention_mask is ${columns.attention_mask?.[hidden]} there.`,
        };
      // Cut with its tokens, a row that lost its beginning counts on from where it was.
      const positions = columns.position_ids ?? [];
      const first = positions[0] ?? 0;
      const jump = positions.findIndex((position, at) => position !== first + at);
      if (jump >= 0 || (first !== 0 && first !== example.ids.length - ids.length))
        return {
          kind: 'position_ids',
          sentence: `The positions of row ${row} are ${shown(positions)}; they count on from 0, or from the first token that was kept.`,
        };
      return undefined;
    }),
  },
  {
    ...truncation,
    id: 'truncate/labels-stay-with-their-tokens',
    title: 'Every token that is left has the label that it had',
    why: 'Labels cut at the other end are as long as the row, and are the targets of other tokens.',
    catches: ['TRN-05', 'PAD-08'],
    check: eachRow(({ row, at, ids, labels, example }, drawn, subject) => {
      const rows = readings(subject, ids).filter((left) => isSubsequence(left, example.ids));
      if (labels.length !== ids.length || rows.length === 0) return undefined; // said elsewhere
      const own = pairs(example.ids, example.labels);
      const fits = (from: number): boolean =>
        rows.some((left) => isSubsequence(pairs(left, labels).slice(from), own.slice(from)));
      // Nothing predicts the first token of a row, so its label may be gone. An example that was cut may be left
      // out of the training as a row without any label.
      if (fits(0) || (labels[0] === IGNORE_INDEX && fits(1))) return undefined;
      if (isLong(example, drawn) && trained(labels) === 0) return undefined;
      return {
        kind: 'labels',
        sentence: `Row ${row} has the labels ${shown(labels)} on the tokens ${shown(ids)}; example ${at} has ${shown(example.labels)} on ${shown(example.ids)}.`,
      };
    }),
  },
  {
    ...truncation,
    id: 'truncate/no-row-without-labels',
    title: 'An example that loses its last label is left out or refused, not handed on',
    level: 'should',
    why: 'A prompt as long as the limit leaves a row of -100: its mean loss is 0/0, or a 0.0 that looks like a perfect answer.',
    catches: ['TRN-04'],
    coverage: { 'all labels beyond the limit': 0.02 },
    check: eachRow(({ row, at, ids, labels, example }) =>
      trained(example.labels.slice(1)) === 0 || trained(labels) > 0
        ? undefined
        : {
            kind: 'no labels',
            sentence: `Example ${at} has ${many(trained(example.labels), 'trained token')}, and row ${row}, ${shown(ids)}, none: nothing is left to train, and the row is handed on all the same.`,
          },
    ),
  },
];

const pairs = (ids: Ids, labels: Ids): string[] => ids.map((id, at) => `${id}/${labels[at]}`);
