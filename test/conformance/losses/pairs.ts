// Legal losses on preference pairs, many of them with objectives that have no name here.
import type { Args, Ok } from '../../../src/index.ts';
import { type Legal, legal, mean, type Rows, sum } from '../legal.ts';
import { b16 } from '../rounding.ts';

type Loss = (args: Args<'preference_loss'>) => Ok<'preference_loss'>;

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

interface Scores {
  readonly chosen: readonly number[];
  readonly rejected: readonly number[];
}

const score = (rows: Rows, refs: Rows | undefined, averaged: boolean): number[] =>
  rows.map((row, b) => (sum(row) - sum(refs?.[b] ?? [])) / (averaged ? row.length : 1));
const scores = (
  args: Args<'preference_loss'>,
  options: { readonly averaged?: boolean; readonly free?: boolean } = {},
): Scores => {
  const { averaged = false, free = false } = options;
  return {
    chosen: score(args.chosen_logprobs, free ? undefined : args.ref_chosen_logprobs, averaged),
    rejected: score(args.rejected_logprobs, free ? undefined : args.ref_rejected_logprobs, averaged),
  };
};

/** A loss of each pair by its two scores. */
export const each =
  (
    loss: (chosen: number, rejected: number) => number,
    options: Parameters<typeof scores>[1] & {
      readonly beta?: number;
      readonly summed?: boolean;
      readonly bare?: boolean;
    } = {},
  ): Loss =>
  (args) => {
    const { chosen, rejected } = scores(args, options);
    const losses = chosen.map((score, b) => loss(score, rejected[b] ?? Number.NaN));
    const total = options.summed ? sum(losses) : mean(losses);
    if (options.bare) return { loss: total };
    const { beta = 1 } = options;
    const times = (values: readonly number[]): number[] => values.map((value) => beta * value);
    return { loss: total, losses, chosen_rewards: times(chosen), rejected_rewards: times(rejected) };
  };

export const dpo = (beta: number) => (c: number, r: number) => softplus(-beta * (c - r));
const smoothed = (beta: number, share: number) => (c: number, r: number) =>
  (1 - share) * softplus(-beta * (c - r)) + share * softplus(beta * (c - r));
const robust = (beta: number, share: number) => (c: number, r: number) =>
  ((1 - share) * softplus(-beta * (c - r)) - share * softplus(beta * (c - r))) / (1 - 2 * share);

/** Against the mean score of the other half of the batch (KTO on pairs): no pair is alone. */
const withBatch: Loss = (args) => {
  const { chosen, rejected } = scores(args);
  const [above, below] = [Math.max(0, mean(rejected)), Math.max(0, mean(chosen))];
  const losses = chosen.map(
    (c, b) => 1 - sigmoid(c - above) + 1 - sigmoid(below - (rejected[b] ?? Number.NaN)),
  );
  return { loss: mean(losses), losses, chosen_rewards: chosen, rejected_rewards: rejected };
};

/** Every step rounded, as tensors of that precision do it. */
const rounded =
  (round: (x: number) => number, loss: (margin: number) => number): Loss =>
  (args) => {
    const total = (row: readonly number[]): number =>
      row.reduce((all, value) => round(all + round(value)), 0);
    const ratios = (rows: Rows, refs: Rows): number[] =>
      rows.map((row, b) => round(total(row) - total(refs[b] ?? [])));
    const chosen = ratios(args.chosen_logprobs, args.ref_chosen_logprobs);
    const rejected = ratios(args.rejected_logprobs, args.ref_rejected_logprobs);
    const losses = chosen.map((c, b) => round(loss(round(c - (rejected[b] ?? 0)))));
    return {
      loss: round(losses.reduce((all, value) => round(all + value), 0) / losses.length),
      losses,
      chosen_rewards: chosen,
      rejected_rewards: rejected,
    };
  };
const named = (objective: 'dpo' | 'dpo_norm' | 'ipo' | 'hinge' | 'simpo', beta: number) => ({
  preference_objective: objective,
  preference_beta: beta,
});

/** Losses that no list of objectives has. */
const OWN = { is: { own_formulas: ['preference_loss'] } } as const;

export const pairLosses: readonly Legal[] = [
  legal('DPO of an undeclared beta, summed over pairs', {
    preference_loss: each(dpo(0.15), { summed: true, bare: true }),
  }),
  legal(
    'DPO whose rewards have no beta',
    { preference_loss: each(dpo(0.3)) },
    { semantics: named('dpo', 0.3) },
  ),
  legal(
    'labels smoothed, and not said so',
    { preference_loss: each(smoothed(0.1, 0.1), { beta: 0.1 }) },
    { semantics: named('dpo', 0.1) },
  ),
  legal(
    'robust DPO',
    { preference_loss: each(robust(0.1, 0.15), { beta: 0.1 }) },
    { semantics: { ...named('dpo', 0.1), preference_label_smoothing: 0.15 } },
  ),
  legal(
    'hinge',
    { preference_loss: each((c, r) => Math.max(0, 1 - 0.2 * (c - r)), { beta: 0.2 }) },
    { semantics: named('hinge', 0.2) },
  ),
  legal(
    'IPO over means, rewards over means',
    { preference_loss: each((c, r) => (c - r - 5) ** 2, { averaged: true, beta: 0.1 }) },
    { semantics: named('ipo', 0.1) },
  ),
  legal('IPO over sums, undeclared', { preference_loss: each((c, r) => (c - r - 5) ** 2) }),
  legal('SimPO, undeclared', {
    preference_loss: each((c, r) => softplus(-2 * (c - r) + 1), { averaged: true, free: true, beta: 2 }),
  }),
  legal('DPO over means, undeclared', { preference_loss: each(dpo(5), { averaged: true, beta: 5 }) }),
  legal(
    'DPO over means, labels smoothed',
    { preference_loss: each(smoothed(2, 0.1), { averaged: true, beta: 2 }) },
    { semantics: { ...named('dpo_norm', 2), preference_label_smoothing: 0.1 } },
  ),
  legal(
    'squared rewards around a target',
    { preference_loss: each((c, r) => (c - 5) ** 2 + (r + 5) ** 2) },
    OWN,
  ),
  legal(
    'both sigmoids apart',
    {
      preference_loss: each((c, r) => 1 - sigmoid(0.1 * c) + sigmoid(0.1 * r), { beta: 0.1 }),
    },
    OWN,
  ),
  legal(
    'the chosen completion may fall',
    {
      preference_loss: each((c, r) => sigmoid(0.1 * c) + 1 - sigmoid(0.1 * (c - r)), { beta: 0.1 }),
    },
    OWN,
  ),
  legal(
    'noise contrastive',
    {
      preference_loss: each((c, r) => softplus(-c) + (softplus(c) + softplus(r)) / 2),
    },
    OWN,
  ),
  legal('pairs against their batch', { preference_loss: withBatch }, OWN),
  legal(
    'DPO in float32',
    { preference_loss: rounded(Math.fround, (margin) => softplus(-margin)) },
    { dtype: 'float32', semantics: named('dpo', 1) },
  ),
  legal(
    'DPO in bfloat16',
    { preference_loss: rounded(b16, (margin) => softplus(-margin)) },
    { dtype: 'bfloat16', semantics: named('dpo', 1) },
  ),
  legal(
    'IPO over sums in bfloat16',
    { preference_loss: rounded(b16, (margin) => (margin - 0.5) ** 2) },
    { dtype: 'bfloat16' },
  ),
  legal(
    'hinge in bfloat16',
    { preference_loss: rounded(b16, (margin) => Math.max(0, 1 - margin)) },
    { dtype: 'bfloat16', semantics: named('hinge', 1) },
  ),
];
