// The clipped policy-gradient loss of PPO (Schulman et al. 2017, equation 7) and GRPO (DeepSeekMath, equation 3) with a
// KL term, and its gradient by each token's log-probability; also with one ratio a sequence (GSPO) and with a dual clip.
// No entropy bonus.
import type { Matrix, RatioLevel } from '../../vocabulary.ts';
import { type KlVariant, klOfRow, klTerm } from '../scores/kl.ts';
import { at, cell, misuse } from '../shape.ts';
import { type Aggregation, selected, tokenFactors } from './aggregation.ts';
import { meanOfParts, pick, type TokenLoss } from './parts.ts';

/** Matrices are (B, T), token-aligned; advantages (B,). */
export interface PolicyLossInput {
  readonly logprobs: Matrix;
  readonly old_logprobs: Matrix;
  readonly ref_logprobs: Matrix;
  readonly advantages: readonly number[];
  readonly mask: Matrix;
}

export interface LossSettings extends Aggregation {
  /** The ratio is clipped to [1 - clipLow, 1 + clipHigh]; Infinity: not clipped on that side. */
  readonly clipLow: number;
  readonly clipHigh: number;
  /** beta; with 0, or without `kl`, ref_logprobs are not read. */
  readonly klCoef: number;
  readonly kl: KlVariant | null;
  /**
   * One ratio per token (default), or one a row: exp of the mean masked log-ratio (GSPO, Zheng et al. 2025, equation 7); or
   * none, -A times the log-probability (REINFORCE, Williams 1992, equation 11), whatever old_logprobs and clip are.
   */
  readonly ratioLevel?: RatioLevel;
  /** Without a ratio: the loss is reported as -A, from exp(logprob - logprob held without gradient). */
  readonly detached?: boolean;
  /** `clip` (default), or CISPO's clipped ratio without gradient times the log-probability (MiniMax-M1 2025, equation 4). */
  readonly objective?: 'clip' | 'cispo';
  /** The log-ratio is kept within this of 0 before exp, without gradient beyond. Default: no bound. */
  readonly logRatioClamp?: number;
  /** Where the advantage is negative the ratio counts at most this much (Ye et al. 2020, equation 5). Default: no bound. */
  readonly dualClip?: number;
}

/** Weights are dL/dlogprobs. */
export type PolicyLoss = TokenLoss;

/**
 * L_t = -min(r A, clip(r, 1 - low, 1 + high) A) + beta KL_t with r = exp(logprobs - old_logprobs), aggregated.
 * Where the clip binds the weight has no policy part. Exactly on the boundary min() has a corner, and the weight is
 * the unclipped side's, -r A, as torch computes it; a subgradient check must stay off that point.
 */
export function policyLoss(input: PolicyLossInput, settings: LossSettings): PolicyLoss {
  if (settings.clipLow < 0 || settings.clipHigh < 0) {
    throw misuse('bad_argument', `clip widths are ${settings.clipLow} and ${settings.clipHigh}, below 0`);
  }
  const factors = tokenFactors(input.mask, settings);
  const rowLoss = settings.ratioLevel === 'sequence' ? sequenceRow : tokenRow;
  const { kl, klCoef } = settings;
  const ofRows = kl?.ofRow !== undefined && klCoef !== 0;
  const rows = input.mask.map((_, b) =>
    ofRows
      ? withKlOfRow(
          input,
          settings,
          kl,
          at(factors, b),
          b,
          rowLoss(input, { ...settings, kl: null }, at(factors, b), b),
        )
      : rowLoss(input, settings, at(factors, b), b),
  );
  return {
    // + 0 turns -0 into 0, so that numbers compare as they look.
    loss: rows.reduce((total, { loss }) => total + loss, 0) + 0,
    weights: rows.map(({ weights }) => weights.map((weight) => weight + 0)),
    tokens: input.mask.flat().filter(selected).length,
  };
}

/** What a trainer with `loss_normalization: local` arrives at: each micro-batch (row indices) is aggregated alone. */
export function localPolicyLoss(
  input: PolicyLossInput,
  settings: LossSettings,
  microBatches: readonly (readonly number[])[],
): PolicyLoss {
  return meanOfParts(input.mask, microBatches, (rows) => policyLoss(rowsOf(input, rows), settings));
}

/** The input restricted to some rows, in the order given. */
export function rowsOf(input: PolicyLossInput, rows: readonly number[]): PolicyLossInput {
  return {
    logprobs: pick(input.logprobs, rows),
    old_logprobs: pick(input.old_logprobs, rows),
    ref_logprobs: pick(input.ref_logprobs, rows),
    advantages: pick(input.advantages, rows),
    mask: pick(input.mask, rows),
  };
}

interface RowLoss {
  /** The row's share of the loss. */
  readonly loss: number;
  readonly weights: readonly number[];
}

function tokenRow(
  input: PolicyLossInput,
  settings: LossSettings,
  factors: readonly number[],
  b: number,
): RowLoss {
  let loss = 0;
  const weights = at(input.mask, b).map((m, t) => {
    if (!selected(m)) return 0;
    const logprob = cell(input.logprobs, b, t);
    const old = cell(input.old_logprobs, b, t);
    const policy = tokenPolicy(logprob, old, at(input.advantages, b), settings);
    const kl = penalty(input, settings, b, t);
    loss += at(factors, t) * (policy.value + kl.value);
    return at(factors, t) * (policy.slope + kl.slope);
  });
  return { loss, weights };
}

/**
 * Every token carries the row's -min(s A, clip(s) A); ds/dlogprob = s / n, so that all of them share its slope. A KL
 * that is multiplied by the ratio is multiplied by s, and moves every token through it, as in TRL.
 */
function sequenceRow(
  input: PolicyLossInput,
  settings: LossSettings,
  factors: readonly number[],
  b: number,
): RowLoss {
  const mask = at(input.mask, b);
  const places = mask.flatMap((m, t) => (selected(m) ? [t] : []));
  const logRatios = places.map((t) => cell(input.logprobs, b, t) - cell(input.old_logprobs, b, t));
  const { logRatioClamp = Infinity } = settings;
  const mean = logRatios.reduce((sum, x) => sum + x, 0) / places.length;
  const logRatio = Math.min(Math.max(mean, -logRatioClamp), logRatioClamp);
  const { value, slope } = surrogate(Math.exp(logRatio), at(input.advantages, b), settings);
  const policy = { value, slope: logRatio === mean ? slope : 0 };
  const corrected = settings.kl?.ratioCorrection === true;
  const plain =
    corrected && settings.kl ? { ...settings, kl: { ...settings.kl, ratioCorrection: false } } : settings;
  // The clamp is the policy term's: what corrects the KL is the ratio itself, as for tokens.
  const scale = corrected ? Math.exp(mean) : 1;
  let [loss, shared] = [0, 0];
  for (const t of places) {
    const kl = penalty(input, plain, b, t);
    loss += at(factors, t) * (policy.value + scale * kl.value);
    shared += at(factors, t) * (policy.slope + (corrected ? scale * kl.value : 0));
  }
  const weights = mask.map((m, t) =>
    selected(m) ? shared / places.length + at(factors, t) * scale * penalty(input, plain, b, t).slope : 0,
  );
  return { loss, weights };
}

/** With beta times the KL that is estimated of the whole row, which its tokens share. */
function withKlOfRow(
  { logprobs, ref_logprobs, mask }: PolicyLossInput,
  { klCoef }: LossSettings,
  kl: KlVariant,
  factors: readonly number[],
  b: number,
  { loss, weights }: RowLoss,
): RowLoss {
  const own = at(mask, b);
  const { value, slope } = klOfRow(at(logprobs, b), at(ref_logprobs, b), own, kl);
  const counted = kl.over === 'rows with tokens' ? mask.filter((row) => row.some(selected)) : mask;
  const share =
    kl.over === undefined || kl.over === 'tokens'
      ? own.reduce((sum, m, t) => sum + (selected(m) ? at(factors, t) : 0), 0)
      : 1 / Math.max(1, counted.length);
  return {
    loss: loss + klCoef * share * value,
    weights: weights.map((weight, t) => weight + (selected(at(own, t)) ? klCoef * share * slope : 0)),
  };
}

/** beta times the KL term of one token, and its slope. */
function penalty(
  input: PolicyLossInput,
  { kl, klCoef }: LossSettings,
  b: number,
  t: number,
): { value: number; slope: number } {
  if (kl === null || klCoef === 0) return { value: 0, slope: 0 };
  const logprob = cell(input.logprobs, b, t);
  const { value, slope } = klTerm(
    logprob,
    cell(input.ref_logprobs, b, t),
    cell(input.old_logprobs, b, t),
    kl,
  );
  return { value: klCoef * value, slope: klCoef * slope };
}

/** The policy part of one token with a ratio of its own. */
function tokenPolicy(
  logprob: number,
  old: number,
  advantage: number,
  settings: LossSettings,
): { value: number; slope: number } {
  if (settings.ratioLevel === 'none')
    return { value: -advantage * (settings.detached ? 1 : logprob), slope: -advantage };
  const { logRatioClamp = Infinity } = settings;
  const logRatio = Math.min(Math.max(logprob - old, -logRatioClamp), logRatioClamp);
  const ratio = Math.exp(logRatio);
  if (settings.objective === 'cispo') {
    const held = clipped(ratio, settings);
    return { value: -held * advantage * logprob, slope: -held * advantage };
  }
  const { value, slope } = surrogate(ratio, advantage, settings);
  return { value, slope: logRatio === logprob - old ? slope : 0 };
}

const clipped = (ratio: number, { clipLow, clipHigh }: LossSettings): number =>
  Math.min(Math.max(ratio, 1 - clipLow), 1 + clipHigh);

/** -min(r A, clip(r) A) and its derivative by logprob, where dr/dlogprob = r. */
function surrogate(
  ratio: number,
  advantage: number,
  settings: LossSettings,
): { value: number; slope: number } {
  // Also for a ratio that overflowed: infinity times no advantage is none.
  if (advantage === 0) return { value: 0, slope: 0 };
  const { dualClip = Infinity } = settings;
  if (advantage < 0 && ratio > dualClip) return { value: -dualClip * advantage, slope: 0 };
  const held = clipped(ratio, settings);
  if (held * advantage < ratio * advantage) return { value: -held * advantage, slope: 0 };
  return { value: -ratio * advantage, slope: -ratio * advantage };
}
