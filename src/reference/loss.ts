// The clipped policy-gradient loss of PPO (Schulman et al. 2017, equation 7) and GRPO (DeepSeekMath, equation 3) with a
// KL term, and its gradient by each token's log-probability. No entropy bonus, dual clip or sequence-level ratio.
import type { Matrix } from '../vocabulary.ts';
import { type Aggregation, selected, tokenFactors } from './aggregation.ts';
import { type KlVariant, klTerm } from './kl.ts';
import { at, cell, misuse } from './shape.ts';

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
}

export interface PolicyLoss {
  readonly loss: number;
  /** dL/dlogprobs (B, T), 0 outside the mask. */
  readonly weights: number[][];
  /** Number of tokens in the mask. */
  readonly tokens: number;
}

/**
 * L_t = -min(r A, clip(r, 1 - low, 1 + high) A) + beta KL_t with r = exp(logprobs - old_logprobs), aggregated.
 * Where the clip binds the weight has no policy part. Exactly on the boundary min() has a corner, and the weight is
 * the unclipped side's, -r A, as torch computes it; a subgradient check must stay off that point.
 */
export function policyLoss(input: PolicyLossInput, settings: LossSettings): PolicyLoss {
  const factors = tokenFactors(input.mask, settings);
  let loss = 0;
  let tokens = 0;
  const weights = input.mask.map((row, b) =>
    row.map((m, t) => {
      if (!selected(m)) return 0;
      const term = tokenLoss(input, settings, b, t);
      const factor = cell(factors, b, t);
      tokens += 1;
      loss += factor * term.value;
      // + 0 turns -0 into 0, so that weights compare as numbers do.
      return factor * term.slope + 0;
    }),
  );
  return { loss: loss + 0, weights, tokens };
}

/**
 * What a trainer with `loss_normalization: local` arrives at: each micro-batch (row indices) is aggregated alone
 * and the K losses are averaged. It depends on the partition, which is the point (bug LOSS-01 where not declared).
 */
export function localPolicyLoss(
  input: PolicyLossInput,
  settings: LossSettings,
  microBatches: readonly (readonly number[])[],
): PolicyLoss {
  const share = 1 / microBatches.length;
  const weights = input.mask.map((row) => row.map(() => 0));
  let loss = 0;
  let tokens = 0;
  for (const rows of microBatches) {
    const part = policyLoss(rowsOf(input, rows), settings);
    loss += share * part.loss;
    tokens += part.tokens;
    rows.forEach((b, i) => {
      weights[b] = at(part.weights, i).map((weight) => share * weight);
    });
  }
  return { loss, weights, tokens };
}

/** The input restricted to some rows, in the order given. */
export function rowsOf(input: PolicyLossInput, rows: readonly number[]): PolicyLossInput {
  const pick = <T>(list: readonly T[]): T[] => rows.map((b) => at(list, b));
  return {
    logprobs: pick(input.logprobs),
    old_logprobs: pick(input.old_logprobs),
    ref_logprobs: pick(input.ref_logprobs),
    advantages: pick(input.advantages),
    mask: pick(input.mask),
  };
}

function tokenLoss(
  input: PolicyLossInput,
  settings: LossSettings,
  b: number,
  t: number,
): { value: number; slope: number } {
  if (settings.clipLow < 0 || settings.clipHigh < 0) {
    throw misuse('bad_argument', `clip widths are ${settings.clipLow} and ${settings.clipHigh}, below 0`);
  }
  const logprob = cell(input.logprobs, b, t);
  const old = cell(input.old_logprobs, b, t);
  const policy = surrogate(Math.exp(logprob - old), at(input.advantages, b), settings);
  if (settings.kl === null || settings.klCoef === 0) return policy;
  const kl = klTerm(logprob, cell(input.ref_logprobs, b, t), old, settings.kl);
  return {
    value: policy.value + settings.klCoef * kl.value,
    slope: policy.slope + settings.klCoef * kl.slope,
  };
}

/** -min(r A, clip(r) A) and its derivative by logprob, where dr/dlogprob = r. */
function surrogate(
  ratio: number,
  advantage: number,
  settings: LossSettings,
): { value: number; slope: number } {
  // Also for a ratio that overflowed: infinity times no advantage is none.
  if (advantage === 0) return { value: 0, slope: 0 };
  const clipped = Math.min(Math.max(ratio, 1 - settings.clipLow), 1 + settings.clipHigh);
  if (clipped * advantage < ratio * advantage) return { value: -clipped * advantage, slope: 0 };
  return { value: -ratio * advantage, slope: -ratio * advantage };
}
