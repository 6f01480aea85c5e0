// Losses on pairs of a better and a worse completion, and the implicit rewards that they compare. Of one pair: how the
// losses of a batch become one is the caller's.
import type { Semantics } from '../../vocabulary.ts';
import { at, misuse } from '../shape.ts';

export type PreferenceObjective = NonNullable<Semantics['preference_objective']>;

/** Log-probabilities of the completion tokens of one pair, under policy and reference; (n,) and (m,), nats. */
export interface PairNumbers {
  readonly chosen: readonly number[];
  readonly rejected: readonly number[];
  readonly refChosen: readonly number[];
  readonly refRejected: readonly number[];
}

export interface PreferenceSettings {
  readonly objective: PreferenceObjective;
  readonly beta: number;
  /** Share of the pairs that are taken to be labelled the wrong way round. */
  readonly labelSmoothing: number;
  /** What is made of that share: a mixture of both losses (conservative), or one that is unbiased under the noise (robust). */
  readonly smoothing: 'conservative' | 'robust';
  /** SimPO's target margin, divided by beta. */
  readonly gamma: number;
  /** A completion counts by the sum of its tokens, or by their mean. */
  readonly length: 'sum' | 'mean';
}

const isDpo = (objective: PreferenceObjective): boolean => objective === 'dpo' || objective === 'dpo_norm';
/** Whether labels may be smoothed. */
export const isSmoothed = (objective: PreferenceObjective): boolean =>
  isDpo(objective) || objective === 'simpo';
/** Whether it compares means over tokens, and nothing else: of IPO either is in use. */
export const isOfMeans = (objective: PreferenceObjective): boolean =>
  objective === 'dpo_norm' || objective === 'simpo';

/** What trainers smooth labels by where they do not say so (cDPO's examples and the defaults of TRL, OpenRLHF). */
const KNOWN_SMOOTHINGS: readonly number[] = [0, 0.1, 0.01, 0.05, 0.2, 0.3];

/**
 * The loss of one pair, with s a completion's score (`scoreOf`) and d = s(chosen) - s(rejected):
 * dpo -log sigmoid(beta d) (Rafailov et al. 2023, equation 7), and dpo_norm the same of means (Lambert et al. 2024, equation 6), smoothed as in cDPO (Mitchell 2023) or robust DPO
 * (Chowdhury et al. 2024, equation 8); ipo (d - 1/(2 beta))^2 (Azar et al. 2023, equation 17); hinge
 * max(0, 1 - beta d) (SLiC, Zhao et al. 2023, on log-ratios); simpo -log sigmoid(beta (d - gamma)) without a reference
 * (Meng et al. 2024, equation 6, whose gamma is ours times beta).
 */
export function preferenceLoss(pair: PairNumbers, settings: PreferenceSettings): number {
  return preferenceLossAt(marginOf(pair, settings), settings);
}

/** The same of a margin d. */
export function preferenceLossAt(margin: number, settings: PreferenceSettings): number {
  const { objective, beta, gamma } = settings;
  if (objective === 'ipo') return (margin - 1 / (2 * beta)) ** 2;
  if (objective === 'hinge') return Math.max(0, 1 - beta * margin);
  const h = beta * (objective === 'simpo' ? margin - gamma : margin);
  const [right, wrong] = [softplus(-h), softplus(h)];
  const share = settings.labelSmoothing;
  if (settings.smoothing === 'robust') return ((1 - share) * right - share * wrong) / (1 - 2 * share);
  return (1 - share) * right + share * wrong;
}

/** dloss/dd at a margin d; at the corner of a hinge, the slope behind it. */
export function preferenceSlopeAt(margin: number, settings: PreferenceSettings): number {
  const { objective, beta, gamma } = settings;
  if (objective === 'ipo') return 2 * (margin - 1 / (2 * beta));
  if (objective === 'hinge') return beta * margin < 1 ? -beta : 0;
  const h = beta * (objective === 'simpo' ? margin - gamma : margin);
  const [right, wrong] = [-sigmoid(-h), sigmoid(h)];
  const share = settings.labelSmoothing;
  if (settings.smoothing === 'robust')
    return (beta * ((1 - share) * right - share * wrong)) / (1 - 2 * share);
  return beta * ((1 - share) * right + share * wrong);
}

/** s(chosen) - s(rejected), before beta. */
export function marginOf(
  pair: PairNumbers,
  settings: Pick<PreferenceSettings, 'objective' | 'length'>,
): number {
  const withReference = settings.objective !== 'simpo';
  return (
    scoreOf(pair.chosen, withReference ? pair.refChosen : undefined, settings.length) -
    scoreOf(pair.rejected, withReference ? pair.refRejected : undefined, settings.length)
  );
}

/** log policy - log reference of a completion, or log policy alone; summed over its tokens, or their mean. */
export function scoreOf(
  logprobs: readonly number[],
  reference: readonly number[] | undefined,
  length: 'sum' | 'mean',
): number {
  if (logprobs.length === 0) throw misuse('bad_argument', 'a completion without tokens has no score');
  // Token by token: the difference of two large sums would lose digits.
  const total = logprobs.reduce(
    (sum, value, t) => sum + value - (reference === undefined ? 0 : at(reference, t)),
    0,
  );
  return length === 'sum' ? total : total / logprobs.length;
}

/**
 * The settings that agree with what is declared. Sums for dpo and hinge, means for dpo_norm and simpo; ipo either way: sums as its
 * paper writes it and OpenRLHF has it, means as TRL and LLaMA-Factory have it. None where the objective, its beta or
 * SimPO's gamma is not declared: they are numbers without a short list of usual values.
 */
export function preferenceVariants(semantics: Semantics): PreferenceSettings[] {
  const { preference_objective: objective, preference_beta: beta, preference_gamma: gamma } = semantics;
  if (objective === undefined || beta === undefined) return [];
  if (objective === 'simpo' && gamma === undefined) return [];
  const smoothed = isSmoothed(objective);
  const declared = semantics.preference_label_smoothing;
  const shares = !smoothed ? [0] : declared === undefined ? KNOWN_SMOOTHINGS : [declared];
  const lengths =
    objective === 'ipo' ? (['mean', 'sum'] as const) : ([isOfMeans(objective) ? 'mean' : 'sum'] as const);
  return lengths.flatMap((length) =>
    shares.flatMap((labelSmoothing) =>
      (isDpo(objective) && labelSmoothing > 0
        ? (['conservative', 'robust'] as const)
        : (['conservative'] as const)
      ).map((smoothing) => ({ objective, beta, labelSmoothing, smoothing, gamma: gamma ?? 0, length })),
    ),
  );
}

/** "dpo with beta 0.1, over sums of tokens". */
export function describePreference(settings: PreferenceSettings): string {
  const { objective, beta, gamma, labelSmoothing, smoothing, length } = settings;
  return [
    `${objective} with beta ${beta}`,
    ...(objective === 'simpo' ? [`gamma ${gamma}`] : []),
    ...(labelSmoothing > 0 ? [`label smoothing ${labelSmoothing} (${smoothing})`] : []),
    `over ${length}s of tokens`,
  ].join(', ');
}

/** log(1 + exp(x)), finite for every finite x. */
function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}

function sigmoid(x: number): number {
  return Math.exp(-softplus(-x));
}
