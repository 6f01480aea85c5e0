// The processes of one traced command, told apart: ranks of one training step together, trainings that came one after the
// other do not. Of each process, which of its models are trained and which of its steps are counted. What a process does that
// makes no step, a rollout actor, a reference in a place of its own, or a rank whose gradients another one steps by, belongs
// to the step that it came before by the clock.

import type { ProcessRecord } from './records/records.ts';
import type { ReadForward, ReadRecord } from './records/shapes.ts';
import type { StepRecord } from './records/steps.ts';

export interface Ranked {
  readonly process: ProcessRecord;
  readonly records: readonly ReadRecord[];
  /** Of the ledger: no two processes with models have the same. */
  readonly rank: number;
  /** Models that an optimiser holds. */
  readonly policies: ReadonlySet<number>;
  /** The ledger's step of what happened when the process had made `step` steps; `time`: that of its record, where it has one. */
  readonly stepAt: (step: number, time?: number | null) => number;
  /** The ledger's step of a step record. */
  readonly stepOf: (step: number) => number;
}

export function rankedOf(processes: readonly (readonly ReadRecord[])[]): readonly Ranked[] {
  const whole = processes.flatMap((records) => {
    const process = processOf(records);
    return process === undefined ? [] : [{ process, records, ...trainingOf(records) }];
  });
  const order = whole.toSorted(
    (a, b) => a.process.rank - b.process.rank || a.process.started.localeCompare(b.process.started),
  );
  const ranks = ranksOf(order);
  let alone = 0;
  const ranked = order.map(({ process, records, policies, steps, together }): Ranked => {
    // A training of its own in the same command: its steps come behind those of the one before.
    const offset = together ? 0 : alone;
    if (!together) alone += steps.length;
    const before = (step: number): number => steps.filter((each) => each < step).length;
    return {
      process,
      records,
      rank: ranks.get(records) ?? process.rank,
      policies,
      stepAt: (step) => offset + before(step),
      stepOf: (step) => offset + Math.max(0, steps.includes(step) ? before(step) : before(step) - 1),
    };
  });
  const ends = endsOf(ranked);
  if (ends.size === 0) return ranked;
  const own = new Set(order.filter(countsItsOwn).map(({ records }) => records));
  return ranked.map((each) =>
    own.has(each.records)
      ? each
      : {
          ...each,
          stepAt: (step, time) => (typeof time === 'number' ? stepBy(time, ends) : each.stepAt(step)),
        },
  );
}

/** Might be trained: of a policy, not standing for the reference, with gradients. */
export function isTraining(forward: ReadForward, policies: ReadonlySet<number>): boolean {
  return forward.grad && !forward.adapters_off && policies.has(forward.model);
}

/** Of a language model, so that it counts. */
export function countsAsStep(record: ReadRecord): record is StepRecord {
  return record.kind === 'step' && record.models.length > 0;
}

// --- helpers ---

/** It makes steps, or trains by itself and has not come to one. */
const countsItsOwn = ({ records, policies, together }: Whole): boolean =>
  policies.size > 0 && (!together || records.some(countsAsStep));

/** The last line counts: a rank may only be known once the processes have found each other. */
function processOf(records: readonly ReadRecord[]): ProcessRecord | undefined {
  return records.findLast((record) => record.kind === 'process');
}

type Whole = Training & Pick<Ranked, 'process' | 'records'>;

/** Those that train keep theirs, whoever else has begun before them. */
function ranksOf(order: readonly Whole[]): ReadonlyMap<Whole['records'], number> {
  const ranks = new Map<Whole['records'], number>();
  const taken = new Set<number>();
  const first = [...order.filter(({ policies }) => policies.size > 0), ...order];
  for (const { process, records } of first) {
    if (ranks.has(records) || !records.some(({ kind }) => kind === 'forward' || kind === 'generate'))
      continue;
    let { rank } = process;
    // Spawned workers may know their rank from arguments instead of the environment; any free one does.
    while (taken.has(rank)) rank++;
    taken.add(rank);
    ranks.set(records, rank);
  }
  return ranks;
}

/** When each of the ledger's steps was made, by the first of its ranks. */
function endsOf(ranked: readonly Ranked[]): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  for (const { records, policies, stepOf } of ranked)
    for (const record of records) {
      if (policies.size === 0 || !countsAsStep(record) || typeof record.time !== 'number') continue;
      const step = stepOf(record.step);
      ends.set(step, Math.min(record.time, ends.get(step) ?? Number.POSITIVE_INFINITY));
    }
  return ends;
}

function stepBy(time: number, ends: ReadonlyMap<number, number>): number {
  let step = 0;
  for (const [made, end] of ends) if (end <= time) step = Math.max(step, made + 1);
  return step;
}

interface Training {
  readonly policies: ReadonlySet<number>;
  /** The process's own numbers of steps before which a policy was called, in order: each is a step of the ledger. */
  readonly steps: readonly number[];
  /** It is one of several that average their gradients, or it trains nothing. */
  readonly together: boolean;
}

function trainingOf(records: readonly ReadRecord[]): Training {
  const forwards = records.filter((record) => record.kind === 'forward');
  const policies = policiesOf(records, forwards);
  // Two optimisers that each hold a part of one model make two step records after the same forward passes: one step.
  const called = forwards.filter(
    (forward) => isTraining(forward, policies) || (forward.training && policies.has(forward.model)),
  );
  const steps = [...new Set(called.map(({ step }) => step))].sort((a, b) => a - b);
  const process = processOf(records);
  const several = (process?.world ?? 1) > 1 || forwards.some(({ averaged_over }) => averaged_over > 1);
  return { policies, steps, together: several || policies.size === 0 };
}

/**
 * By the optimisers that made a step; where none did, by gradients that arrived; where none did, by forward passes that
 * were made for training. A reference that was not frozen may get gradients, and is none the less no policy.
 */
function policiesOf(records: readonly ReadRecord[], forwards: readonly ReadForward[]): ReadonlySet<number> {
  const stepped = records.filter(countsAsStep).flatMap(({ models }) => models);
  if (stepped.length > 0) return new Set(stepped);
  const reached = new Set(
    records.flatMap((record) =>
      record.kind === 'trained' && record.rows.length > 0 ? [record.forward] : [],
    ),
  );
  const trained = forwards.filter(({ forward }) => reached.has(forward)).map(({ model }) => model);
  if (trained.length > 0) return new Set(trained);
  return new Set(forwards.filter(({ grad, training }) => grad && training).map(({ model }) => model));
}
