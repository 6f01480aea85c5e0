// The loss of a reward model on pairs: the Bradley-Terry likelihood of the better answer (Ouyang et al. 2022, "Training language
// models to follow instructions with human feedback", equation 1), with margins as in Llama 2 (Touvron et al. 2023, equation 2)
// and scores kept around 0 (Eisenstein et al. 2023, "Helping or Herding?", equation 4).
import type { Semantics } from '../../vocabulary.ts';
import { at } from '../shape.ts';

/** One number a pair, (B,). */
export interface RewardLossInput {
  readonly chosen_scores: readonly number[];
  readonly rejected_scores: readonly number[];
  /** Default: 0. */
  readonly margins?: readonly number[] | undefined;
}

export interface RewardLoss {
  readonly loss: number;
  /** Of each pair alone; `loss` is their mean. */
  readonly losses: readonly number[];
  /** dloss/dscore, (B,). */
  readonly chosen_weights: readonly number[];
  readonly rejected_weights: readonly number[];
}

/**
 * The mean over pairs of -log sigmoid(c - r - m) + centering (c + r)^2. log(1 + exp(r - c)) is the same number ("LogExp"), and
 * no other choice.
 */
export function rewardLoss(input: RewardLossInput, centering: number): RewardLoss {
  const pairs = input.chosen_scores.map((chosen, row) => {
    const rejected = at(input.rejected_scores, row);
    const difference = chosen - rejected - (input.margins === undefined ? 0 : at(input.margins, row));
    const sum = chosen + rejected;
    const loss = softplus(-difference) + centering * sum ** 2;
    return { loss, apart: -sigmoid(-difference), together: 2 * centering * sum };
  });
  const mean = 1 / pairs.length;
  return {
    loss: pairs.reduce((total, { loss }) => total + loss, 0) * mean,
    losses: pairs.map(({ loss }) => loss),
    chosen_weights: pairs.map(({ apart, together }) => mean * (together + apart)),
    rejected_weights: pairs.map(({ apart, together }) => mean * (together - apart)),
  };
}

/** "Bradley-Terry", or "Bradley-Terry and 0.01 times the square of both scores' sum". */
export function describeRewardLoss({ reward_centering: centering = 0 }: Semantics): string {
  const own = Number(centering.toPrecision(6));
  return `Bradley-Terry${centering === 0 ? '' : ` and ${own} times the square of both scores' sum`}`;
}

/** log(1 + exp(x)), finite for every finite x. */
const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
const sigmoid = (x: number): number => Math.exp(-softplus(-x));
