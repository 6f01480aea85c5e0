// Per-token estimates of KL(policy || reference) from samples of the policy, and their slopes. The estimators are
// those of Schulman 2020 ("Approximating KL divergence"); k3 is DeepSeekMath's equation 4, which is the reverse KL.
import type { KlEstimator, Matrix, Semantics } from '../../vocabulary.ts';
import { cell } from '../shape.ts';

export interface KlVariant {
  readonly estimator: KlEstimator;
  /** Bound on the absolute value of what `clampWhere` names; null: none. */
  readonly clamp: number | null;
  readonly clampWhere: 'log-ratio' | 'estimate' | null;
  /** Multiplied by exp(logprob - old), which keeps the estimate unbiased off policy. */
  readonly ratioCorrection: boolean;
}

/** The clamps found in public trainers: 10 on the estimate (verl, OpenRLHF), 20 on the log-ratio (NeMo-RL, verl). */
const KNOWN_CLAMPS: readonly number[] = [10, 20];
const ESTIMATORS: readonly KlEstimator[] = ['k1', 'k2', 'k3', 'abs'];

/** k1 = -d, k2 = d²/2, k3 = exp(d) - d - 1, abs = |d| (verl) with d = ref - logprob, in nats. */
export function klOf(logprob: number, ref: number, estimator: KlEstimator): number {
  return estimate(ref - logprob, estimator).value;
}

/** Per-token estimates (B, T) of a variant. NaN in, NaN out: the mask is the caller's. */
export function klPerToken(logprobs: Matrix, ref: Matrix, old: Matrix, variant: KlVariant): number[][] {
  return logprobs.map((row, b) =>
    row.map((logprob, t) => klTerm(logprob, cell(ref, b, t), cell(old, b, t), variant).value),
  );
}

/**
 * One token's estimate and its derivative by `logprob`, through the ratio as well. A clamp that binds has slope 0;
 * exactly on the clamp the slope is the unclamped one, as torch.clamp has it.
 */
export function klTerm(
  logprob: number,
  ref: number,
  old: number,
  variant: KlVariant,
): { value: number; slope: number } {
  const bound = variant.clamp ?? Infinity;
  const atRatio = clamp(ref - logprob, variant.clampWhere === 'log-ratio' ? bound : Infinity);
  const raw = estimate(atRatio.value, variant.estimator);
  const atEstimate = clamp(raw.value, variant.clampWhere === 'estimate' ? bound : Infinity);
  const value = atEstimate.value;
  // d = ref - logprob falls as logprob rises.
  const slope = atRatio.bound || atEstimate.bound ? 0 : -raw.slope;
  if (!variant.ratioCorrection) return { value, slope };
  const ratio = Math.exp(logprob - old);
  return { value: times(value, ratio), slope: times(slope + value, ratio) };
}

/**
 * The variants that agree with what is declared, the plain ones first. `asked` is an estimator named in the
 * request and wins over the declared one; what is not declared ranges over what public trainers do.
 */
export function klVariants(semantics: Semantics, asked?: KlEstimator): KlVariant[] {
  const fixed = asked ?? semantics.kl_estimator;
  const estimators = fixed === undefined ? ESTIMATORS : [fixed];
  const corrections =
    semantics.kl_ratio_correction === undefined ? [false, true] : [semantics.kl_ratio_correction];
  return corrections.flatMap((ratioCorrection) =>
    clampsOf(semantics.kl_clamp).flatMap(({ clamp, clampWhere }) =>
      estimators
        // k1 and abs are the log-ratio but for its sign: clamping either is the same.
        .filter((estimator) => !(isLogRatio(estimator) && clampWhere === 'estimate'))
        .map((estimator) => ({ estimator, clamp, clampWhere, ratioCorrection })),
    ),
  );
}

/** "k3, log-ratio clamped to ±20, times the importance ratio". */
export function describeKl(variant: KlVariant): string {
  const parts: string[] = [variant.estimator];
  if (variant.clamp !== null && variant.clampWhere !== null) {
    parts.push(`${variant.clampWhere} clamped to ±${variant.clamp}`);
  }
  if (variant.ratioCorrection) parts.push('times the importance ratio');
  return parts.join(', ');
}

function isLogRatio(estimator: KlEstimator): boolean {
  return estimator === 'k1' || estimator === 'abs';
}

function estimate(d: number, estimator: KlEstimator): { value: number; slope: number } {
  if (estimator === 'k1') return { value: -d, slope: -1 };
  if (estimator === 'k2') return { value: (d * d) / 2, slope: d };
  if (estimator === 'abs') return { value: Math.abs(d), slope: Math.sign(d) };
  // expm1 keeps the digits that exp(d) - 1 loses near 0, where k3 is about d²/2.
  return { value: d === Infinity ? Infinity : Math.expm1(d) - d, slope: Math.expm1(d) };
}

/** x times a ratio that may have overflowed to infinity: nothing of it is nothing. */
function times(x: number, ratio: number): number {
  return x === 0 ? 0 : x * ratio;
}

function clamp(value: number, bound: number): { value: number; bound: boolean } {
  if (value > bound) return { value: bound, bound: true };
  if (value < -bound) return { value: -bound, bound: true };
  return { value, bound: false };
}

function clampsOf(declared: number | null | undefined): Pick<KlVariant, 'clamp' | 'clampWhere'>[] {
  const bounds = declared === undefined ? KNOWN_CLAMPS : declared === null ? [] : [declared];
  const clamped = bounds.flatMap((clamp) => [
    { clamp, clampWhere: 'log-ratio' as const },
    { clamp, clampWhere: 'estimate' as const },
  ]);
  const none = { clamp: null, clampWhere: null };
  return typeof declared === 'number' ? clamped : [none, ...clamped];
}
