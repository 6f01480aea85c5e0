// The gap of a set of rollouts: what it is, where it is, and why. Pure: a function of rows that were read.
import { type Analysis, analyse, LEAST_ROWS, LEAST_TOKENS, MOST_NOISE_RMS } from './analyse.ts';
import { type Breakdown, breakdowns, type Comparison, compare } from './compare.ts';
import { type Against, departs, type SideName, sidesOf } from './model.ts';
import { type Picture, pictureOf } from './picture.ts';
import type { Complaint } from './read/logprobs.ts';
import type { Names, Rollout } from './read/read.ts';
import { tokensOf } from './tokens.ts';
import { type Training, trainingOf } from './training.ts';

export interface Gap {
  readonly names: Names;
  readonly comparison: Comparison;
  readonly breakdowns: readonly Breakdown[];
  readonly training: Training;
  readonly analysis: Analysis;
  readonly picture: Picture;
  /** The side that no file has, for which the model's log-probabilities stand. */
  readonly missing?: SideName;
  /** What the model itself moves by in its dtype, where that is why a large gap is noise. */
  readonly roundingRms?: number;
}

/** @param beside where one side is the model's: which, and the analysis of the other. */
export function gapOf(
  rollouts: readonly Rollout[],
  beside?: { readonly missing: SideName; readonly analysis: Analysis },
): Gap | Complaint {
  const [first] = rollouts;
  const tokens = tokensOf(rollouts);
  if (first === undefined || rollouts.length < LEAST_ROWS || tokens.count < LEAST_TOKENS)
    return {
      complaint: `${rollouts.length} rows with ${tokens.count} tokens of the policy are too few to tell a cause from chance; at least ${LEAST_ROWS} rows and ${LEAST_TOKENS} tokens are needed`,
    };
  return {
    names: first.names,
    comparison: compare(tokens),
    breakdowns: breakdowns(tokens),
    training: trainingOf(tokens),
    analysis: beside?.analysis ?? analyse(tokens),
    picture: pictureOf(tokens, rollouts),
    ...(beside === undefined ? {} : { missing: beside.missing }),
  };
}

/** A gap that no cause predicts, of sides that agree with the model: it is the model's own rounding, if it is not much larger. */
export function withModel(gap: Gap, against: Against): Gap {
  const { analysis, comparison } = gap;
  const { roundingRms = 0 } = against;
  const sides = sidesOf(against).map(({ side }) => side);
  if (analysis.verdict === 'cause' || comparison.rms <= MOST_NOISE_RMS || sides.some(departs)) return gap;
  if (comparison.rms > TIMES_ROUNDING * roundingRms) return gap;
  return { ...gap, analysis: { ...analysis, verdict: 'noise' }, roundingRms };
}

/** Two sides that round apart from each other: each as far from the model as the other. */
const TIMES_ROUNDING = 2;
