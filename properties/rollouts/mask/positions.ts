// position_ids of the rows that are trained on, where a trainer answers them: they count tokens, never columns.
import {
  type Batch,
  blockArgs,
  discard,
  type Property,
  plannedRows,
  stripOf,
  tokenAt,
} from '../../../src/index.ts';
import { coverage, maskRule } from './batches.ts';

export const maskPositions: Property<Batch> = {
  ...maskRule,
  id: 'mask/positions-count-real-tokens',
  title: 'position_ids, where answered, count the real tokens of each row from 0',
  why: 'Positions that count padding move every token of a left-padded row away from where the model learnt it.',
  catches: ['PAD-05'],
  coverage,
  async check(subject, drawn) {
    const answered = (await subject.ask('mask', blockArgs(drawn))).position_ids;
    if (answered === undefined) return discard('the answer has no position_ids', 'trainer');
    for (const row of await plannedRows(subject, drawn)) {
      const observed = answered[row.row] ?? [];
      let count = 0;
      // Any position is right after the stop token, where no token is trained, and on padding, which is not attended to.
      const expected = row.roles.map((role) =>
        role === 'padding' || role === 'after stop' ? undefined : count++,
      );
      const marks = expected.flatMap((want, column) =>
        want === undefined || want === observed[column] ? [] : [column],
      );
      const [first] = marks;
      if (first === undefined) continue;
      return {
        kind: 'positions',
        sentence: `${tokenAt(subject, row.ids, first)} is real token ${expected[first]} of row ${row.row}, but its position is ${observed[first]}.`,
        strips: [stripOf(subject, { ...row, tracks: { expected, observed }, marks })],
      };
    }
    return undefined;
  },
};
