// Healthy runs of every kind, as rough as real ones are: nothing may be said of any of them. What they do follows public
// trainers and their logs, not the rules.

import type { Dice } from '../rules/logs.ts';
import { dice } from '../rules/logs.ts';
import { ppo } from './kinds/critics.ts';
import { dense, grpo, solved, sparse, withTools } from './kinds/groups.ts';
import { halfPrecision, plainLoop, short, undeclaredScaler } from './kinds/loops.ts';
import { withSupervised, worldModel } from './kinds/mixed.ts';
import { dpo, kto, orpo, rewardModel } from './kinds/preference.ts';
import { pretraining } from './kinds/pretraining.ts';
import { classifier, continued, curriculum, easy, epochs, sft } from './kinds/supervised.ts';
import { type LoggedRun, logged } from './logging.ts';
import type { Simulation } from './simulation.ts';

const MAKERS = {
  sft,
  'sft, several epochs': epochs,
  'sft, easy task': easy,
  'sft, curriculum': curriculum,
  classifier,
  'continued pretraining': continued,
  pretraining,
  dpo,
  kto,
  orpo,
  'reward model': rewardModel,
  grpo,
  'grpo, sparse': sparse,
  'grpo, solved': solved,
  'grpo, dense': dense,
  'grpo, tools': withTools,
  ppo,
  'rl and sft': withSupervised,
  'world model': worldModel,
  'plain loop': plainLoop,
  short,
  'half precision': halfPrecision,
  'half precision, undeclared': undeclaredScaler,
} satisfies Record<string, (by: Dice) => Simulation>;

export type Kind = keyof typeof MAKERS;
export const KINDS = Object.keys(MAKERS) as readonly Kind[];

export interface HealthyRun extends LoggedRun {
  readonly kind: Kind;
  readonly seed: number;
}

/** One run as it is logged; the same kind and seed, the same run. */
export function healthyRun(kind: Kind, seed: number): HealthyRun {
  return { kind, seed, ...logged(dice(seedOf(kind, seed, 1)), simulated(kind, seed)) };
}

/** One run before it is logged. */
export function simulated(kind: Kind, seed: number): Simulation {
  return MAKERS[kind](dice(seedOf(kind, seed, 0)));
}

/** Seeds that are neighbours must not be neighbours in the generator's sequence. */
export function seedOf(kind: Kind, seed: number, use: number): number {
  const mixed = Math.imul(seed * 64 + KINDS.indexOf(kind) + 1, 0x9e3779b1) ^ Math.imul(use + 1, 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
