// The objective on pairs of a better and a worse completion, with its numbers: solved for on pairs of one token, then
// held against pairs of unequal lengths, references that differ, far margins, and batches.
import { type Pairs, pairNumbers } from '../../../generators/rows/pairs.ts';
import {
  describePreference,
  isSmoothed,
  marginOf,
  type PairNumbers,
  type PreferenceSettings,
  preferenceLoss,
} from '../../../reference/index.ts';
import type { DType, Semantics } from '../../../vocabulary.ts';
import { bandOf, many } from '../../numbers.ts';
import type { Subject } from '../../property.ts';
import { draw, misfitOf, type Probe, type Variant } from '../probe.ts';
import { solvedObjectives } from './preference-loss-solve.ts';

interface ObjectiveWay extends Variant {
  readonly settings: PreferenceSettings;
}

export const preferenceObjective: Probe<Pairs> = {
  id: 'preference_objective',
  items: ['preference_objective', 'preference_beta', 'preference_label_smoothing', 'preference_gamma'],
  ops: ['preference_loss'],
  variants: async (subject) => {
    const { semantics } = subject;
    const {
      preference_beta: beta,
      preference_label_smoothing: smoothing,
      preference_gamma: gamma,
    } = semantics;
    const declared = {
      ...(beta === undefined ? {} : { beta }),
      ...(smoothing === undefined ? {} : { smoothing }),
      ...(gamma === undefined ? {} : { gamma }),
    };
    const at = (margin: number): Promise<number> => lossOf(subject, tied(margin));
    const solved = await solvedObjectives(at, bandOf(subject).relative, declared);
    return (solved.length > 0 ? solved : [USUAL]).map(
      (settings): ObjectiveWay => ({
        name: describePreference(settings),
        items: itemsOf(settings),
        settings,
      }),
    );
  },
  cases: (_, drawn) => [...BY_HAND, ...draw(pairNumbers(), drawn)],
  async fits(subject, given, variants) {
    const observed = await lossOf(subject, given);
    const pairs = numbersOf(given);
    const band = bandOf(subject, pairs.length);
    return (variants as readonly ObjectiveWay[]).map(({ settings }) => {
      const losses = pairs.map((pair) => preferenceLoss(pair, settings));
      const slack = pairs.reduce((sum, pair) => sum + blurOf(subject, pair, settings), 0);
      const total = losses.reduce((sum, loss) => sum + loss, 0);
      const where = `the loss of ${wordsOf(pairs, settings)}`;
      // The mean over pairs, or their sum.
      const tries = [total / pairs.length, total].map((expected) =>
        misfitOf([{ where, expected, observed }], (want) => band.allowed(want) + slack),
      );
      return tries.every((misfit) => misfit !== undefined) ? tries[0] : undefined;
    });
  },
};

async function lossOf(subject: Subject, { rows }: Pairs): Promise<number> {
  const { loss } = await subject.ask('preference_loss', {
    chosen_logprobs: rows.map(({ chosen }) => chosen.map(({ logprob }) => logprob)),
    rejected_logprobs: rows.map(({ rejected }) => rejected.map(({ logprob }) => logprob)),
    ref_chosen_logprobs: rows.map(({ chosen }) => chosen.map(({ ref }) => ref)),
    ref_rejected_logprobs: rows.map(({ rejected }) => rejected.map(({ ref }) => ref)),
  });
  return loss;
}

const numbersOf = ({ rows }: Pairs): PairNumbers[] =>
  rows.map(({ chosen, rejected }) => ({
    chosen: chosen.map(({ logprob }) => logprob),
    rejected: rejected.map(({ logprob }) => logprob),
    refChosen: chosen.map(({ ref }) => ref),
    refRejected: rejected.map(({ ref }) => ref),
  }));

function itemsOf({ objective, beta, labelSmoothing, gamma }: PreferenceSettings): Semantics {
  return {
    preference_objective: objective,
    preference_beta: beta,
    ...(isSmoothed(objective) ? { preference_label_smoothing: labelSmoothing } : {}),
    ...(objective === 'simpo' ? { preference_gamma: gamma } : {}),
  };
}

/** What the rounding of the margin, a small difference of large sums, makes of the loss. */
function blurOf({ hello }: Subject, pair: PairNumbers, settings: PreferenceSettings): number {
  const all = [...pair.chosen, ...pair.rejected, ...pair.refChosen, ...pair.refRejected];
  const off = ROUNDING[hello.dtype ?? 'float32'] * all.reduce((sum, value) => sum + Math.abs(value), 0);
  const [first = 0, ...rest] = pair.chosen;
  const at = (by: number): number => preferenceLoss({ ...pair, chosen: [first + by, ...rest] }, settings);
  return Math.max(Math.abs(at(off) - at(0)), Math.abs(at(-off) - at(0)));
}

function wordsOf(pairs: readonly PairNumbers[], settings: PreferenceSettings): string {
  const [pair] = pairs;
  if (pair === undefined || pairs.length > 1) return `a batch of ${pairs.length} pairs`;
  const margin = Number(marginOf(pair, settings).toPrecision(6));
  return `a pair of ${many(pair.chosen.length, 'chosen token')} and ${pair.rejected.length} rejected, margin ${margin}`;
}

const token = (logprob: number, ref: number) => ({ logprob, ref });
/** One token a completion, the reference alike for both: the margin is the same with a reference and without. */
function tied(margin: number): Pairs {
  const [up, down] = [LOGPROB, LOGPROB - Math.abs(margin)];
  const [chosen, rejected] = margin < 0 ? [down, up] : [up, down];
  return { rows: [{ chosen: [token(chosen, LOGPROB)], rejected: [token(rejected, LOGPROB)] }] };
}

const LOGPROB = -1;
/** Both margins come of the other completion, of the reference, of lengths; and two pairs that must not meet. */
const BY_HAND: readonly Pairs[] = [
  tied(1),
  tied(-2),
  tied(40),
  tied(-40),
  { rows: [{ chosen: [token(-1, -4)], rejected: [token(-1, -1)] }] },
  { rows: [{ chosen: [token(-1, -1)], rejected: [token(-1, -4)] }] },
  { rows: [{ chosen: [token(-2, -1), token(-2, -1), token(-3, -1)], rejected: [token(-2, -3)] }] },
  { rows: [{ chosen: [token(-1, -3)], rejected: [token(-2, -3), token(-4, -1)] }] },
  {
    rows: [
      { chosen: [token(-1, -3)], rejected: [token(-2, -1)] },
      { chosen: [token(-6, -2)], rejected: [token(-1, -3)] },
    ],
  },
];

/** Shown as the closest where the loss gives no number at all. */
const USUAL: PreferenceSettings = {
  objective: 'dpo',
  beta: 0.1,
  labelSmoothing: 0,
  smoothing: 'conservative',
  gamma: 0,
  length: 'sum',
};
/** A rounding of these formats; the bands of the others leave room for it. */
const ROUNDING: Readonly<Record<DType, number>> = {
  float64: 0,
  float32: 0,
  bfloat16: 2 ** -8,
  float16: 2 ** -11,
};
