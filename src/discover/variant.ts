// A measured variant in a few words: `k3, clamp 10`, `group-mean, group, ddof 1, epsilon 0.000001`.
import { type ItemValue, wordsOf } from '../check/profile/probe.ts';
import type { Semantics } from '../vocabulary.ts';

/** What is not there (no clamp, no correction) is not said. */
export function variantWords(variant: Semantics): string {
  return (Object.entries(variant) as [string, ItemValue][])
    .filter(([key]) => !UNSAID.has(key))
    .flatMap(([key, value]) => {
      if (value === null || value === false || (key === 'ratio_level' && value === 'token')) return [];
      const name = key.replace(PREFIX, '').replaceAll('_', ' ');
      if (value === true) return [name];
      if (typeof value === 'number')
        return value === 0 && SILENT_AT_ZERO.has(key) ? [] : [`${name} ${value}`];
      return PLAIN.has(key) ? [String(value)] : [`${name} ${wordsOf(value)}`];
    })
    .join(', ');
}

const PREFIX = /^(kl|advantage|whiten|preference|loss|value(?=_loss|_clip))_/;
const PLAIN = new Set([
  'kl_estimator',
  'advantage_baseline',
  'loss_aggregation',
  'sft_aggregation',
  'value_aggregation',
  'policy_objective',
  'preference_objective',
]);
const UNSAID = new Set(['advantage_epsilon_placement']);
const SILENT_AT_ZERO = new Set(['kl_coef', 'entropy_coef', 'preference_label_smoothing', 'preference_gamma']);
