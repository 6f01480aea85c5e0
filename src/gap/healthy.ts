// Ranges of the measures that frameworks call healthy, each with the page that says so. Ours are none: where no public page
// has a range, a measure has none here. They say whether a gap harms training, not what it comes from.
import type { Comparison } from './compare.ts';

export interface Source {
  readonly name: string;
  readonly page: string;
}

export const SOURCES = {
  /** The health check of "Conditional Alerting", and the line "Good" of its plot of the effective sample size. */
  verl: {
    name: 'verl',
    page: 'https://github.com/verl-project/verl/blob/01143cbaacfd8085bc8a56f08c910b5f2403a100/docs/algo/rollout_corr.md',
  },
  /** "Ideal value" of rollout_is_ratio_fraction_high and of rollout_is_masked_fraction. */
  'verl guide': {
    name: 'verl',
    page: 'https://github.com/volcengine/verl/blob/570b95bc1b5684d7b2920d92c4284b703722916d/docs/advance/rollout_is_migration.md',
  },
  /** "Values below 1e-3 considered acceptable", of KL with k3. */
  'NeMo-RL': {
    name: 'NeMo-RL',
    page: 'https://github.com/NVIDIA-NeMo/RL/blob/001759a9acf020907d76e61ffd27baa9c8ae9a90/docs/guides/grpo.md',
  },
} as const satisfies Readonly<Record<string, Source>>;

export type Measure = 'k1' | 'k3' | 'meanWeight' | 'weightDeviation' | 'essTokens' | 'tis' | 'icepop';

export interface Range {
  readonly least?: number;
  readonly most?: number;
  readonly source: keyof typeof SOURCES;
}

export const HEALTHY: Readonly<Record<Measure, Range>> = {
  k1: { least: -0.1, most: 0.1, source: 'verl' },
  k3: { most: 0.001, source: 'NeMo-RL' },
  meanWeight: { least: 0.5, most: 2, source: 'verl' },
  weightDeviation: { most: 1, source: 'verl' },
  essTokens: { least: 0.5, source: 'verl' },
  tis: { most: 0.1, source: 'verl guide' },
  icepop: { most: 0.1, source: 'verl guide' },
};

export const MEASURES = Object.keys(HEALTHY) as readonly Measure[];

export function isHealthy(comparison: Comparison, measure: Measure): boolean {
  const { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY } = HEALTHY[measure];
  const value = comparison[measure];
  return value >= least && value <= most;
}
