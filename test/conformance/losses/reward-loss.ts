// Legal losses of reward models: written in other ways, in other precisions, and some with formulas of their own.
import type { Args, Ok } from '../../../src/index.ts';
import { type Legal, legal, mean, sum } from '../legal.ts';
import { b16 } from '../rounding.ts';

type Loss = (args: Args<'reward_loss'>) => Ok<'reward_loss'>;

const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
/** log(1 + exp(x)) as LogExp losses have it, with the larger exponent taken out. */
const logExp = (x: number): number =>
  Math.max(x, 0) + Math.log(Math.exp(-Math.max(x, 0)) + Math.exp(Math.min(x, 0)));

interface How {
  /** The loss of a pair, by chosen score, rejected score and margin. */
  readonly pair: (chosen: number, rejected: number, margin: number) => number;
  /** Each step rounded, as tensors of that precision do it. */
  readonly round?: (x: number) => number;
  readonly summed?: boolean;
}

const each =
  ({ pair, round = (x) => x, summed = false }: How): Loss =>
  ({ chosen_scores: chosen, rejected_scores: rejected, margins }) => {
    const losses = chosen.map((score, row) =>
      round(pair(score, rejected[row] ?? Number.NaN, margins?.[row] ?? 0)),
    );
    return { loss: round(summed ? sum(losses) : mean(losses)), losses };
  };

/** Loss and gradient in float32, the gradient in closed form: sigmoid(d) - 1. */
const inFloat32: Loss = ({ chosen_scores: chosen, rejected_scores: rejected }) => {
  const differences = chosen.map((score, row) => Math.fround(score - (rejected[row] ?? Number.NaN)));
  const slopes = differences.map((d) =>
    Math.fround(Math.fround(1 / (1 + Math.exp(-d)) - 1) / differences.length),
  );
  return {
    loss: Math.fround(mean(differences.map((d) => Math.fround(softplus(-d))))),
    chosen_weights: slopes,
    rejected_weights: slopes.map((slope) => -slope),
  };
};

const bradleyTerry = (c: number, r: number, m: number): number => softplus(-(c - r - m));
const centred = (by: number) => (c: number, r: number, m: number) =>
  bradleyTerry(c, r, m) + by * (c + r) ** 2;
const MARGINS = { reward_loss: { margins: true } } as const;
/** Losses that are not the one of the protocol, and meant. */
const OWN = { is: { own_formulas: ['reward_loss'] } } as const;

export const rewardLosses: readonly Legal[] = [
  legal('Bradley-Terry, undeclared', { reward_loss: each({ pair: bradleyTerry }) }),
  legal(
    'Bradley-Terry with margins, declared',
    { reward_loss: each({ pair: bradleyTerry }) },
    { can: MARGINS, semantics: { reward_centering: 0 } },
  ),
  legal('LogExp', { reward_loss: each({ pair: (c, r) => logExp(r - c) }) }),
  legal(
    'Bradley-Terry in float32, its gradient in closed form',
    { reward_loss: inFloat32 },
    { dtype: 'float32' },
  ),
  legal(
    'Bradley-Terry in bfloat16',
    { reward_loss: each({ pair: bradleyTerry, round: b16 }) },
    { dtype: 'bfloat16', can: MARGINS },
  ),
  legal('scores kept around 0, undeclared', { reward_loss: each({ pair: centred(0.05) }) }, { can: MARGINS }),
  legal(
    'scores kept around 0',
    { reward_loss: each({ pair: centred(0.01), round: Math.fround }) },
    { dtype: 'float32', can: MARGINS, semantics: { reward_centering: 0.01 } },
  ),
  legal(
    'scores kept around 0 in bfloat16',
    { reward_loss: each({ pair: centred(0.01), round: b16 }) },
    { dtype: 'bfloat16', can: MARGINS, semantics: { reward_centering: 0.01 } },
  ),
  legal('Bradley-Terry summed over pairs', { reward_loss: each({ pair: bradleyTerry, summed: true }) }, OWN),
  legal('a hinge on scores', { reward_loss: each({ pair: (c, r) => Math.max(0, 1 - (c - r)) }) }, OWN),
  legal(
    'labels smoothed',
    { reward_loss: each({ pair: (c, r) => 0.9 * softplus(r - c) + 0.1 * softplus(c - r) }) },
    OWN,
  ),
  legal(
    'each score a classifier of its own',
    { reward_loss: each({ pair: (c, r) => softplus(-c) + softplus(r) }) },
    OWN,
  ),
];
