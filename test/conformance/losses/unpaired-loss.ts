// Legal losses of labelled completions: as trainers write them, in other precisions, and some with formulas of their own.
import type { Args, Ok } from '../../../src/index.ts';
import { type Legal, legal, mean, type Rows, sum } from '../legal.ts';
import { b16 } from '../rounding.ts';

type Request = Args<'unpaired_preference_loss'>;
type Loss = (args: Request) => Ok<'unpaired_preference_loss'>;
type Round = (x: number) => number;

const exact: Round = (x) => x;
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

/** Two sums and their difference, as trainers have it, each rounded. */
const ratiosOf = (policy: Rows, reference: Rows, round: Round): number[] =>
  policy.map((row, b) => round(round(sum(row)) - round(sum(reference[b] ?? []))));
const klOf = (args: Request, round: Round): number =>
  Math.max(0, round(mean(ratiosOf(args.kl_logprobs, args.ref_kl_logprobs, round))));

interface How {
  readonly beta: number;
  /** Desirable, undesirable. */
  readonly weights?: readonly [number, number];
  readonly apo?: boolean;
  readonly round?: Round;
}

/** TRL and HALOs: the two kinds apart, 1 - sigmoid each, one mean over their concatenation. */
const halves =
  ({ beta, weights: [good, bad] = [1, 1], apo = false, round = exact }: How): Loss =>
  (args) => {
    const kl = apo ? 0 : klOf(args, round);
    const ratios = ratiosOf(args.logprobs, args.ref_logprobs, round);
    const side = (kind: number, sign: number, weight: number): number[] =>
      ratios
        .filter((_, b) => args.desirable[b] === kind)
        .map((ratio) => round(weight * round(1 - round(sigmoid(round(beta * sign * round(ratio - kl)))))));
    return { loss: round(mean([...side(1, 1, good), ...side(0, -1, bad)])), ...(apo ? {} : { kl }) };
  };

/** Liger: one multiplier a row, each row's share of the sum, and its gradient in closed form. */
const multiplied =
  ({ beta, round = exact }: How): Loss =>
  (args) => {
    const kl = klOf(args, round);
    const count = args.desirable.length;
    const signs = args.desirable.map((kind) => (kind === 1 ? 1 : -1));
    const right = ratiosOf(args.logprobs, args.ref_logprobs, round).map((ratio, b) =>
      sigmoid(beta * (ratio - kl) * (signs[b] ?? 0)),
    );
    return {
      loss: round(sum(right.map((each) => (1 - each) / count))),
      losses: right.map((each) => round(1 - each)),
      weights: args.logprobs.map((row, b) => {
        const each = right[b] ?? Number.NaN;
        return row.map(() => round((-(signs[b] ?? 0) * beta * each * (1 - each)) / count));
      }),
      kl_weights: args.kl_logprobs.map((row) => row.map(() => 0)),
      kl,
    };
  };

/** Of each row's ratio, whether it is desirable, and all ratios of the batch with their labels. */
const own =
  (of: (ratio: number, good: boolean, other: (kind: boolean) => number) => number): Loss =>
  (args) => {
    const ratios = ratiosOf(args.logprobs, args.ref_logprobs, exact);
    const kinds = args.desirable.map((kind) => kind === 1);
    const other = (kind: boolean): number => {
      const found = ratios.filter((_, b) => kinds[b] === kind);
      return found.length === 0 ? 0 : Math.max(0, mean(found));
    };
    return { loss: mean(ratios.map((ratio, b) => of(ratio, kinds[b] === true, other))) };
  };
const OWN = { is: { own_formulas: ['unpaired_preference_loss'] } } as const;

const declared = (
  unpaired_objective: 'kto' | 'apo_zero',
  unpaired_beta: number,
  [desirable_weight, undesirable_weight]: readonly [number, number] = [1, 1],
) => ({ semantics: { unpaired_objective, unpaired_beta, desirable_weight, undesirable_weight } });

export const unpairedLosses: readonly Legal[] = [
  legal('KTO, undeclared', { unpaired_preference_loss: halves({ beta: 0.1 }) }),
  legal('KTO by a multiplier, its gradient in closed form', {
    unpaired_preference_loss: multiplied({ beta: 0.25 }),
  }),
  legal(
    'KTO with weights, in float32',
    { unpaired_preference_loss: halves({ beta: 0.1, weights: [1.33, 1], round: Math.fround }) },
    { dtype: 'float32', ...declared('kto', 0.1, [1.33, 1]) },
  ),
  legal(
    'KTO in bfloat16',
    { unpaired_preference_loss: halves({ beta: 0.1, round: b16 }) },
    { dtype: 'bfloat16', ...declared('kto', 0.1) },
  ),
  legal(
    'KTO in bfloat16, undeclared',
    { unpaired_preference_loss: multiplied({ beta: 0.5, round: b16 }) },
    { dtype: 'bfloat16' },
  ),
  legal('KTO with weights, undeclared', {
    unpaired_preference_loss: halves({ beta: 0.02, weights: [1, 1.5] }),
  }),
  legal('unpaired APO-zero, undeclared', { unpaired_preference_loss: halves({ beta: 0.3, apo: true }) }),
  legal(
    'unpaired APO-zero in float32',
    { unpaired_preference_loss: halves({ beta: 0.1, apo: true, round: Math.fround }) },
    { dtype: 'float32', ...declared('apo_zero', 0.1) },
  ),
  legal(
    'the KL of the batch’s other kind, without mismatched rows',
    {
      unpaired_preference_loss: own((ratio, good, other) =>
        sigmoid(0.1 * (good ? other(false) - ratio : ratio - other(true))),
      ),
    },
    OWN,
  ),
  legal(
    'a binary classifier (BCO) around 0',
    { unpaired_preference_loss: own((ratio, good) => softplus(0.1 * (good ? -ratio : ratio))) },
    OWN,
  ),
];
