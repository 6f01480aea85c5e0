// Losses on completions that are labelled one by one, desirable or not, without pairs: KTO (Ethayarajh et al. 2024, "KTO: Model
// Alignment as Prospect Theoretic Optimization", equation 7) and the unpaired form of APO-zero (D'Oosterlinck et al. 2024,
// "Anchored Preference Optimization", equation 7).
import type { Ragged, Semantics } from '../../vocabulary.ts';
import { at } from '../shape.ts';
import { scoreOf } from './preference-loss.ts';

/** Log-probabilities of completion tokens under policy and reference, nats; all (B, ·). */
export interface UnpairedLossInput {
  readonly logprobs: Ragged;
  readonly ref_logprobs: Ragged;
  /** 1 or 0, (B,). */
  readonly desirable: readonly number[];
  /** Of the same prompts with completions of other rows. */
  readonly kl_logprobs: Ragged;
  readonly ref_kl_logprobs: Ragged;
}

export interface UnpairedSettings {
  readonly objective: NonNullable<Semantics['unpaired_objective']>;
  readonly beta: number;
  readonly desirableWeight: number;
  readonly undesirableWeight: number;
}

export interface UnpairedLoss {
  readonly loss: number;
  /** Of each row, under the KL of the batch; `loss` is their mean. */
  readonly losses: readonly number[];
  /** dloss/dlogprob, (B, ·). */
  readonly weights: Ragged;
  /** The same of `kl_logprobs`: 0, the KL is no part of what is differentiated. */
  readonly kl_weights: Ragged;
  /** What is subtracted from the log-ratios, nats. */
  readonly kl: number;
}

/** The mean over rows of the log-ratios of the KL's completions, (B,): below 0 where it is no KL at all. */
export function meanLogRatio({ kl_logprobs, ref_kl_logprobs }: UnpairedLossInput): number {
  const ratios = kl_logprobs.map((row, b) => scoreOf(row, at(ref_kl_logprobs, b), 'sum'));
  return ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
}

/** With z = max(0, `meanLogRatio`) for kto and 0 for apo_zero, the loss of `unpairedLossAt`. */
export function unpairedLoss(input: UnpairedLossInput, settings: UnpairedSettings): UnpairedLoss {
  const kl = settings.objective === 'kto' ? Math.max(0, meanLogRatio(input)) : 0;
  return unpairedLossAt(input, settings, kl);
}

/**
 * The mean over rows of w (1 - sigmoid(s beta (r - z))), with r the log-ratio of a completion, summed over its tokens, s = 1 and
 * w the desirable weight where it is desirable, s = -1 and w the undesirable weight where it is not; z is a constant.
 */
export function unpairedLossAt(
  { logprobs, ref_logprobs, desirable, kl_logprobs }: UnpairedLossInput,
  { beta, desirableWeight, undesirableWeight }: UnpairedSettings,
  z: number,
): UnpairedLoss {
  const rows = logprobs.map((row, b) => {
    const [sign, weight] = at(desirable, b) === 1 ? [1, desirableWeight] : [-1, undesirableWeight];
    const short = sigmoid(-sign * beta * (scoreOf(row, at(ref_logprobs, b), 'sum') - z));
    return { loss: weight * short, slope: -sign * weight * beta * short * (1 - short) };
  });
  const mean = 1 / rows.length;
  return {
    loss: rows.reduce((sum, { loss }) => sum + loss, 0) * mean,
    losses: rows.map(({ loss }) => loss),
    weights: rows.map(({ slope }, b) => at(logprobs, b).map(() => mean * slope)),
    kl_weights: kl_logprobs.map((row) => row.map(() => 0)),
    kl: z,
  };
}

/** The settings that are declared, or measured; undefined where one of them is not known: each may be any number. */
export function unpairedSettings(semantics: Semantics): UnpairedSettings | undefined {
  const {
    unpaired_objective: objective,
    unpaired_beta: beta,
    desirable_weight: desirableWeight,
    undesirable_weight: undesirableWeight,
  } = semantics;
  if (objective === undefined || beta === undefined) return undefined;
  if (desirableWeight === undefined || undesirableWeight === undefined) return undefined;
  return { objective, beta, desirableWeight, undesirableWeight };
}

/** "kto with beta 0.1, desirable rows times 1, undesirable ones times 1.25". */
export function describeUnpaired(settings: UnpairedSettings): string {
  const { objective, beta, desirableWeight, undesirableWeight } = settings;
  const [b, d, u] = [beta, desirableWeight, undesirableWeight].map((value) => Number(value.toPrecision(6)));
  return `${objective} with beta ${b}, desirable rows times ${d}, undesirable ones times ${u}`;
}

const sigmoid = (x: number): number => (x < 0 ? Math.exp(x) / (1 + Math.exp(x)) : 1 / (1 + Math.exp(-x)));
