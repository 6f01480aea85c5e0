// Optimiser steps of all ranks, side by side. Ranks step together; a rank that misses a step is left as it is.
import type { LedgerStep, RankStep } from './ledger.ts';
import { countsAsStep, isTraining, type Ranked } from './ranks.ts';
import type { StepRecord } from './records/steps.ts';

/** In order. Of a process that ended before its last step was made, that one is there without `done`. */
export function stepsOf(ranked: readonly Ranked[]): readonly LedgerStep[] {
  const steps = new Map<number, RankStep[]>();
  for (const process of ranked) {
    const made = madeBy(process);
    for (const index of indicesOf(process, made))
      steps.set(index, [...(steps.get(index) ?? []), rankStepOf(process.rank, made.get(index) ?? [])]);
  }
  return [...steps].sort(([a], [b]) => a - b).map(([index, ranks]) => ({ index, ranks }));
}

// --- helpers ---

/** Step records by the ledger's step: several, where several optimisers hold a part of the model each. */
function madeBy({ records, stepOf }: Ranked): ReadonlyMap<number, readonly StepRecord[]> {
  const made = new Map<number, StepRecord[]>();
  for (const record of records) {
    if (!countsAsStep(record)) continue;
    const index = stepOf(record.step);
    made.set(index, [...(made.get(index) ?? []), record]);
  }
  return made;
}

function indicesOf(process: Ranked, made: ReadonlyMap<number, unknown>): ReadonlySet<number> {
  const called = process.records.flatMap((record) =>
    record.kind === 'forward' && isTraining(record, process.policies)
      ? [process.stepAt(record.step, record.time)]
      : [],
  );
  return new Set([...called, ...made.keys()]);
}

function rankStepOf(rank: number, made: readonly StepRecord[]): RankStep {
  const optimizer = [...new Set(made.map((record) => record.optimizer))].join(' and ');
  if (made.length === 0) return { rank, optimizer };
  return {
    rank,
    optimizer,
    done: {
      gradientNorm: normOf(made.map(({ gradient_norm }) => gradient_norm)),
      changed: made.some(({ changed }) => changed),
      learningRates: made.flatMap(({ learning_rates }) => learning_rates),
      ...(made.every(({ skipped }) => skipped === true) ? { skipped: true } : {}),
      ...factsOf(made),
    },
  };
}

function factsOf(made: readonly StepRecord[]): Partial<NonNullable<RankStep['done']>> {
  const dropped = made.flatMap((record) => record.dropped ?? []);
  const zeroed = made.find((record) => typeof record.zeroed === 'string')?.zeroed;
  const place = made.find((record) => typeof record.place === 'string')?.place;
  const counted = made.find((record) => typeof record.backwards === 'number');
  return {
    ...(typeof counted?.backwards === 'number' ? { backwards: counted.backwards } : {}),
    ...(counted?.backward_places ? { backwardPlaces: counted.backward_places } : {}),
    ...(dropped.length > 0 ? { dropped } : {}),
    ...(typeof zeroed === 'string' ? { zeroed } : {}),
    ...(made.every(({ copies }) => copies === true) ? { copies: true } : {}),
    ...(made.some(({ closure }) => closure === true) ? { closure: true } : {}),
    ...(typeof place === 'string' ? { place } : {}),
  };
}

/** Of all gradients together. */
function normOf(norms: readonly (number | null)[]): number | null {
  const known = norms.filter((norm) => norm !== null);
  return known.length < norms.length ? null : Math.hypot(...known);
}
