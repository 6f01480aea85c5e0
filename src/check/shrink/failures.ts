// From cases in trouble to failures that can be read: each made small inside its own cause, run again, and recorded as
// the lines that the trainer was asked. The first has the time for it; what stands beside it must not cost much more.
import type fc from 'fast-check';
import { bound } from '../../bounds.ts';
import { isCostly as costsTheProcess, sameTrouble } from '../../trainer/failure.ts';
import type { Trainer } from '../../trainer/trainer.ts';
import type { Failure } from '../events.ts';
import type { Property, World } from '../property.ts';
import { caseId } from '../saved/saved-case.ts';
import type { Troubled } from '../screen.ts';
import type { StopSignal } from '../stop.ts';
import { type CaseOutcome, type causeOf, runCase, troubleOf } from '../subject.ts';
import { confirm, dimmed, shrink } from './shrink.ts';

/** Causes that one property shows beside the first: a reader who has four counterexamples has enough to do. */
export const MOST_OTHERS = 3;
/** Making all of those small takes no longer than the first took, or than this of the time for shrinking. */
const LEAST_OTHERS_SHARE = 1 / 30;
/** A process that takes longer to start is started again for the first only. */
const CHEAP_RESTART_MILLISECONDS = bound({
  of: 'running the first failure again in a fresh process',
  wall: 1_000,
  over: 'other failures of the property are reported as not re-run',
});

export interface FailureContext {
  readonly property: Property;
  readonly trainer: Trainer;
  readonly world: World;
  /** Of the run. */
  readonly seed: number;
  /**
   * Which property has told each failure of the trainer (`sameTrouble`): an exception that every op runs into is made
   * small once. Filled here.
   */
  readonly told: Map<string, string>;
  /** Aborted: whoever stops a run waits for what it found, not for a fresh process. */
  readonly signal?: StopSignal | undefined;
}

export interface DrawnTroubles {
  readonly arbitrary: fc.Arbitrary<unknown>;
  /** Of this property's draws. */
  readonly drawSeed: number;
  readonly at: (index: number) => unknown;
  /** Cases that were to be tried. */
  readonly count: number;
  /** What a smaller case must be a case of, too. */
  readonly causeOf: typeof causeOf;
  /** The one that decides first. */
  readonly troubles: readonly Troubled[];
  readonly milliseconds: number;
  readonly signal?: StopSignal | undefined;
  readonly onShrink?: ((shrinks: number) => void) | undefined;
}

/** A case in trouble, and what is known of how it was found. */
export interface Found {
  readonly given: unknown;
  readonly outcome: CaseOutcome;
  readonly facts: Pick<Failure, 'casesToFail' | 'shrinks' | 'seed'> & Partial<Failure>;
}

/** A broken rule says more than a trainer that did not answer, and that more than a question. */
export function byWeight<T extends { readonly outcome: CaseOutcome }>(troubles: readonly T[]): T[] {
  return [...troubles].sort((a, b) => weightOf(a.outcome) - weightOf(b.outcome));
}

function weightOf(outcome: CaseOutcome): number {
  if (outcome.kind !== 'fails') return 1;
  return outcome.finding.answers === undefined ? 0 : 2;
}

/** The smallest case of each trouble. */
export async function smallest(context: FailureContext, drawn: DrawnTroubles): Promise<Found[]> {
  const found: Found[] = [];
  const begun = performance.now();
  let deadline = begun + drawn.milliseconds;
  for (const [at, trouble] of drawn.troubles.entries()) {
    const milliseconds = Math.max(0, deadline - performance.now());
    found.push(await smallestOf(context, drawn, trouble, { milliseconds, first: at === 0 }));
    const now = performance.now();
    const others = Math.max(now - begun, drawn.milliseconds * LEAST_OTHERS_SHARE);
    if (at === 0) deadline = Math.min(deadline, now + others);
  }
  return found;
}

async function smallestOf(
  { property, trainer, world, seed, told }: FailureContext,
  { arbitrary, drawSeed, at, count, causeOf, signal, onShrink }: DrawnTroubles,
  { index, outcome }: Troubled,
  { milliseconds, first }: { readonly milliseconds: number; readonly first: boolean },
): Promise<Found> {
  const given = at(index);
  const facts = { casesToFail: index + 1, outOf: count, shrinks: 0, seed };
  const before = outcome.kind === 'error' ? told.get(sameTrouble(outcome.failure)) : undefined;
  if (before !== undefined) return { given, outcome, facts: { ...facts, sameAs: before } };
  // It is told as it was found: the budget of restarts is there for the properties to come.
  if (!first && isCostly(outcome)) return { given, outcome, facts };
  const toShrink = {
    property,
    arbitrary,
    trainer,
    world,
    seed: drawSeed,
    index,
    given,
    outcome,
    causeOf,
    milliseconds,
    signal,
    onAttempt: onShrink,
  };
  const shrunk = await shrink(toShrink);
  const anyValue = first ? await dimmed(toShrink, shrunk) : [];
  return {
    given: shrunk.given,
    outcome: shrunk.outcome,
    facts: {
      ...facts,
      shrinks: shrunk.shrinks,
      ...(shrunk.path === undefined ? {} : { path: shrunk.path }),
      ...(shrunk.stopped === undefined ? {} : { shrinkStopped: shrunk.stopped }),
      ...(!first || shrunk.steps.length === 0 ? {} : { steps: shrunk.steps }),
      ...(anyValue.length === 0 ? {} : { anyValue }),
    },
  };
}

/** As it was found, and nothing more. */
export function asDrawn(
  { property, seed }: Pick<FailureContext, 'property' | 'seed'>,
  { index, outcome }: Troubled,
  { at, count }: Pick<DrawnTroubles, 'at' | 'count'>,
): Failure {
  const given = at(index);
  const trouble = outcome as Extract<CaseOutcome, { kind: 'fails' | 'error' }>;
  return {
    caseId: caseId(property.id, given),
    given,
    confirmed: 'not re-run',
    lines: [],
    casesToFail: index + 1,
    outOf: count,
    shrinks: 0,
    seed,
    ...(trouble.kind === 'fails' ? { finding: trouble.finding } : { trainerFailure: trouble.failure }),
  };
}

/** Each run again, the first always in a fresh process, and with what the trainer was asked. */
export async function failuresOf(context: FailureContext, found: readonly Found[]): Promise<Failure[]> {
  const failures: Failure[] = [];
  let cheap = true;
  for (const each of found) {
    const begun = performance.now();
    const again =
      cheap && each.facts.sameAs === undefined && !(failures.length > 0 && isCostly(each.outcome));
    failures.push(await failureOf(context, each, again));
    cheap &&= performance.now() - begun < CHEAP_RESTART_MILLISECONDS;
  }
  return failures;
}

/** It cost the process. */
export const isCostly = (outcome: CaseOutcome): boolean =>
  outcome.kind === 'error' && costsTheProcess(outcome.failure);

async function failureOf(
  { property, trainer, world, told, signal }: FailureContext,
  { given, outcome, facts }: Found,
  again: boolean,
): Promise<Failure> {
  const trouble = outcome as Extract<CaseOutcome, { kind: 'fails' | 'error' }>;
  const gone =
    trouble.kind === 'error' && (trouble.failure.kind === 'budget' || trouble.failure.kind === 'start');
  const stderrTail = trainer.stderrTail();
  const lines: string[] = [];
  // What was sent alone to a fresh process and ended that, too, needs no more restarts to be sure of; and what comes behind
  // its answer, the same case would not show.
  const isSure = trouble.kind === 'error' && trouble.failure.reproduced === true;
  const confirmed = isSure
    ? 'deterministic'
    : gone || !again || signal?.aborted
      ? 'not re-run'
      : await confirm(property, trainer, world, given, troubleOf(outcome));
  if (!gone && (again || !isCostly(outcome))) await runCase(property, trainer, world, given, lines);
  if (trouble.kind === 'error') {
    const key = sameTrouble(trouble.failure);
    if (!told.has(key)) told.set(key, property.id);
  }
  return {
    caseId: caseId(property.id, given),
    given,
    confirmed,
    lines: [trainer.helloLine(), ...lines],
    ...facts,
    ...(trouble.kind === 'fails' ? { finding: trouble.finding } : { trainerFailure: trouble.failure }),
    ...(stderrTail === '' ? {} : { stderrTail }),
  };
}
