// Faults planted into healthy runs, and whether the rules find them: over how strong they are, and at the right step.

import { seriesRules } from '../../../properties/monitor/index.ts';
import { dice, sayingsOf } from '../rules/logs.ts';
import { COEFFICIENT_FAULTS } from './faults/coefficients.ts';
import type { Fault } from './faults/fault.ts';
import { IMPOSSIBLE_FAULTS } from './faults/impossible.ts';
import { LOSS_FAULTS } from './faults/losses.ts';
import { PART_FAULTS } from './faults/parts.ts';
import { POLICY_FAULTS } from './faults/policy.ts';
import { ROLLOUT_FAULTS } from './faults/rollouts.ts';
import { STEP_FAULTS } from './faults/steps.ts';
import { type Kind, seedOf, simulated } from './healthy.ts';
import { type LoggedRun, logged } from './logging.ts';
import type { Simulation } from './simulation.ts';

export const FAULTS: readonly Fault[] = [
  ...LOSS_FAULTS,
  ...PART_FAULTS,
  ...POLICY_FAULTS,
  ...COEFFICIENT_FAULTS,
  ...ROLLOUT_FAULTS,
  ...STEP_FAULTS,
  ...IMPOSSIBLE_FAULTS,
];

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
  const healthy = simulated(kind, seed);
  const { rows } = healthy.plan;
  if (rows < LEAST_ROWS) return undefined;
  const by = dice(seedOf(kind, seed, 2));
  const onset = fault.onset === 'start' ? 0 : Math.round(rows * (0.4 + 0.25 * by.uniform()));
  const run = fault.again === undefined ? healthy : resumed(healthy, onset, fault.again);
  const planting = { run, onset, strength, by };
  const changes = fault.plant(planting);
  if (changes === undefined) return undefined;
  const { log, modifiers } = logged(
    dice(seedOf(kind, seed, 1)),
    { ...run, columns: { ...run.columns, ...changes } },
    true,
  );
  const { declared, settings = {} } = fault.says?.(planting) ?? {};
  const { steps } = run.plan;
  return {
    log: { ...log, declared: { ...log.declared, ...declared }, settings },
    modifiers,
    kind,
    seed,
    onset: steps[onset] ?? 0,
    slack: (steps[2] ?? 0) - (steps[0] ?? 0),
  };
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
      const rules = foundIn(planted, fault);
      if (rules.size === 0) continue;
      found++;
      if (Math.min(...rules.values()) >= planted.onset - planted.slack) right++;
      for (const rule of rules.keys()) by.set(rule, (by.get(rule) ?? 0) + 1);
    }
    return { strength, runs: done, found, right, by };
  });
}

/** Rules that fail here and not in the healthy run, with the step that each names: of the default level, and those that it is about. */
export function foundIn(
  { kind, seed, log }: PlantedRun,
  { breaks }: Pick<Fault, 'breaks'>,
  rules = seriesRules.filter(({ id, level }) => level !== 'may' || breaks.includes(id)),
): ReadonlyMap<string, number> {
  const healthy = logged(dice(seedOf(kind, seed, 1)), simulated(kind, seed), true);
  const before = new Set(sayingsOf(rules, healthy.log).said.map(({ rule }) => rule));
  const steps = new Map<string, number>();
  for (const { rule, violation } of sayingsOf(rules, log).said)
    if (!before.has(rule) && !steps.has(rule)) steps.set(rule, violation.step ?? Number.POSITIVE_INFINITY);
  return steps;
}

// --- helpers ---

/** A run may lack what shows a fault. */
const MOST_TRIES = 40;

/** The same run, which goes back by so many rows before the onset and logs them again. */
function resumed({ plan, columns, ...run }: Simulation, onset: number, rows: number): Simulation {
  const twice = <T>(values: readonly T[]): T[] => [...values.slice(0, onset), ...values.slice(onset - rows)];
  return {
    ...run,
    plan: { ...plan, rows: plan.rows + rows, steps: twice(plan.steps) },
    columns: Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, twice(values)])),
  };
}
