// Per-token estimates of KL(policy || reference) from samples of the policy, and their slopes. The estimators are
// those of Schulman 2020 ("Approximating KL divergence"); k3 is DeepSeekMath's equation 4, which is the reverse KL.
import {
  type Clamp,
  type ClampByEstimator,
  KL_ESTIMATORS,
  type KlEstimator,
  type Matrix,
  type Semantics,
} from '../../vocabulary.ts';
import { at, cell } from '../shape.ts';

export interface KlVariant {
  readonly estimator: KlEstimator;
  /** Of what `clampWhere` names, the log-ratio being d; null: none. */
  readonly clamp: Clamp | null;
  readonly clampWhere: 'log-ratio' | 'estimate' | null;
  /** Multiplied by exp(logprob - old), which keeps the estimate unbiased off policy. */
  readonly ratioCorrection: boolean;
  /** Of the mean or the sum of the log-ratios of a row, which all of its tokens carry. Default: each token's own. */
  readonly ofRow?: 'mean' | 'sum';
  /** What a loss has of a row's estimate: each of its tokens carries it (default), or it is one of so many rows. */
  readonly over?: 'tokens' | 'rows' | 'rows with tokens';
  /** Straight through: the value is this variant's, the slope that of k2 without a clamp (verl's `low_var_kl+`). Default: its own. */
  readonly slopeOf?: 'k2';
}

/** The clamps found in public trainers: 10 on the estimate (verl, OpenRLHF), 20 on the log-ratio (NeMo-RL, verl). */
const KNOWN_CLAMPS: readonly number[] = [10, 20];

/** k1 = -d, k2 = d²/2, k3 = exp(d) - d - 1, abs = |d| (verl) with d = ref - logprob, in nats. */
export function klOf(logprob: number, ref: number, estimator: KlEstimator): number {
  return estimate(ref - logprob, estimator).value;
}

/** Per-token estimates (B, T) of a variant. NaN in, NaN out: only what is estimated of a row needs its mask. */
export function klPerToken(
  logprobs: Matrix,
  ref: Matrix,
  old: Matrix,
  variant: KlVariant,
  mask?: Matrix,
): number[][] {
  if (variant.ofRow !== undefined)
    return logprobs.map((row, b) => {
      const { value } = klOfRow(
        row,
        at(ref, b),
        mask === undefined ? row.map(() => 1) : at(mask, b),
        variant,
      );
      return row.map(() => value);
    });
  return logprobs.map((row, b) =>
    row.map((logprob, t) => klTerm(logprob, cell(ref, b, t), cell(old, b, t), variant).value),
  );
}

/** The estimate of a row from the log-ratios of its tokens, and its derivative by each of their log-probabilities. */
export function klOfRow(
  logprobs: readonly number[],
  ref: readonly number[],
  mask: readonly number[],
  variant: KlVariant,
): { value: number; slope: number } {
  const own = logprobs.flatMap((logprob, t) => (at(mask, t) === 0 ? [] : [at(ref, t) - logprob]));
  if (own.length === 0) return { value: 0, slope: 0 };
  const by = variant.ofRow === 'sum' ? 1 : own.length;
  const d = own.reduce((sum, each) => sum + each, 0) / by;
  const { value, slope } = klTerm(0, d, 0, { ...variant, ratioCorrection: false });
  return { value, slope: slope / by };
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
  const bounds = boundsOf(variant.clamp);
  const atRatio = clamp(ref - logprob, variant.clampWhere === 'log-ratio' ? bounds : NO_BOUNDS);
  const raw = estimate(atRatio.value, variant.estimator);
  const atEstimate = clamp(raw.value, variant.clampWhere === 'estimate' ? bounds : NO_BOUNDS);
  const value = atEstimate.value;
  // d = ref - logprob falls as logprob rises.
  const own = atRatio.bound || atEstimate.bound ? 0 : -raw.slope;
  const slope = variant.slopeOf === undefined ? own : -estimate(ref - logprob, variant.slopeOf).slope;
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
  const estimators = fixed === undefined ? KL_ESTIMATORS : [fixed];
  // A ratio of tokens times a KL of rows is nobody's formula: none is known.
  const sequence = semantics.kl_level === 'sequence';
  if (sequence && semantics.kl_ratio_correction === true) return [];
  const levels = sequence ? [{ ofRow: 'mean' as const }, { ofRow: 'sum' as const }] : [{}];
  const corrections = sequence
    ? [false]
    : semantics.kl_ratio_correction === undefined
      ? [false, true]
      : [semantics.kl_ratio_correction];
  const bounded = estimators.flatMap((estimator) =>
    clampsOf(klClampOf(semantics.kl_clamp, estimator))
      .filter(({ clamp, clampWhere }) => !(clampWhere === 'estimate' && isOfTheLogRatio(estimator, clamp)))
      .map((clamped) => ({ estimator, ...clamped })),
  );
  const plainFirst = bounded.sort((a, b) => Number(a.clamp !== null) - Number(b.clamp !== null));
  return corrections.flatMap((ratioCorrection) =>
    plainFirst.flatMap((each) => levels.map((level) => ({ ...each, ratioCorrection, ...level }))),
  );
}

/** Those of them that are descended as k2 straight through. */
export function straightThrough(variants: readonly KlVariant[]): KlVariant[] {
  return variants.flatMap((kl) =>
    kl.ofRow === undefined && !kl.ratioCorrection && kl.estimator !== 'k2'
      ? [{ ...kl, slopeOf: 'k2' as const }]
      : [],
  );
}

/** What `kl_clamp` says of one estimator; undefined where it is not declared. */
export function klClampOf(declared: Semantics['kl_clamp'], estimator: KlEstimator): Clamp | null | undefined {
  return isClampByEstimator(declared) ? (declared[estimator] ?? null) : declared;
}

/** Whether it says so of each estimator by itself. */
export function isClampByEstimator(declared: Semantics['kl_clamp']): declared is ClampByEstimator {
  return typeof declared === 'object' && declared !== null && !Array.isArray(declared);
}

/** "k3, log-ratio clamped to ±20, times the importance ratio". */
export function describeKl(variant: KlVariant): string {
  const parts: string[] = [variant.estimator];
  if (variant.clamp !== null && variant.clampWhere !== null) {
    parts.push(`${variant.clampWhere} clamped to ${clampWords(variant.clamp)}`);
  }
  if (variant.ofRow !== undefined) parts.push(`of the ${variant.ofRow} of a row's log-ratios`);
  if (variant.over?.startsWith('rows')) parts.push(`as a mean over ${variant.over}`);
  if (variant.ratioCorrection) parts.push('times the importance ratio');
  if (variant.slopeOf !== undefined) parts.push(`with the gradient of ${variant.slopeOf}`);
  return parts.join(', ');
}

/** k1 is the log-ratio but for its sign, and so is abs where both sides have one bound: clamping either is the same. */
function isOfTheLogRatio(estimator: KlEstimator, bound: Clamp | null): boolean {
  return estimator === 'k1' || (estimator === 'abs' && !Array.isArray(bound));
}

function clampWords(bound: Clamp): string {
  if (typeof bound === 'number') return `±${bound}`;
  const [low, high] = bound;
  return low === null ? `at most ${high}` : high === null ? `at least ${low}` : `${low} to ${high}`;
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

type Bounds = readonly [low: number, high: number];
const NO_BOUNDS: Bounds = [-Infinity, Infinity];

function boundsOf(bound: Clamp | null): Bounds {
  if (bound === null) return NO_BOUNDS;
  return typeof bound === 'number' ? [-bound, bound] : [bound[0] ?? -Infinity, bound[1] ?? Infinity];
}

function clamp(value: number, [low, high]: Bounds): { value: number; bound: boolean } {
  if (value > high) return { value: high, bound: true };
  if (value < low) return { value: low, bound: true };
  return { value, bound: false };
}

function clampsOf(declared: Clamp | null | undefined): Pick<KlVariant, 'clamp' | 'clampWhere'>[] {
  const bounds = declared === undefined ? KNOWN_CLAMPS : declared === null ? [] : [declared];
  const clamped = bounds.flatMap((clamp) => [
    { clamp, clampWhere: 'log-ratio' as const },
    // Nobody says which way round the log-ratio is that is bounded.
    ...(typeof clamp === 'number' ? [] : [{ clamp: turned(clamp), clampWhere: 'log-ratio' as const }]),
    { clamp, clampWhere: 'estimate' as const },
  ]);
  const none = { clamp: null, clampWhere: null };
  return declared === undefined || declared === null ? [none, ...clamped] : clamped;
}

function turned([low, high]: Exclude<Clamp, number>): Clamp {
  return [high === null ? null : -high, low === null ? null : -low];
}
