// dL/d logprobs of each token: what the optimiser really weighs. Taken from the answer where the trainer gives it,
// by central finite differences otherwise, which needs no autograd on either side.
import type { Args, Ok } from '../protocol/message.ts';
import type { DType, Matrix } from '../vocabulary.ts';
import type { Subject } from './property.ts';
import { discard } from './subject.ts';

/** Exact in binary, small against the curvature of exp on a log-ratio, large against float32's rounding of a loss. */
const STEP = 1 / 64;

export interface Weights {
  readonly loss: number;
  /** (B, T), token-aligned. */
  readonly weights: Matrix;
  /** Below this a weight counts as zero. */
  readonly zero: number;
  /** The weights are finite differences of the loss, not the trainer's own. */
  readonly estimated: boolean;
  readonly trainedTokens: number | undefined;
  readonly metrics: Readonly<Record<string, number>> | undefined;
}

/**
 * dL/d logprob of each token, (B, T): the trainer's own where it answers them, else central differences of its loss,
 * which take two requests per token.
 */
export async function lossWeights(subject: Subject, args: Args<'loss'>): Promise<Weights> {
  const answer: Ok<'loss'> = await subject.ask('loss', args);
  const { loss, loss_weights: given, trained_tokens: trainedTokens, metrics } = answer;
  const rest = { loss, trainedTokens, metrics };
  if (given !== undefined)
    return { ...rest, weights: given, zero: largest(given) * ANALYTIC_NOISE, estimated: false };
  const { weights, error } = await byDifferences(subject, args, loss);
  const zero = Math.max(largest(weights) * DIFFERENCE_NOISE, error);
  return { ...rest, weights, zero, estimated: true };
}

/** What a finding about weights must add where the trainer did not answer them itself. */
export const ESTIMATED_NOTE =
  'The weights are finite differences of the loss; a loss that stops gradients (detach, CISPO) must answer loss_weights.';

/** Shares of the largest weight that rounding can leave behind. */
const ANALYTIC_NOISE = 1e-6;
const DIFFERENCE_NOISE = 1e-3;
/** Unit roundoff of what a loss is computed in: never less than float32, even where the model has half of it. */
const ROUNDOFF = { float64: 2 ** -53, float32: 2 ** -24 };

/** The most that a third derivative is of the second, 3, and what lies behind it. */
const THIRD_BY_SECOND = 4;

/** Bits of a number in half precision, the leading one included. */
const MANTISSA: { readonly [K in DType]?: number } = { bfloat16: 8, float16: 11 };

/** Whether nothing would be lost by writing it in so many bits. */
function roundedTo(bits: number, value: number): boolean {
  if (value === 0 || !Number.isFinite(value)) return true;
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(value))) - bits + 1);
  return Number.isInteger(value / unit);
}

const largest = (matrix: Matrix): number =>
  Math.max(...matrix.flat().map(Math.abs).filter(Number.isFinite), 0);

/** The loss with the log-probability of one token moved by `step`. */
async function lossAt(
  subject: Subject,
  args: Args<'loss'>,
  row: number,
  column: number,
  step: number,
): Promise<number> {
  const logprobs = args.logprobs.map((values, r) =>
    r === row ? values.map((value, c) => (c === column ? value + step : value)) : values,
  );
  return (await subject.ask('loss', { ...args, logprobs })).loss;
}

/** What the slope of the answered loss may be at one token: anything between its slopes to the left and to the right. */
export interface SlopeRange {
  readonly least: number;
  readonly most: number;
  /** How far beyond either end is rounding, or the loss bending more to one side than to the other. */
  readonly slack: number;
}

/**
 * The slopes of the answered loss (not of the answered weights) at each token of the mask; two requests per token. A
 * range, so that the corner of a clip between two steps blames nobody.
 */
export async function slopeRanges(
  subject: Subject,
  args: Args<'loss'>,
  loss: number,
  weights: Matrix,
): Promise<(SlopeRange | undefined)[][]> {
  const noise = noiseOf(subject, args, loss, weights);
  return Promise.all(
    args.completion_mask.map((marks, row) =>
      Promise.all(
        marks.map(async (on, column) => {
          if (on !== 1) return undefined;
          const up = (await lossAt(subject, args, row, column, STEP)) - loss;
          const down = loss - (await lossAt(subject, args, row, column, -STEP));
          const size = Math.max(...[up / STEP, down / STEP, weights[row]?.[column] ?? 0].map(Math.abs));
          const bent = Math.abs(up - down) / STEP > CORNER * STEP * size;
          return {
            least: Math.min(up, down) / STEP,
            most: Math.max(up, down) / STEP,
            slack: noise + (bent ? 2 * STEP : STEP / 2 + UNEVEN) * size,
          };
        }),
      ),
    ),
  );
}

/** How far off a slope may be by rounding. */
function noiseOf({ hello }: Subject, args: Args<'loss'>, loss: number, weights: Matrix): number {
  const roundoff = hello.dtype === 'float64' ? ROUNDOFF.float64 : ROUNDOFF.float32;
  // Terms of either sign may cancel in the sum: each is about as large as its slope, or as the advantage.
  const summed = [Math.abs(loss), ...weights.flat().map(Math.abs), ...args.advantages.map(Math.abs)]
    .filter(Number.isFinite)
    .reduce((total, size) => total + size, 0);
  return (TERMS * roundoff * summed) / STEP;
}

/** So few tokens are asked about one by one: it costs no more than two directions do. */
const FEW_TOKENS = 2;
/** Irrational, so that no two tokens move by the same amount, and weights that change places show. */
const DIRECTIONS = [(Math.sqrt(5) - 1) / 2, Math.SQRT2 - 1] as const;

/** How far the token at this place moves in a direction: 0.5 to 1 of a step, up or down. */
function stepOf(direction: number, at: number): number {
  const turn = (direction * (at + 1)) % 1;
  return (0.5 + turn / 2) * (Math.floor(4 * turn) % 2 === 0 ? 1 : -1);
}

/**
 * Whether the gradient is the slope of the loss along two directions that move all trained tokens at once: a token that is off by
 * itself, or has the weight of another, shows in the sum. Two requests per direction, instead of two per token.
 */
export async function slopesAlongAgree(
  subject: Subject,
  args: Args<'loss'>,
  loss: number,
  weights: Matrix,
): Promise<boolean> {
  const trained = args.completion_mask.flatMap((marks, row) =>
    marks.flatMap((on, column) => (on === 1 ? [{ row, column, weight: weights[row]?.[column] ?? 0 }] : [])),
  );
  if (trained.length <= FEW_TOKENS) return false;
  const size = trained.reduce((sum, { weight }) => sum + Math.abs(weight), 0);
  const noise = noiseOf(subject, args, loss, weights);
  for (const direction of DIRECTIONS) {
    const moves = new Map(trained.map(({ row, column }, at) => [`${row} ${column}`, stepOf(direction, at)]));
    const at = async (step: number): Promise<number> => {
      const logprobs = args.logprobs.map((values, row) =>
        values.map((value, column) => value + step * (moves.get(`${row} ${column}`) ?? 0)),
      );
      return (await subject.ask('loss', { ...args, logprobs })).loss;
    };
    const slope = ((await at(STEP)) - (await at(-STEP))) / (2 * STEP);
    const answered = trained.reduce((sum, { weight }, index) => sum + stepOf(direction, index) * weight, 0);
    // NaN agrees with nothing.
    if (!(Math.abs(slope - answered) <= noise + UNEVEN * size)) return false;
  }
  return true;
}

/** Roundings on the way of a term into the sum. */
const TERMS = 8;
/** A third derivative, as large as the slope and more, over a step: STEP² / 6 of it, and a few times that. */
const UNEVEN = 1e-3;
/**
 * An exponential's slope changes by STEP of itself over a step. A corner on one side, of a clip or of |d|, leaves the range that of the
 * other side alone, without the half step that is missing, and a small one bends the loss no more than an exponential does. Where the
 * slope changes by so many times that, what bends besides the corner may bend more, too.
 */
const CORNER = 4;

/**
 * Slopes, and how far off they may be at most. A central difference errs by STEP²/6 times the third derivative, which
 * for exponentials of a log-probability (ratio, k3) is as large as the second, and three times that for their product,
 * where k3 is 0; and the second is at hand. It is what remains where every slope is 0, on policy with equal rewards. A
 * third more is allowed, and rounding beside it.
 */
async function byDifferences(
  subject: Subject,
  args: Args<'loss'>,
  loss: number,
): Promise<{ weights: number[][]; error: number }> {
  const roundoff = subject.hello.dtype === 'float64' ? ROUNDOFF.float64 : ROUNDOFF.float32;
  let error = (roundoff * Math.abs(loss)) / STEP;
  const losses = [loss];
  const weights = await Promise.all(
    args.logprobs.map((values, row) =>
      Promise.all(
        values.map(async (_, column) => {
          const up = await lossAt(subject, args, row, column, STEP);
          const down = await lossAt(subject, args, row, column, -STEP);
          losses.push(up, down);
          const bend = Math.abs(up + down - 2 * loss) / STEP ** 2;
          if (Number.isFinite(bend)) error = Math.max(error, (THIRD_BY_SECOND * bend * STEP ** 2) / 6);
          // NaN stays: a loss that a small step turns into NaN has no gradient there.
          return (up - down) / (2 * STEP);
        }),
      ),
    ),
  );
  const bits = MANTISSA[subject.hello.dtype ?? 'float32'];
  // The trainer's own weights would be as good as ever; the differences of such numbers are not.
  if (bits !== undefined && losses.some((at) => at !== 0) && losses.every((at) => roundedTo(bits, at)))
    return discard(
      'the loss is rounded to half precision, too coarse for slopes, and loss_weights are not answered',
      'trainer',
    );
  return { weights, error: Number.isFinite(error) ? error : 0 };
}
