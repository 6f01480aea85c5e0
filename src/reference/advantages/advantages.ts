// Group-relative advantages: A = (r - mean of its group) / (std + epsilon), DeepSeekMath section 4.1.2 (GRPO), and its
// relatives: `none` leaves the difference undivided (Liu et al. 2025, Dr. GRPO), leave-one-out takes the mean of the
// others (Ahmadian et al. 2024, RLOO), length-weighted one of tokens (Hao et al. 2025, OPO), `batch` divides by one
// deviation for all (REINFORCE++). No whitening over tokens.
import { CHOICES, type Semantics } from '../../vocabulary.ts';
import { at, misuse } from '../shape.ts';

export interface AdvantageVariant {
  /** Degrees of freedom subtracted in the standard deviation; between 0 and 1, 1/n, where it is one over n tokens per row. */
  readonly ddof: number;
  readonly epsilon: number;
  readonly scaling: 'group' | 'batch' | 'none';
  /** Added to the standard deviation (default), or to the variance under its root. */
  readonly placement?: 'std' | 'variance';
  /** Subtracted from the reward; default `group-mean`. */
  readonly baseline?: NonNullable<Semantics['advantage_baseline']>;
  /** Where the deviation is below this, advantages are 0; default 0. */
  readonly least?: number;
  /** What `batch` scaling takes the deviation of: the rewards (default), or what is left of them after the baseline. */
  readonly batchOf?: 'rewards' | 'centred';
}

/** Found in public trainers: 1e-4 TRL, 1e-6 verl, 1e-9 OpenRLHF, the others in smaller ones. */
const KNOWN_EPSILONS: readonly number[] = [1e-4, 1e-6, 1e-9, 1e-8, 1e-5, 1e-3, 1e-2, 0];

/**
 * Advantages (B,) of rewards (B,) whose group is named by the equal ids of (B,), in any order. Where nothing is left
 * after a baseline of equal rewards (the group's, or the batch's under `batch-mean`) they are exactly 0: the test is
 * max = min, since rounding leaves the standard deviation of equal float32 rewards above 0. So is a group of one.
 * `lengths` (B,) are those of the completions, by which a length-weighted baseline weighs; default: all alike.
 */
export function groupAdvantages(
  rewards: readonly number[],
  groupIds: readonly number[],
  variant: AdvantageVariant,
  lengths?: readonly number[],
): number[] {
  return spreads(rewards, groupIds, variant, lengths).map(({ centred, deviation: std }) => {
    if (centred === 0) return 0;
    if (variant.scaling === 'none') return centred;
    if (std < (variant.least ?? 0)) return 0;
    return centred / divisor(std, variant);
  });
}

/**
 * The variant with the epsilon that the observed advantages imply, at most `largest`; itself where none follows. It is
 * read off the row with the smallest deviation, where an epsilon shows most; whether it fits the others is to be checked.
 */
export function withImpliedEpsilon(
  rewards: readonly number[],
  groupIds: readonly number[],
  observed: readonly number[],
  variant: AdvantageVariant,
  largest: number,
  lengths?: readonly number[],
): AdvantageVariant {
  const telling = spreads(rewards, groupIds, variant, lengths).flatMap(({ centred, deviation: std }, row) => {
    const total = centred / at(observed, row);
    return centred !== 0 && Number.isFinite(total) && total > 0 ? [{ std, total }] : [];
  });
  const [first] = telling.sort((a, b) => a.std - b.std);
  if (first === undefined || variant.scaling === 'none') return variant;
  const { std, total } = first;
  const epsilon = variant.placement === 'variance' ? total ** 2 - std ** 2 : total - std;
  return { ...variant, epsilon: Math.min(largest, Math.max(0, epsilon)) };
}

/**
 * The variant, which scales by the batch, with the degrees of freedom that the observed advantages imply; itself where
 * they are not between 0 and 1. A deviation over the tokens of rows, n in each, takes one off n times as many.
 */
export function withImpliedDdof(
  rewards: readonly number[],
  groupIds: readonly number[],
  observed: readonly number[],
  variant: AdvantageVariant,
  lengths?: readonly number[],
): AdvantageVariant {
  const rows = spreads(rewards, groupIds, { ...variant, ddof: 0 }, lengths);
  const far = rows.reduce(
    (best, { centred }, row) => (Math.abs(centred) > Math.abs(rows[best]?.centred ?? 0) ? row : best),
    0,
  );
  const { centred, deviation: std } = rows[far] ?? { centred: 0, deviation: 0 };
  const total = centred / at(observed, far);
  const { epsilon, placement } = variant;
  const squared = placement === 'variance' ? total ** 2 - epsilon : (total - epsilon) ** 2;
  const ddof = rewards.length * (1 - std ** 2 / squared);
  return total > 0 && ddof > 0 && ddof < 1 ? { ...variant, ddof } : variant;
}

/** The variants that agree with what is declared; without scaling, ddof and epsilon have no effect and appear once. */
export function advantageVariants(semantics: Semantics): AdvantageVariant[] {
  const { advantage_ddof, advantage_epsilon, advantage_scaling } = semantics;
  const ddofs = advantage_ddof === undefined ? ([1, 0] as const) : [advantage_ddof];
  const epsilons = advantage_epsilon === undefined ? KNOWN_EPSILONS : [advantage_epsilon];
  const scalings = advantage_scaling === undefined ? CHOICES.advantage_scaling.values : [advantage_scaling];
  return scalings.flatMap((scaling) =>
    baselinesOf(semantics, scaling).flatMap((baseline): AdvantageVariant[] => {
      const least = semantics.advantage_min_std;
      const plain = {
        ddof: at(ddofs, 0),
        epsilon: at(epsilons, 0),
        scaling,
        baseline,
        ...(least === undefined ? {} : { least }),
      };
      if (scaling === 'none') return [plain];
      // The batch's deviation is the same before and after a baseline that is one number for all.
      const same = baseline === 'batch-mean' || baseline === 'none';
      const batches =
        scaling === 'batch' && !same
          ? [{ batchOf: 'rewards' as const }, { batchOf: 'centred' as const }]
          : [{}];
      return batches.flatMap((batch) =>
        ddofs.flatMap((ddof) =>
          epsilons.flatMap((epsilon) =>
            placementsOf(semantics, epsilon).map((placement) => ({
              ...plain,
              ...batch,
              ddof,
              epsilon,
              placement,
            })),
          ),
        ),
      );
    }),
  );
}

/** "(reward - group mean) / (group standard deviation, ddof 1, + 0.0001)". */
export function describeAdvantage(variant: AdvantageVariant): string {
  const centred = BASELINES[variant.baseline ?? 'group-mean'];
  if (variant.scaling === 'none') return `${centred}, not scaled`;
  const of = variant.batchOf === 'centred' ? ' of rewards less their baseline' : '';
  const tokens = Number.isInteger(variant.ddof) ? '' : ' over tokens';
  const spread = `${variant.scaling} standard deviation${of}${tokens}, ddof ${tokens === '' ? variant.ddof : 1}`;
  return variant.placement === 'variance'
    ? `${centred} / (${spread}, with ${variant.epsilon} under the root)`
    : `${centred} / (${spread}, + ${variant.epsilon})`;
}

const BASELINES: Readonly<Record<NonNullable<AdvantageVariant['baseline']>, string>> = {
  'group-mean': '(reward - group mean)',
  'leave-one-out': "(reward - mean of the group's others)",
  'leave-one-out-max': "(best of the group - best of the group's others)",
  'length-weighted': '(reward - group mean weighted by length)',
  'batch-mean': '(reward - batch mean)',
  none: 'reward',
};

/** Undeclared, one over the group; but for its mean, none is anywhere divided by its own group's deviation. */
function baselinesOf(
  semantics: Semantics,
  scaling: AdvantageVariant['scaling'],
): readonly NonNullable<AdvantageVariant['baseline']>[] {
  if (semantics.advantage_baseline !== undefined) return [semantics.advantage_baseline];
  return scaling === 'group' ? ['group-mean'] : ['group-mean', 'leave-one-out', 'length-weighted'];
}

function placementsOf(semantics: Semantics, epsilon: number): readonly ('std' | 'variance')[] {
  if (semantics.advantage_epsilon_placement !== undefined) return [semantics.advantage_epsilon_placement];
  return epsilon === 0 ? ['std'] : CHOICES.advantage_epsilon_placement.values;
}

function divisor(std: number, { epsilon, placement }: AdvantageVariant): number {
  return placement === 'variance' ? Math.sqrt(std ** 2 + epsilon) : std + epsilon;
}

/** Each row's reward less its baseline, and the deviation that divides it. */
function spreads(
  rewards: readonly number[],
  groupIds: readonly number[],
  { baseline = 'group-mean', scaling, ddof, batchOf }: AdvantageVariant,
  lengths: readonly number[] = rewards.map(() => 1),
): { centred: number; deviation: number }[] {
  if (rewards.length !== groupIds.length) {
    throw misuse('bad_shape', `${rewards.length} rewards, but ${groupIds.length} group ids`);
  }
  if (rewards.length !== lengths.length) {
    throw misuse('bad_shape', `${rewards.length} rewards, but ${lengths.length} lengths`);
  }
  const rowsOf = new Map<number, number[]>();
  groupIds.forEach((id, row) => {
    const rows = rowsOf.get(id);
    if (rows === undefined) rowsOf.set(id, [row]);
    else rows.push(row);
  });
  // Once per group, not per row: a group may have hundreds of rows, and a mistake is looked for among hundreds of variants.
  const groups = new Map(
    [...rowsOf].map(([id, rows]) => [
      id,
      groupOf(rows, rewards, ddof, baseline === 'length-weighted' ? lengths : undefined),
    ]),
  );
  const whole = groupOf(
    rewards.map((_, row) => row),
    rewards,
    ddof,
  );
  const ofRow = (row: number): Group => groups.get(at(groupIds, row)) ?? whole;
  const centred = rewards.map((reward, row) => {
    if (baseline === 'none') return reward;
    const own = baseline === 'batch-mean' ? whole : ofRow(row);
    if (own.isEqual) return 0;
    // What a row adds to the best of its group: nothing, but for the best (pass@k, Tang et al. 2025).
    if (baseline === 'leave-one-out-max') {
      const others = own.rows.flatMap((other) => (other === row ? [] : [at(rewards, other)]));
      return Math.max(...own.rewards) - Math.max(...others);
    }
    const difference = reward - own.mean;
    // r minus the mean of the G - 1 others is G / (G - 1) times r minus the mean of all.
    return baseline === 'leave-one-out' ? difference * (own.rows.length / (own.rows.length - 1)) : difference;
  });
  const batch = deviation(batchOf === 'centred' ? centred : rewards, ddof);
  return centred.map((value, row) => ({
    centred: value,
    deviation: scaling === 'batch' ? batch : ofRow(row).deviation,
  }));
}

interface Group {
  readonly rows: readonly number[];
  readonly rewards: readonly number[];
  readonly isEqual: boolean;
  /** Weighted, where there are weights. */
  readonly mean: number;
  readonly deviation: number;
}

function groupOf(
  rows: readonly number[],
  all: readonly number[],
  ddof: number,
  weights?: readonly number[],
): Group {
  const rewards = rows.map((row) => at(all, row));
  return {
    rows,
    rewards,
    isEqual: rewards.every((reward) => reward === rewards[0]),
    mean:
      weights === undefined
        ? mean(rewards)
        : weightedMean(
            rewards,
            rows.map((row) => at(weights, row)),
          ),
    deviation: deviation(rewards, ddof),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function weightedMean(values: readonly number[], weights: readonly number[]): number {
  const weighted = values.reduce((sum, value, each) => sum + value * at(weights, each), 0);
  return weighted / weights.reduce((sum, weight) => sum + weight, 0);
}

/** Two passes, so that rewards around 1e8 keep their digits. 0 where it is undefined (too few values). */
function deviation(values: readonly number[], ddof: number): number {
  if (values.length <= ddof) return 0;
  const centre = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  return Math.sqrt(squares / (values.length - ddof));
}
