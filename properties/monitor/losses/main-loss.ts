// Which loss a run is optimised by, and what is logged beside it.
import type { RuleWorld, Series } from '../../../src/index.ts';
import type { SignalKey } from '../policy/signal.ts';

/** Parts (`wm`, `llm_sft`) have rules of their own. */
export function isMainLoss({ role, part }: Series): boolean {
  return part === '' && (role === 'loss' || role === 'sft_loss' || role === 'policy_loss');
}

/** Whether a held-out series of so many points has one for each of the training loss: values may be held there, or stand for none. */
export function standsBesideTraining(world: RuleWorld, points: number): boolean {
  const training = world.series().find((each) => isMainLoss(each) && !each.evaluation);
  const logged = training === undefined ? undefined : world.courseOf(training)?.points;
  return logged !== undefined && logged <= points + 1;
}

/** What rules about dead steps join. */
export function signalKey(series: Series): SignalKey | undefined {
  if (isMainLoss(series)) return 'loss';
  if (series.part !== '') return undefined;
  if (series.role === 'grad_norm') return 'grad';
  if (series.role === 'dead_groups') return 'dead';
  if (series.role === 'reward') return 'reward';
  return series.role === 'reward_std' ? 'reward std' : undefined;
}

export const SIGNAL_ROLES = [
  'loss',
  'sft_loss',
  'policy_loss',
  'grad_norm',
  'dead_groups',
  'reward',
  'reward_std',
] as const;
