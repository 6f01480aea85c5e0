// Logits of golden cases, over a vocabulary of five ids: multiples of 1/8, made by a formula that anybody can follow.
import type { Cube, Matrix } from '../../../vocabulary.ts';

/** Ids of the logits that are handed over. */
export const VOCABULARY = 5;

/** (B, T, V): logit v behind token t of row b is ((7 b + 5 t + 3 v) mod 11) / 8 - 0.5. */
export function logits(rows: number, columns: number): Cube {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
  return numbers(rows).map((b) =>
    numbers(columns).map((t) => numbers(VOCABULARY).map((v) => ((7 * b + 5 * t + 3 * v) % 11) / 8 - 0.5)),
  );
}

/** One full row, and one padded on the left. */
export const INPUT_IDS: Matrix = [
  [1, 4, 2, 3, 1],
  [0, 3, 1, 2, 2],
];
export const ATTENTION: Matrix = [
  [1, 1, 1, 1, 1],
  [0, 1, 1, 1, 1],
];
export const PROMPT_WIDTH = 2;
export const COMPLETIONS: Matrix = [
  [0, 0, 1, 1, 1],
  [0, 0, 1, 1, 0],
];
