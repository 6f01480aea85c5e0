// What the properties of a reward model's loss share: their requests, and when its formula is known.
import {
  type Args,
  formulaOf,
  knownFormula,
  type Need,
  type ScoredPair,
  type ScoredPairs,
  scoredPairLabels,
  type World,
} from '../../../src/index.ts';

export const base = {
  stage: 'reward_loss',
  level: 'must',
  ops: ['reward_loss'],
  labels: scoredPairLabels,
} as const;
export const coverage = { 'several rows': 0.3, 'a pair that is right': 0.3, 'a pair that is wrong': 0.3 };

/** With margins where there are some, and the trainer takes them. */
export function argsOf({ rows }: ScoredPairs, { hello }: Pick<World, 'hello'>): Args<'reward_loss'> {
  const margins = rows.map(({ margin }) => margin);
  const sent = hello.ops.reward_loss?.margins === true && margins.some((margin) => margin !== 0);
  return { ...scoresOf({ rows }), ...(sent ? { margins } : {}) };
}

export const scoresOf = ({ rows }: ScoredPairs): Args<'reward_loss'> => ({
  chosen_scores: rows.map(({ chosen }) => chosen),
  rejected_scores: rows.map(({ rejected }) => rejected),
});

export const each = (
  { rows }: ScoredPairs,
  change: (row: ScoredPair) => Partial<ScoredPair>,
): ScoredPairs => ({ rows: rows.map((row) => ({ ...row, ...change(row) })) });

/** Its formula is the one of the protocol. */
export const KNOWN: readonly Need[] = [formulaOf(['reward_loss']), knownFormula('reward_loss')];
