// One property against one trainer: saved failures first, then the generated cases, then the smallest failure.
import { VERSION } from '../version.ts';
import { drawCases } from './cases.ts';
import { type Failure, NOT_TRIED, type PropertyResult } from './events.ts';
import { countLabels, coverageOf, thinSentence } from './labels.ts';
import type { RunOptions } from './options.ts';
import type { Property, World } from './property.ts';
import { type Corpus, caseId } from './saved/corpus.ts';
import { changeOf, type KnownFailure } from './saved/known.ts';
import { outdated } from './saved/outdated.ts';
import { screen } from './screen.ts';
import { confirm, dimmed, shrink } from './shrink/shrink.ts';
import { type CaseOutcome, runCase, troubleOf } from './subject.ts';

export interface CheckOptions extends RunOptions {
  readonly shrinkMilliseconds: number;
  readonly onProgress: (done: number) => void;
  /** Before each attempt at a smaller case, with how many have been found. */
  readonly onShrink?: (shrinks: number) => void;
}

type Trouble = Extract<CaseOutcome, { kind: 'fails' | 'error' }>;

/** The verdict on one property. */
export async function checkProperty(
  property: Property,
  world: World,
  options: CheckOptions,
): Promise<PropertyResult> {
  const saved = await checkSaved(property, world, options);
  const labels = countLabels(property, world);
  const report = (verdict: PropertyResult['verdict'], rest: Partial<PropertyResult>): PropertyResult => ({
    id: property.id,
    title: property.title,
    level: property.level,
    verdict,
    ...NOT_TRIED,
    labels: labels.counts(),
    coverage: coverageOf(property, world),
    fixed: saved.fixed,
    ...(saved.outdated.length === 0 ? {} : { outdated: saved.outdated }),
    ...rest,
  });
  const known = options.known?.[property.id];
  const failed = (failure: Failure, counted: Partial<PropertyResult>): PropertyResult => {
    if (known === undefined) return report(verdictOf(failure), { ...counted, failure });
    const change = changeOf(known, failure);
    return change === undefined
      ? report('known', { ...counted, failure, reason: known.reason, ...linkOf(known) })
      : report('changed', { ...counted, failure, reason: change });
  };
  if (saved.failure !== undefined) return failed(saved.failure, { cases: saved.failure.casesToFail });

  let notJudged: string | undefined;
  if (known?.given !== undefined) {
    // A case of an older version may be one that the check can no longer read.
    const why = outdated(known.given, world, property);
    const outcome: CaseOutcome =
      why === undefined
        ? await runCase(property, options.trainer, world, known.given).catch(unreadable)
        : { kind: 'refused', why };
    if (outcome.kind === 'holds') return report('stale', { cases: 1, reason: staleReason(known) });
    if (outcome.kind === 'refused') notJudged = outcome.why;
    else {
      const facts = { casesToFail: 1, shrinks: 0, seed: options.seed, saved: true };
      return failed(await failureOf(property, world, options, known.given, outcome, facts), { cases: 1 });
    }
  }

  const arbitrary = property.given(world);
  const seed = seedOf(options.seed, property.id);
  const cases = drawCases(arbitrary, seed, Math.min(options.cases, property.mostCases ?? options.cases));
  const screening = await screen(
    cases.count,
    async () => {
      const given = cases.next();
      const outcome = await runCase(property, options.trainer, world, given);
      labels.add(given, outcome);
      return outcome;
    },
    { signal: options.signal, onDone: options.onProgress },
  );
  const { trouble, done, refused, setAside } = screening;
  const counted = { cases: done, rejected: refused, setAside };
  if (trouble !== undefined) {
    const toShrink = {
      property,
      arbitrary,
      trainer: options.trainer,
      world,
      seed,
      index: trouble.index,
      given: cases.at(trouble.index),
      outcome: trouble.outcome,
      milliseconds: options.shrinkMilliseconds,
      signal: options.signal,
      onAttempt: options.onShrink,
    };
    const smallest = await shrink(toShrink);
    const anyValue = await dimmed(toShrink, smallest);
    const failure = await failureOf(property, world, options, smallest.given, smallest.outcome, {
      casesToFail: trouble.index + 1,
      shrinks: smallest.shrinks,
      seed: options.seed,
      ...(smallest.path === undefined ? {} : { path: smallest.path }),
      ...(smallest.stopped === undefined ? {} : { shrinkStopped: smallest.stopped }),
      ...(smallest.steps.length === 0 ? {} : { steps: smallest.steps }),
      ...(anyValue.length === 0 ? {} : { anyValue }),
    });
    if (known === undefined) save(property, options, failure);
    return failed(failure, counted);
  }
  if (screening.interrupted) return report('interrupted', { ...counted, reason: 'the run was interrupted' });
  if (done === refused + setAside)
    return report('skipped', { ...counted, reason: screening.refusal ?? 'no case ran' });
  if (known !== undefined && notJudged === undefined)
    return report('stale', { ...counted, reason: staleReason(known) });
  // A known case that this trainer refuses says nothing, so nothing is stale either.
  if (known !== undefined && known.bundled === undefined)
    return report('unseen', { ...counted, reason: unseenReason(known, notJudged ?? 'no case ran') });
  const thin = labels.thin();
  if (thin.length === 0) return report('pass', counted);
  return report('thin', { ...counted, thin, reason: thin.map(thinSentence).join('; ') });
}

/** The trainer gave no answer to judge; or what it answered is wrong; or it is legal where it is meant. */
function verdictOf({ finding }: Failure): 'error' | 'fail' | 'ask' {
  if (finding === undefined) return 'error';
  return finding.answers === undefined ? 'fail' : 'ask';
}

const linkOf = ({ link }: KnownFailure): Partial<PropertyResult> => (link === undefined ? {} : { link });
const staleReason = ({ reason }: KnownFailure): string => `it holds now, and is listed as known: ${reason}`;

/** Of an entry that no case has judged: "listed as known (...), and not judged: the adapter has no op `kl`". */
export const unseenReason = ({ reason }: KnownFailure, why: string): string =>
  `it is listed as known (${reason}) and was not judged: ${why}`;

const unreadable = (): CaseOutcome => ({ kind: 'refused', why: 'its case can no longer be read' });

/** Saved failures of this property: the first that still fails, and the ids of those that hold now. */
async function checkSaved(
  property: Property,
  world: World,
  options: CheckOptions,
): Promise<{ failure?: Failure; fixed: string[]; outdated: string[] }> {
  const fixed: string[] = [];
  const ruledOut: string[] = [];
  for (const saved of options.corpus?.saved(property.id) ?? []) {
    if (options.signal?.aborted) break;
    const why = outdated(saved.given, world, property);
    if (why !== undefined) {
      ruledOut.push(`${saved.id}: ${why}`);
      continue;
    }
    const outcome = await runCase(property, options.trainer, world, saved.given).catch(() => undefined);
    if (outcome === undefined || outcome.kind === 'refused') continue; // no longer a valid case: kept, not judged
    if (outcome.kind === 'holds') {
      options.corpus?.remove(saved.id);
      fixed.push(saved.id);
      continue;
    }
    const failure = await failureOf(property, world, options, saved.given, outcome, {
      casesToFail: 1,
      shrinks: 0,
      seed: saved.seed,
      ...(saved.path === undefined ? {} : { path: saved.path }),
      saved: true,
    });
    save(property, options, failure);
    return { failure, fixed, outdated: ruledOut };
  }
  return { fixed, outdated: ruledOut };
}

async function failureOf(
  property: Property,
  world: World,
  options: CheckOptions,
  given: unknown,
  outcome: CaseOutcome,
  facts: Pick<Failure, 'casesToFail' | 'shrinks' | 'seed'> & Partial<Failure>,
): Promise<Failure> {
  const { trainer } = options;
  const trouble = outcome as Trouble;
  const gone =
    trouble.kind === 'error' && (trouble.failure.kind === 'budget' || trouble.failure.kind === 'start');
  const stderrTail = trainer.stderrTail();
  const lines: string[] = [];
  const confirmed = gone ? 'not re-run' : await confirm(property, trainer, world, given, troubleOf(outcome));
  if (!gone) await runCase(property, trainer, world, given, lines);
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

function save(property: Property, options: CheckOptions, failure: Failure): void {
  const corpus: Corpus | undefined = options.corpus;
  corpus?.save({
    id: failure.caseId,
    property: property.id,
    given: failure.given,
    sentence: failure.finding?.sentence ?? failure.trainerFailure?.message ?? '',
    trainer: options.trainer.hello.name,
    command: options.command,
    seed: failure.seed,
    ...(failure.path === undefined ? {} : { path: failure.path }),
    lines: failure.lines,
    version: VERSION,
  });
}

/** Each property draws its own cases from the run's seed, so that adding one leaves the others' cases alone. */
export function seedOf(seed: number, id: string): number {
  let hash = seed | 0;
  for (let at = 0; at < id.length; at++) hash = (Math.imul(hash, 31) + id.charCodeAt(at)) | 0;
  return hash;
}
