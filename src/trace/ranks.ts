// The processes of one traced command, told apart: ranks of one training step together, trainings that came one after the
// other do not. Of each process, which of its models are trained and which of its steps are counted.

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
  /** The ledger's step of what happened when the process had made `step` steps. */
  readonly stepAt: (step: number) => number;
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
  const taken = new Set<number>();
  let alone = 0;
  return order.map(({ process, records, policies, steps, together }) => {
    let { rank } = process;
    if (records.some(({ kind }) => kind === 'forward' || kind === 'generate')) {
      // Spawned workers may know their rank from arguments instead of the environment; any free one does.
      while (taken.has(rank)) rank++;
      taken.add(rank);
    }
    // A training of its own in the same command: its steps come behind those of the one before.
    const offset = together ? 0 : alone;
    if (!together) alone += steps.length;
    const before = (step: number): number => steps.filter((each) => each < step).length;
    return {
      process,
      records,
      rank,
      policies,
      stepAt: (step) => offset + before(step),
      stepOf: (step) => offset + Math.max(0, steps.includes(step) ? before(step) : before(step) - 1),
    };
  });
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

/** The last line counts: a rank may only be known once the processes have found each other. */
function processOf(records: readonly ReadRecord[]): ProcessRecord | undefined {
  return records.findLast((record) => record.kind === 'process');
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
