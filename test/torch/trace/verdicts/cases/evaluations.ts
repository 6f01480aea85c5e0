// Evaluations between steps: with dropout or without, and of which rows; and rows that are longer than what is declared.
import { ANSWERS } from '../correct.ts';
import { PAIRS, TEXTS } from '../data.ts';
import type { Cases } from '../kinds.ts';

const evaluated = (
  way: string,
  options = ANSWERS,
): { words: string; data: typeof PAIRS; options: string } => ({
  words: `steps/evaluated.py --data {data} --way ${way}`,
  data: PAIRS,
  options,
});

const heldOut = (way: string): ReturnType<typeof evaluated> => ({
  words: `steps/held_out.py --data {data} --way ${way}`,
  data: PAIRS,
  // Rows that are cut to one length are none of the data set's.
  options: way === 'short' ? '--strict' : `${ANSWERS} --strict`,
});

const limited = (way: string): { words: string; data: typeof TEXTS; options: string } => ({
  words: `steps/limits.py --data {data} --output {out} --way ${way}`,
  data: TEXTS,
  options: '',
});

export const evaluations: Cases = {
  clean: Object.fromEntries([
    ...['apart', 'scored', 'short', 'some', 'checkpointed'].map((way) => [
      `an evaluation of rows: ${way}`,
      {
        ...heldOut(way),
        ...(way === 'some' ? { says: /1 of 2 rows that are evaluated is trained as well/ } : {}),
      },
    ]),
    ...['cut', 'packed', 'unlimited', 'usual', 'sampled'].map((way) => [
      `a declared length: ${way}`,
      limited(way),
    ]),
    ...['eval', 'gated', 'gated-attention', 'no-dropout', 'tried-out', 'scored-in-each', 'checkpointed'].map(
      (way) => [`an evaluation after each step: ${way}`, evaluated(way, `${ANSWERS} --strict --steps 3`)],
    ),
  ]),
  faulty: Object.fromEntries([
    ...(
      [
        ['same', /All 2 rows that are evaluated are trained as well/],
        ['subset', /The row that is evaluated is trained as well/],
        ['shuffled', /All 2 rows that are evaluated are trained as well/],
      ] as const
    ).map(([way, says]) => [
      `an evaluation of rows, in a strict run: ${way}`,
      { ...heldOut(way), found: 'loader/evaluated-rows-are-not-trained', says },
    ]),
    ...(
      [
        ['prepared', /2 trained rows are longer than max_length=10: .* has \d+ tokens/],
        ['collated', /4 trained rows are longer than max_length=10/],
        ['sampled-longer', /trained completions? (is|are) longer than max_completion_length=10/],
      ] as const
    ).map(([way, says]) => [
      `a declared length that is passed by: ${way}`,
      { ...limited(way), found: 'trace/rows-fit-the-declared-length', says },
    ]),
    ...(
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
  ]),
};
