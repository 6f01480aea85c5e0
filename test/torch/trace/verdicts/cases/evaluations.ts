// Evaluations between steps: with dropout or without.
import { ANSWERS } from '../correct.ts';
import { PAIRS } from '../data.ts';
import type { Cases } from './kinds.ts';

const evaluated = (
  way: string,
  options = ANSWERS,
): { words: string; data: typeof PAIRS; options: string } => ({
  words: `steps/evaluated.py --data {data} --way ${way}`,
  data: PAIRS,
  options,
});

export const evaluations: Cases = {
  clean: Object.fromEntries(
    ['eval', 'gated', 'gated-attention', 'no-dropout', 'tried-out', 'scored-in-each', 'checkpointed'].map(
      (way) => [`an evaluation after each step: ${way}`, evaluated(way, `${ANSWERS} --strict --steps 3`)],
    ),
  ),
  faulty: Object.fromEntries(
    (
      [
        ['labelled', /1 row is evaluated .* by a model in training mode, with dropout of 0\.2/],
        ['bare', /1 row is evaluated .* after step 0, by a model in training mode, with dropout of 0\.2/],
        ['function', /by a model in evaluation mode, with dropout of 0\.2 all the same/],
        ['attention', /by a model in evaluation mode, with dropout of 0\.2 all the same/],
        ['part', /by a model in evaluation mode, with dropout of 0\.2 all the same/],
      ] as const
    ).map(([way, says]) => [
      `an evaluation with dropout: ${way}`,
      { ...evaluated(way), found: 'update/evaluation-is-without-dropout', says },
    ]),
  ),
};
