// What trainers were seen to compute in place of a KL estimate.
import type { Matrix } from '../../vocabulary.ts';
import type { Mistake } from '../mistake.ts';
import { cell } from '../shape.ts';
import { type KlVariant, klPerToken, klTerm } from './kl.ts';

export interface KlInput {
  readonly logprobs: Matrix;
  readonly ref_logprobs: Matrix;
  readonly old_logprobs: Matrix;
  /** (B, T), 1 on completion tokens. */
  readonly completion_mask: Matrix;
}

/** Per-token numbers (B, T), and the mean over completion tokens where it is not theirs. */
export interface WrongKl {
  readonly kl: Matrix;
  readonly mean?: number;
}

/** Each under this variant. Numbers outside of the completion are as the formula gives them, and mean nothing. */
export function klMistakes(input: KlInput, variant: KlVariant): Mistake<WrongKl>[] {
  const { logprobs, ref_logprobs: ref, old_logprobs: old, completion_mask: mask } = input;
  const right = klPerToken(logprobs, ref, old, variant, mask);
  const each = (of: (value: number, d: number, b: number, t: number) => number): WrongKl => ({
    kl: right.map((row, b) => row.map((value, t) => of(value, cell(ref, b, t) - cell(logprobs, b, t), b, t))),
  });
  const swapped = each(
    (_, __, b, t) => klTerm(cell(ref, b, t), cell(logprobs, b, t), cell(old, b, t), variant).value,
  );
  return [
    { bug: 'KL-03', words: 'policy and reference are swapped', answer: swapped },
    { bug: 'KL-01', words: 'its sign is turned', answer: each((value) => -value) },
    ...(variant.estimator === 'k2'
      ? [{ words: 'the square of the log-ratio is not halved', answer: each((value) => 2 * value) }]
      : []),
    ...(variant.estimator === 'k3' && variant.ofRow === undefined
      ? [
          {
            words: 'the 1 of exp(d) - d - 1 is not subtracted',
            answer: each((value) => value + 1),
          },
          { words: 'd is not subtracted in exp(d) - d - 1', answer: each((value, d) => value + d) },
          {
            words: "it is the estimate of the row's mean log-ratio instead of the mean of estimates",
            answer: ofRowMeans(input, variant),
          },
        ]
      : []),
    {
      bug: 'KL-13',
      words: 'all columns are averaged, padding and prompt as well',
      answer: { kl: right, mean: mean(right.flat()) },
    },
    {
      bug: 'KL-13',
      words: 'the mean is divided by all columns, those outside of the completion as well',
      answer: {
        kl: right,
        mean:
          sum(right.flatMap((row, b) => row.filter((_, t) => cell(mask, b, t) !== 0))) / right.flat().length,
      },
    },
    {
      words: 'the sum over completion tokens stands for their mean',
      answer: {
        kl: right,
        mean: sum(right.flatMap((row, b) => row.filter((_, t) => cell(mask, b, t) !== 0))),
      },
    },
  ];
}

/** Every token of a row carries the estimate of its mean log-ratio. */
function ofRowMeans({ logprobs, ref_logprobs, completion_mask: mask }: KlInput, variant: KlVariant): WrongKl {
  return {
    kl: klPerToken(logprobs, ref_logprobs, logprobs, { ...variant, ofRow: 'mean' }, mask),
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
