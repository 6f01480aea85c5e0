// dL/d logprobs of each token: what the optimiser really weighs. Taken from the answer where the trainer gives it,
// by central finite differences otherwise, which needs no autograd on either side.
import type { Args, Ok } from '../protocol/message.ts';
import type { Matrix } from '../vocabulary.ts';
import type { Subject } from './property.ts';

/** Exact in binary, small against the curvature of exp on a log-ratio, large against float32's rounding of a loss. */
const STEP = 1 / 64;

export interface Weights {
  readonly loss: number;
  /** (B, T), token-aligned. */
  readonly weights: Matrix;
  /** Below this a weight counts as zero. */
  readonly zero: number;
  readonly trainedTokens: number | undefined;
}

export async function lossWeights(subject: Subject, args: Args<'loss'>): Promise<Weights> {
  const answer: Ok<'loss'> = await subject.ask('loss', args);
  const given = answer.loss_weights;
  const weights = given ?? (await byDifferences(subject, args));
  const scale = Math.max(
    ...weights
      .flat()
      .map((weight) => Math.abs(weight))
      .filter(Number.isFinite),
    0,
  );
  return {
    loss: answer.loss,
    weights: weights.map((row) =>
      row.map((weight) => (Number.isNaN(weight) && given === undefined ? 0 : weight)),
    ),
    zero: scale * (given === undefined ? DIFFERENCE_NOISE : ANALYTIC_NOISE),
    trainedTokens: answer.trained_tokens,
  };
}

/** Shares of the largest weight that rounding can leave behind. */
const ANALYTIC_NOISE = 1e-6;
const DIFFERENCE_NOISE = 1e-3;

async function byDifferences(subject: Subject, args: Args<'loss'>): Promise<number[][]> {
  const at = async (row: number, column: number, step: number): Promise<number> => {
    const logprobs = args.logprobs.map((values, r) =>
      r === row ? values.map((value, c) => (c === column ? value + step : value)) : values,
    );
    return (await subject.ask('loss', { ...args, logprobs })).loss;
  };
  return Promise.all(
    args.logprobs.map((values, row) =>
      Promise.all(
        values.map(
          async (_, column) => ((await at(row, column, STEP)) - (await at(row, column, -STEP))) / (2 * STEP),
        ),
      ),
    ),
  );
}
