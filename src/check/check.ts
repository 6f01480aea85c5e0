// One property against one trainer: saved failures first, then the generated cases, then the smallest failure of each
// cause.
import type { Trainer } from '../trainer/trainer.ts';
import { VERSION } from '../version.ts';
import { drawCases, drawSeed } from './cases.ts';
import { type Failure, isMuchLeftOut, NOT_TRIED, type PropertyResult } from './events.ts';
import { compareLabels } from './failing-labels.ts';
import { countLabels, coverageOf, labelsOf, thinSentence } from './labels.ts';
import { inDtypeOf } from './numbers.ts';
import type { RunOptions } from './options.ts';
import type { Property, World } from './property.ts';
import type { Requests } from './refusals.ts';
import { mostNotJudged } from './refused/lost.ts';
import { type Keeper, keeperOf } from './saved/keeper.ts';
import { changeOf, isOf, type KnownFailure, withoutFirst } from './saved/known.ts';
import { outdated } from './saved/outdated.ts';
import { implausible } from './saved/plausible.ts';
import { type Screening, screen } from './screen.ts';
import {
  asDrawn,
  byWeight,
  type FailureContext,
  type Found,
  failuresOf,
  isCostly,
  MOST_OTHERS,
  smallest,
} from './shrink/failures.ts';
import type { StopSignal } from './stop.ts';
import { type CaseOutcome, causeOf, runCase } from './subject.ts';

export interface CheckOptions extends RunOptions {
  /** The same trainer, asked about the drawn cases: its answers are shared with the other properties of the run. */
  readonly sharing: Trainer;
  readonly shrinkMilliseconds: number;
  readonly onProgress: (done: number) => void;
  /** Before each attempt at a smaller case, with how many have been found. */
  readonly onShrink?: (shrinks: number) => void;
  /** Which property of the run has told each failure of the trainer; filled as they are told. */
  readonly told: Map<string, string>;
  /** What the user is to know of the run as a whole; of each sentence once. */
  readonly onNotice?: (sentence: string) => void;
  /** What the trainer refuses. */
  readonly requests: Requests;
}

/** The verdict on one property. */
export async function checkProperty(
  property: Property,
  world: World,
  options: CheckOptions,
): Promise<PropertyResult> {
  const { trainer, seed: runSeed, told, signal } = options;
  const context = { property, trainer, world, seed: runSeed, told, signal };
  const { corpus, command, name, onNotice } = options;
  const owner = {
    trainer: trainer.hello.name,
    command,
    version: VERSION,
    ...(name === undefined ? {} : { name }),
  };
  const keeper = keeperOf(property.id, owner, corpus, onNotice);
  const saved = await checkSaved(context, options, keeper);
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
  let known = options.known?.[property.id];
  const ownLabels = (given: unknown): readonly string[] => labelsOf(property, world, given);
  const failed = (failures: readonly Failure[], counted: Partial<PropertyResult>): PropertyResult => {
    const [failure, ...others] = failures;
    const all = {
      ...counted,
      ...(failure === undefined ? {} : { failure }),
      ...(others.length === 0 ? {} : { others }),
    };
    // What the adapter failed on itself is nothing that the trainer does, known or not.
    const ofTrainer = failures.filter(({ trainerFailure }) => trainerFailure?.kind !== 'adapter');
    if (known === undefined || ofTrainer.length === 0) return report(verdictOf(failures), all);
    const change = changeOf(known, ofTrainer, ownLabels);
    if (change === undefined && ofTrainer.length < failures.length) return report('error', all);
    return change === undefined
      ? report('known', { ...all, reason: known.reason, ...linkOf(known) })
      : report('changed', { ...all, reason: change });
  };
  if (saved.failures.length > 0)
    return failed(saved.failures, { cases: saved.failures[0]?.casesToFail ?? 1 });

  let notJudged: string | undefined;
  let recorded: Failure | undefined;
  // Of several causes the first whose case fails is the known one.
  while (known?.given !== undefined) {
    // A case of an older version may be one that the check can no longer read.
    const unlike = implausible(world, property)(known.given);
    const why =
      outdated(known.given, world, property) ??
      (unlike === undefined ? undefined : `its case can no longer be read (${unlike})`);
    const outcome: CaseOutcome =
      why === undefined
        ? await runCase(property, options.trainer, world, known.given).catch(unreadable)
        : { kind: 'refused', why };
    if (outcome.kind === 'stopped') return report('interrupted', { reason: 'the run was interrupted' });
    if (outcome.kind === 'holds' && known.bundled === undefined)
      return report('stale', { cases: 1, reason: staleReason(known) });
    // What came with an adapter is of its version and of some setting: where it holds, it is none of this trainer's, and
    // what fails is something else.
    if (outcome.kind === 'holds') {
      known = withoutFirst(known);
      continue;
    }
    if (outcome.kind === 'refused') {
      notJudged = outcome.why;
      break;
    }
    const facts = { casesToFail: 1, shrinks: 0, seed: options.seed, saved: true };
    // What came with an adapter, and fails as it was recorded, was made sure of then: a fresh process costs a trainer's start.
    const isSure = known.bundled === true && isOf(known, known.given, outcome, ownLabels);
    const asked = isSure ? { ...context, signal: NO_MORE } : context;
    [recorded] = await failuresOf(asked, [{ given: known.given, outcome, facts }]);
    // Where it is not what was recorded, or nothing was, no second kind changes the verdict.
    if (
      recorded !== undefined &&
      (known.kind === undefined || changeOf(known, [recorded], ownLabels) !== undefined)
    )
      return failed([recorded], { cases: 1 });
    break;
  }

  const arbitrary = property.given(inDtypeOf(world, property.ops));
  const seed = drawSeed(options.seed, property);
  const cases = drawCases(arbitrary, seed, Math.min(options.cases, property.mostCases ?? options.cases));
  const compared = compareLabels(property, world);
  // What is recorded is a cause of its own, whatever else fails in the same kind; one case of it is enough, and may be there.
  const ownCause: typeof causeOf = (given, outcome) => {
    const cause = causeOf(given, outcome);
    if (cause === undefined || known === undefined || !isOf(known, given, outcome, ownLabels)) return cause;
    return recorded === undefined ? `${cause}, as recorded` : undefined;
  };
  let begun = 0;
  const screening = await screen(
    cases.count,
    async () => {
      const index = begun++;
      const given = cases.next();
      const outcome = await runCase(property, options.sharing, world, given);
      labels.add(given, outcome);
      compared.add(given, outcome, index);
      const cause = ownCause(given, outcome);
      if (cause !== undefined && known === undefined && !options.verdictOnly)
        keeper.first(cause, () =>
          asDrawn(context, { index, outcome }, { at: () => given, count: cases.count }),
        );
      return { outcome, cause };
    },
    {
      signal: options.signal,
      onDone: options.onProgress,
      mostCauses: options.verdictOnly ? 1 : 1 + MOST_OTHERS,
      decided: recorded !== undefined,
    },
  );
  const { troubles, done, refused, setAside } = screening;
  const counted = { cases: done, rejected: refused, setAside };
  if (options.verdictOnly && troubles.length > 0)
    return failed(
      byWeight(troubles).map((trouble) => asDrawn(context, trouble, cases)),
      counted,
    );
  const found = await smallest(context, {
    arbitrary,
    drawSeed: seed,
    at: (index) => cases.at(index),
    count: cases.count,
    causeOf: ownCause,
    troubles: byWeight(troubles).slice(0, 1 + MOST_OTHERS),
    milliseconds: options.shrinkMilliseconds,
    signal: options.signal,
    onShrink: options.onShrink,
  });
  const smalls = await failuresOf(context, found);
  const drawn = known === undefined ? keeper.last(smalls) : smalls;
  const failures = [...(recorded === undefined ? [] : [recorded]), ...drawn];
  if (failures.length > 0) {
    if (recorded !== undefined) return failed(failures, { cases: 1 });
    const first = found[0]?.outcome;
    const shared = first === undefined ? [] : compared.shared(first, cases.count);
    const all = first === undefined ? undefined : compared.compared(first, cases.count);
    return failed(failures, {
      ...counted,
      ...(shared.length > 0 ? { failingLabels: shared } : {}),
      ...(all === undefined ? {} : { comparedLabels: all }),
    });
  }
  const whyNot = refused > setAside ? options.requests.reasonOf(property.id) : screening.refusal;
  if (screening.interrupted) return report('interrupted', { ...counted, reason: 'the run was interrupted' });
  if (done === refused + setAside) return report('skipped', { ...counted, reason: whyNot ?? 'no case ran' });
  if (known !== undefined && known.bundled === undefined && notJudged === undefined)
    return report('stale', { ...counted, reason: staleReason(known) });
  // A known case that this trainer refuses says nothing, so nothing is stale either.
  if (known !== undefined && known.bundled === undefined)
    return report('unseen', { ...counted, reason: unseenReason(known, notJudged ?? 'no case ran') });
  const thin = labels.thin();
  if (thin.length > 0) return report('thin', { ...counted, thin, reason: thin.map(thinSentence).join('; ') });
  return report(...judgedEnough({ ...screening, refusal: whyNot }, counted, options.strict === true));
}

const NO_MORE: StopSignal = { aborted: true };

/** A property of which more than half was set aside has not been checked, and does not hold: no green without judgement. */
const MOST_ASIDE = 0.5;
/** Of fewer cases the share is chance. */
const LEAST_CASES = 50;

function judgedEnough(
  { done, refused, setAside, setAsideByTrainer, refusal }: Screening,
  counted: Partial<PropertyResult>,
  strict: boolean,
): [PropertyResult['verdict'], Partial<PropertyResult>] {
  const asked = done - refused;
  if (setAside - setAsideByTrainer > asked * MOST_ASIDE && asked >= LEAST_CASES)
    return [
      'thin',
      { ...counted, reason: `${setAside} of ${done} cases were set aside, most often: ${refusal}` },
    ];
  if (setAside > asked * MOST_ASIDE)
    return ['skipped', { ...counted, reason: `less than half of the cases could be judged: ${refusal}` }];
  if (refused + setAside > done * mostNotJudged(strict))
    return [
      'skipped',
      { ...counted, reason: `only ${asked - setAside} of ${done} cases could be judged: ${refusal}` },
    ];
  const many = isMuchLeftOut({ cases: done, rejected: refused, setAside });
  return ['pass', many && refusal !== undefined ? { ...counted, reason: refusal } : counted];
}

/** A case breaks the rule; or the trainer gave no answer to judge; or all that was seen is legal where it is meant. */
function verdictOf(failures: readonly Failure[]): 'error' | 'fail' | 'ask' {
  if (failures.some(({ finding }) => finding !== undefined && finding.answers === undefined)) return 'fail';
  return failures.some(({ finding }) => finding === undefined) ? 'error' : 'ask';
}

const linkOf = ({ link }: KnownFailure): Partial<PropertyResult> => (link === undefined ? {} : { link });
const staleReason = ({ reason }: KnownFailure): string => `it holds now, and is listed as known: ${reason}`;

/** Of an entry that no case has judged: "listed as known (...), and not judged: the adapter has no op `kl`". */
export const unseenReason = ({ reason }: KnownFailure, why: string): string =>
  `it is listed as known (${reason}) and was not judged: ${why}`;

const unreadable = (): CaseOutcome => ({ kind: 'refused', why: 'its case can no longer be read' });

/** Saved failures of this property: of each cause the first that still fails, and the ids of those that hold now. */
async function checkSaved(
  context: FailureContext,
  options: CheckOptions,
  keeper: Keeper,
): Promise<{ failures: readonly Failure[]; fixed: readonly string[]; outdated: readonly string[] }> {
  const { property, trainer, world } = context;
  const fixed: string[] = [];
  const ruledOut: string[] = [];
  const found = new Map<string, Found>();
  const unlike = implausible(world, property);
  for (const saved of options.corpus?.saved(property.id) ?? []) {
    if (options.signal?.aborted || found.size > MOST_OTHERS) break;
    const { given, seed, path } = saved;
    const why = outdated(given, world, property) ?? unlike(given);
    if (why !== undefined) {
      ruledOut.push(`${saved.id}: ${why}`);
      continue;
    }
    const outcome = await runCase(property, trainer, world, given).catch(unreadable);
    if (outcome.kind === 'stopped') break;
    // No longer a valid case: kept, and not judged.
    if (outcome.kind === 'refused') {
      ruledOut.push(`${saved.id}: ${outcome.why}`);
      continue;
    }
    if (outcome.kind === 'holds') {
      if (keeper.holds(saved)) fixed.push(saved.id);
      continue;
    }
    const cause = causeOf(given, outcome) ?? '';
    const facts = { casesToFail: 1, shrinks: 0, seed, ...(path === undefined ? {} : { path }), saved: true };
    if (!found.has(cause)) found.set(cause, { given, outcome, facts });
    // The process was lost, and whatever else is saved would lose it again.
    if (isCostly(outcome)) break;
  }
  const failures = await failuresOf(context, byWeight([...found.values()]));
  return { failures: keeper.last(failures), fixed, outdated: ruledOut };
}
