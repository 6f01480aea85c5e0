// The numbers of each known objective that a loss on pairs could be, read off pairs whose references agree: their loss
// is a function of one margin. Whether it is that objective, the cases of preference.ts say.
import type { PreferenceSettings } from '../../../reference/index.ts';
import { settled } from '../probe.ts';

/** The loss of a pair by its margin, in nats. */
export type LossAt = (margin: number) => Promise<number>;

interface Declared {
  readonly beta?: number;
  readonly smoothing?: number;
  readonly gamma?: number;
}

/** One candidate for each objective and reading of label smoothing whose numbers exist at all. */
export async function solvedObjectives(
  at: LossAt,
  relative: number,
  declared: Declared,
): Promise<PreferenceSettings[]> {
  const blur = Math.max(relative, SOLVED);
  const tied = await at(0);
  const beta = (value: number): number => settled(value, blur, declared.beta);
  const found: PreferenceSettings[] = [];
  const square = 1 / (2 * Math.sqrt(tied));
  if (usable(square))
    for (const length of ['mean', 'sum'] as const)
      found.push({ ...PLAIN, objective: 'ipo', beta: beta(square), length });
  const hinge = ((await at(-STEEP)) - tied) / STEEP;
  if (usable(hinge)) found.push({ ...PLAIN, objective: 'hinge', beta: beta(hinge) });
  const straight = await asymptotes(at);
  if (straight === undefined) return found;
  const { slope, share: seen } = straight;
  const share = Math.abs(seen) < blur ? 0 : seen;
  const smoothing = (value: number): number => settled(value, blur, declared.smoothing);
  const own = beta(slope);
  if (share < 0) {
    // Robust smoothing tilts the far side by -e / (1 - 2 e).
    const labelSmoothing = smoothing(share / (2 * share - 1));
    return [...found, ...dpo({ beta: own, labelSmoothing, smoothing: 'robust' })];
  }
  const labelSmoothing = share === 0 ? 0 : smoothing(share);
  found.push(...dpo({ beta: own, labelSmoothing, smoothing: 'conservative' }));
  const target = targetOf(tied, slope, share) / slope;
  const gamma = target < blur ? 0 : settled(target, blur, declared.gamma);
  if (Number.isFinite(gamma))
    found.push({ ...PLAIN, objective: 'simpo', length: 'mean', beta: own, gamma, labelSmoothing });
  return found;
}

/**
 * -log sigmoid(h) runs along -h on one side and along 0 on the other; smoothing tilts both by the same. The difference
 * of the slopes far out is beta, the one on the right as a share of it the tilt.
 */
async function asymptotes(at: LossAt): Promise<{ slope: number; share: number } | undefined> {
  for (const far of FAR) {
    const right = ((await at(2 * far)) - (await at(far))) / far;
    const left = ((await at(-2 * far)) - (await at(-far))) / far;
    const slope = right + left;
    if (usable(slope) && slope * far > STRAIGHT) return { slope, share: right / slope };
  }
  return undefined;
}

/** The h >= 0 with softplus(h) - share h = `loss`: what is missing where both are equally likely. NaN: there is none. */
function targetOf(loss: number, slope: number, share: number): number {
  const value = (h: number): number => h + Math.log1p(Math.exp(-h)) - share * h;
  let [low, high] = [0, slope * LARGEST_TARGET];
  if (!(loss > value(0) * (1 - ROUNDING)) || !(loss < value(high))) return Number.NaN;
  for (let step = 0; step < HALVINGS; step++) {
    const middle = (low + high) / 2;
    if (value(middle) < loss) low = middle;
    else high = middle;
  }
  return low;
}

const usable = (value: number): boolean => Number.isFinite(value) && value > LEAST_BETA;

/** Of sums, and of means, which pairs of one token do not tell apart. */
const dpo = (
  numbers: Pick<PreferenceSettings, 'beta' | 'labelSmoothing' | 'smoothing'>,
): PreferenceSettings[] => [
  { ...PLAIN, ...numbers, objective: 'dpo', length: 'sum' },
  { ...PLAIN, ...numbers, objective: 'dpo_norm', length: 'mean' },
];

const PLAIN: PreferenceSettings = {
  objective: 'dpo',
  beta: 1,
  labelSmoothing: 0,
  smoothing: 'conservative',
  gamma: 0,
  length: 'sum',
};
const SOLVED = 1e-5;
/** Nobody's beta is less, and at FAR a smaller one still bends. */
const LEAST_BETA = 1e-3;
/** Margins in nats, out to where the least beta runs straight. */
const FAR: readonly number[] = [16, 128, 1024, 16_384];
/** exp(-14) is below what float32 rounds a slope to. */
const STRAIGHT = 14;
const STEEP = 8;
const LARGEST_TARGET = 100;
const HALVINGS = 60;
const ROUNDING = 2e-2;
