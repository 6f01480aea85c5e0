// What trainers were seen to compute in place of the supervised loss.
import { type Cube, IGNORE_INDEX, type Matrix } from '../../vocabulary.ts';
import type { Mistake } from '../mistake.ts';
import { logSoftmax } from '../scores/logprobs.ts';
import { at } from '../shape.ts';
import { sftLoss } from './sft.ts';

/** The loss alone: weights are those of other rules. `real` is the attention mask (B, T). */
export function sftMistakes(logits: Cube, labels: Matrix, ids: Matrix, real: Matrix): Mistake<number>[] {
  const right = sftLoss(logits, labels);
  const sum = right.loss * right.tokens;
  const [rows, columns] = [labels.length, labels[0]?.length ?? 0];
  const counted = labels.flat().filter((label) => label !== IGNORE_INDEX).length;
  const realTokens = real.flat().filter((each) => each !== 0).length;
  const over = (what: string, count: number, bug?: string): Mistake<number>[] =>
    count > 0 && count !== right.tokens
      ? [
          {
            ...(bug === undefined ? {} : { bug }),
            words: `it is divided by ${what}, instead of by the labelled tokens`,
            answer: sum / count,
          },
        ]
      : [];
  return [
    {
      bug: 'LP-01',
      words: 'labels are not shifted: each token is scored by the logits at its own place',
      answer: shifted(logits, labels, 0),
    },
    {
      bug: 'LP-01',
      words: 'labels are shifted once more: each token is scored two places ahead',
      answer: shifted(logits, labels, 2),
    },
    { words: 'the sign is turned', answer: -right.loss },
    {
      bug: 'MSK-01',
      words: 'every real token is trained, the prompt as well',
      answer: sftLoss(logits, where(ids, real)).loss,
    },
    { bug: 'MSK-06', words: 'every column is trained, padding as well', answer: sftLoss(logits, ids).loss },
    // A sum is what some mean (open-instruct's reduce_loss), whose steps accumulate over batches of unlike sizes.
    ...over('1', 1).map((sum) => ({ ...sum, legal: true as const })),
    ...over('the number of rows', rows),
    ...over('the labels before the shift', counted, 'LOSS-03'),
    ...over('all real tokens', realTokens, 'LOSS-03'),
    ...over('all columns of all rows', rows * columns, 'LOSS-11'),
    ...over('all columns but the first', rows * (columns - 1), 'LOSS-11'),
  ];
}

const where = (ids: Matrix, real: Matrix): Matrix =>
  ids.map((row, b) => row.map((id, t) => (real[b]?.[t] ? id : IGNORE_INDEX)));

/** Mean negative log-likelihood with each label scored by the logits `back` places before it. */
function shifted(logits: Cube, labels: Matrix, back: number): number {
  const scores = labels.flatMap((row, b) =>
    row.flatMap((label, t) => {
      const logit = t >= back ? at(logits, b)[t - back] : undefined;
      return label === IGNORE_INDEX || logit === undefined ? [] : [logSoftmax(logit)[label] ?? Number.NaN];
    }),
  );
  return scores.reduce((total, score) => total - score, 0) / scores.length;
}
