// What trainers were seen to divide a loss by, or to aggregate it as, in place of what they should: the right answer times a
// factor that has a name.
import { CHOICES, type Matrix, type ValueAggregation } from '../../vocabulary.ts';
import type { Mistake } from '../mistake.ts';
import { selected } from './aggregation.ts';
import type { TokenLoss } from './parts.ts';

/** As another mode of aggregation that needs no constant: legal where it is meant. */
export function otherAggregations(
  own: string,
  of: (aggregation: ValueAggregation) => TokenLoss,
): Mistake<TokenLoss>[] {
  return CHOICES.value_aggregation.values
    .filter((other) => other !== own)
    .map((other) => ({
      bug: 'LOSS-04',
      words: `it is aggregated as ${other}`,
      answer: of(other),
      legal: true as const,
    }));
}

/** The sum over tokens, divided by something else than it should be. */
export function otherCounts(right: TokenLoss, mask: Matrix): Mistake<TokenLoss>[] {
  const [rows, columns] = [mask.length, mask[0]?.length ?? 0];
  const used = mask.flatMap((row) => row.flatMap((m, t) => (selected(m) ? [t] : [])));
  const completion = columns - Math.min(columns, ...used);
  const counts: readonly (readonly [string, number, string?])[] = [
    ['1, so that it is a sum', 1],
    ['the number of rows', rows],
    ['all columns of all rows, padding as well', rows * columns, 'LOSS-11'],
    ['the completion columns of all rows, padding as well', rows * completion, 'LOSS-11'],
    ['one token more than there are', right.tokens + 1],
    ['the number of tokens twice', right.tokens ** 2, 'LOSS-08'],
  ];
  return counts
    .filter(([, count]) => count > 0 && count !== right.tokens)
    .map(([what, count, bug]) => ({
      ...(bug === undefined ? {} : { bug }),
      words: `it is divided by ${what}, instead of by the trained tokens`,
      answer: scaled(right, right.tokens / count),
    }));
}

/** What becomes of micro-batches that are not taken together; `local` is the mean of their own losses. */
export function otherParts(
  local: TokenLoss,
  last: TokenLoss,
  microBatches: readonly (readonly number[])[],
): Mistake<TokenLoss>[] {
  return [
    {
      bug: 'LOSS-01',
      words: 'the means of the micro-batches are averaged, whatever their counts',
      answer: local,
      legal: true as const,
    },
    {
      bug: 'LOSS-01',
      words: 'the losses of the micro-batches are added up, not averaged',
      answer: scaled(local, microBatches.length),
    },
    { words: 'only the last micro-batch counts', answer: spread(last, local, microBatches.at(-1) ?? []) },
  ];
}

export function scaled({ loss, weights, tokens }: TokenLoss, by: number): TokenLoss {
  return { loss: by * loss + 0, weights: weights.map((row) => row.map((weight) => by * weight + 0)), tokens };
}

/** The loss of some rows, the others without a gradient. */
function spread(part: TokenLoss, whole: TokenLoss, rows: readonly number[]): TokenLoss {
  return {
    ...part,
    weights: whole.weights.map((row, b) => part.weights[rows.indexOf(b)] ?? row.map(() => 0)),
  };
}
