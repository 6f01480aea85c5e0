// Group-relative advantages: A = (r - mean of its group) / (std + epsilon), DeepSeekMath section 4.1.2 (GRPO).
// `none` leaves the difference undivided (Liu et al. 2025, "Understanding R1-Zero-Like Training", Dr. GRPO);
// `batch` divides by the standard deviation of all rewards. No leave-one-out, no whitening over tokens.
import type { Semantics } from '../vocabulary.ts';
import { at, misuse } from './shape.ts';

export interface AdvantageVariant {
  /** Degrees of freedom subtracted in the standard deviation. */
  readonly ddof: 0 | 1;
  readonly epsilon: number;
  readonly scaling: 'group' | 'batch' | 'none';
}

/** Found in public trainers: 1e-4 TRL, 1e-6 verl, 1e-9 OpenRLHF, the others in smaller ones. */
const KNOWN_EPSILONS: readonly number[] = [1e-4, 1e-6, 1e-9, 1e-8, 1e-5, 1e-3, 0];

/**
 * Advantages (B,) of rewards (B,) whose group is named by the equal ids of (B,), in any order. Equal rewards in
 * a group give exactly 0 (the test is max = min, since rounding leaves the standard deviation of equal float32
 * rewards above 0); so does a group of one, and a batch of one under `batch`.
 */
export function groupAdvantages(
  rewards: readonly number[],
  groupIds: readonly number[],
  variant: AdvantageVariant,
): number[] {
  if (rewards.length !== groupIds.length) {
    throw misuse('bad_shape', `${rewards.length} rewards, but ${groupIds.length} group ids`);
  }
  const groups = new Map<number, number[]>();
  rewards.forEach((reward, row) => {
    const id = at(groupIds, row);
    groups.set(id, [...(groups.get(id) ?? []), reward]);
  });
  const batchScale = deviation(rewards, variant.ddof) + variant.epsilon;
  return rewards.map((reward, row) => {
    const group = groups.get(at(groupIds, row)) ?? [];
    if (group.every((other) => other === group[0])) return 0;
    const centred = reward - mean(group);
    if (variant.scaling === 'none') return centred;
    if (variant.scaling === 'batch') return centred / batchScale;
    return centred / (deviation(group, variant.ddof) + variant.epsilon);
  });
}

/** The variants that agree with what is declared; without scaling, ddof and epsilon have no effect and appear once. */
export function advantageVariants(semantics: Semantics): AdvantageVariant[] {
  const { advantage_ddof, advantage_epsilon, advantage_scaling } = semantics;
  const ddofs = advantage_ddof === undefined ? ([1, 0] as const) : [advantage_ddof];
  const epsilons = advantage_epsilon === undefined ? KNOWN_EPSILONS : [advantage_epsilon];
  const scalings =
    advantage_scaling === undefined ? (['group', 'batch', 'none'] as const) : [advantage_scaling];
  return scalings.flatMap((scaling): AdvantageVariant[] =>
    scaling === 'none'
      ? [{ ddof: at(ddofs, 0), epsilon: at(epsilons, 0), scaling }]
      : ddofs.flatMap((ddof) => epsilons.map((epsilon) => ({ ddof, epsilon, scaling }))),
  );
}

/** "(reward - group mean) / (group standard deviation, ddof 1, + 0.0001)". */
export function describeAdvantage(variant: AdvantageVariant): string {
  const centred = '(reward - group mean)';
  if (variant.scaling === 'none') return `${centred}, not scaled`;
  return `${centred} / (${variant.scaling} standard deviation, ddof ${variant.ddof}, + ${variant.epsilon})`;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Two passes, so that rewards around 1e8 keep their digits. 0 where it is undefined (too few values). */
function deviation(values: readonly number[], ddof: number): number {
  if (values.length <= ddof) return 0;
  const centre = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  return Math.sqrt(squares / (values.length - ddof));
}
