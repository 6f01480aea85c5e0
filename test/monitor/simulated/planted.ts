// Faults planted into healthy runs, and whether the rules find them: over how strong they are, and at the right step.

import { seriesRules } from '../../../properties/monitor/index.ts';
import { dice, sayingsOf } from '../rules/logs.ts';
import type { Fault } from './faults/fault.ts';
import { LOSS_FAULTS } from './faults/losses.ts';
import { POLICY_FAULTS } from './faults/policy.ts';
import { STEP_FAULTS } from './faults/steps.ts';
import { type Kind, seedOf, simulated } from './healthy.ts';
import { type LoggedRun, logged } from './logging.ts';

export const FAULTS: readonly Fault[] = [...LOSS_FAULTS, ...POLICY_FAULTS, ...STEP_FAULTS];

export interface PlantedRun extends LoggedRun {
  readonly kind: Kind;
  readonly seed: number;
  /** The first step that is wrong, and what a rule may miss it by. */
  readonly onset: number;
  readonly slack: number;
}

export interface Detection {
  readonly strength: number;
  readonly runs: number;
  /** Runs in which a rule fails that does not fail in the healthy run. */
  readonly found: number;
  /** Of these, runs in which the first step that such a rule names is not before the onset. */
  readonly right: number;
  /** How many runs each of these rules found. */
  readonly by: ReadonlyMap<string, number>;
}

/** Fewer rows show no fault to anybody. */
const LEAST_ROWS = 30;

/** The same run and onset at each strength, so that its curve is of the strength alone; undefined: it logs nothing of it. */
export function plantedRun(fault: Fault, kind: Kind, seed: number, strength: number): PlantedRun | undefined {
  const run = simulated(kind, seed);
  const { rows, steps } = run.plan;
  if (rows < LEAST_ROWS) return undefined;
  const by = dice(seedOf(kind, seed, 2));
  const onset = fault.onset === 'start' ? 0 : Math.round(rows * (0.4 + 0.25 * by.uniform()));
  const changes = fault.plant({ run, onset, strength, by });
  if (changes === undefined) return undefined;
  const whole = logged(
    dice(seedOf(kind, seed, 1)),
    { ...run, columns: { ...run.columns, ...changes } },
    true,
  );
  return { ...whole, kind, seed, onset: steps[onset] ?? 0, slack: (steps[2] ?? 0) - (steps[0] ?? 0) };
}

/** Of a fault at all its strengths, in so many runs each. */
export function detectionsOf(fault: Fault, runs: number, seed: number): Detection[] {
  return fault.strengths.map((strength) => {
    let [done, found, right] = [0, 0, 0];
    const by = new Map<string, number>();
    for (let at = 0; done < runs && at < runs * MOST_TRIES; at++) {
      const kind = fault.kinds[at % fault.kinds.length] as Kind;
      const planted = plantedRun(fault, kind, seed + Math.floor(at / fault.kinds.length), strength);
      if (planted === undefined) continue;
      done++;
      const rules = foundIn(planted);
      if (rules.size === 0) continue;
      found++;
      if (Math.min(...rules.values()) >= planted.onset - planted.slack) right++;
      for (const rule of rules.keys()) by.set(rule, (by.get(rule) ?? 0) + 1);
    }
    return { strength, runs: done, found, right, by };
  });
}

/** Rules that fail here and not in the healthy run, with the step that each names. */
export function foundIn({ kind, seed, log }: PlantedRun): ReadonlyMap<string, number> {
  const healthy = logged(dice(seedOf(kind, seed, 1)), simulated(kind, seed), true);
  const before = new Set(sayingsOf(usualRules, healthy.log).said.map(({ rule }) => rule));
  const steps = new Map<string, number>();
  for (const { rule, violation } of sayingsOf(usualRules, log).said)
    if (!before.has(rule) && !steps.has(rule)) steps.set(rule, violation.step ?? Number.POSITIVE_INFINITY);
  return steps;
}

// --- helpers ---

/** A run may lack what shows a fault. */
const MOST_TRIES = 40;
const usualRules = seriesRules.filter(({ level }) => level !== 'may');
