// The slow half: a failing case is handed to fast-check, which shrinks it; the smallest is tried again in the
// same process and in a fresh one, so that a report can say whether it always happens.
import fc from 'fast-check';
import { bound } from '../../bounds.ts';
import { isCostly } from '../../trainer/failure.ts';
import type { Trainer } from '../../trainer/trainer.ts';
import type { CasePath, Failure, ShrinkStep } from '../events.ts';
import type { Property, World } from '../property.ts';
import type { StopSignal } from '../stop.ts';
import type { CaseOutcome } from '../subject.ts';
import { causeOf, runCase, troubleOf } from '../subject.ts';
import { valuesThatDoNotMatter } from './any-value.ts';
import { dropRows } from './drop-rows.ts';
import { dropTokens } from './drop-tokens.ts';
import { stepsOf } from './steps.ts';
import { learnStructure } from './structure.ts';

/** A crash or hang costs a restart each time it is seen again: shrink such a case by this many attempts at most. */
const COSTLY_ATTEMPTS = bound({
  of: 'attempts to make a case smaller that ends the process',
  steps: 24,
  over: 'the smallest case so far is shown; the verdict stays',
});
/** And by this many that fail: each costs two restarts of the budget, and confirming the last needs some of it. */
const COSTLY_SHRINKS = 3;
/** Cases that tell how a generator's cases hang together: lists that are independent differ in one of so many. */
const SAMPLE = 200;
/** A row less may make a token superfluous, and the other way round; it ends long before. */
const MOST_PASSES = 5;
/** Of the time for shrinking: a reader waits for the failure, not for what may be dimmed in it. */
const DIM_SHARE = 1 / 6;

export interface Shrunk<Case> {
  readonly given: Case;
  readonly outcome: CaseOutcome;
  readonly shrinks: number;
  readonly path: string | undefined;
  readonly stopped: 'time' | undefined;
  readonly steps: readonly ShrinkStep[];
}

export interface ShrinkOptions<Case> {
  readonly property: Property<Case>;
  readonly arbitrary: fc.Arbitrary<Case>;
  readonly trainer: Trainer;
  readonly world: World;
  readonly seed: number;
  /** Index of the failing case among those of `seed`. */
  readonly index: number;
  readonly given: Case;
  readonly outcome: CaseOutcome;
  /** What a smaller case must be a case of, too; default: the same kind of trouble, on the same route. */
  readonly causeOf?: typeof causeOf;
  readonly milliseconds: number;
  readonly signal?: StopSignal | undefined;
  /** Called before each attempt, with the smaller cases found so far. */
  readonly onAttempt?: ((shrinks: number) => void) | undefined;
}

/** The smallest case that is in the same trouble, on the same route. Other troubles met on the way are passed over. */
export async function shrink<Case>(options: ShrinkOptions<Case>): Promise<Shrunk<Case>> {
  const { property, arbitrary, trainer, world, seed, index } = options;
  const of = options.causeOf ?? causeOf;
  const cause = of(options.given, options.outcome);
  const costly = options.outcome.kind === 'error' && isCostly(options.outcome.failure);
  const deadline = performance.now() + options.milliseconds;
  let smallest = { given: options.given, outcome: options.outcome };
  const accepted = [smallest];
  let shrinks = -1; // the first failure that fast-check sees is the case itself
  let attempts = 0;
  let stopped: 'time' | undefined;

  const isTrouble = async (given: Case): Promise<boolean> => {
    attempts++;
    options.onAttempt?.(Math.max(shrinks, 0));
    if (options.signal?.aborted) return false;
    if (
      performance.now() > deadline ||
      (costly && (attempts > COSTLY_ATTEMPTS || shrinks >= COSTLY_SHRINKS))
    ) {
      stopped = 'time';
      return false;
    }
    const outcome = await runCase(property, trainer, world, given);
    if (of(given, outcome) !== cause) return false;
    smallest = { given, outcome };
    // fast-check begins with the case that is there already.
    if (shrinks >= 0) accepted.push(smallest);
    shrinks++;
    return true;
  };

  const details = await fc.check(
    fc.asyncProperty(arbitrary, async (given) => !(await isTrouble(given))),
    { seed, path: String(index), numRuns: 1 },
  );
  await leaveOut(options, () => smallest.given, isTrouble);
  return {
    ...smallest,
    shrinks: Math.max(shrinks, 0),
    path: details.counterexamplePath ?? undefined,
    stopped,
    steps: stepsOf(accepted),
  };
}

/**
 * Rows and tokens that fast-check cannot reach, as far as the generator's own cases could lack them. A check that
 * cannot read such a case after all says nothing: then the row stays.
 */
async function leaveOut<Case>(
  { arbitrary, seed, milliseconds }: ShrinkOptions<Case>,
  smallest: () => Case,
  isTrouble: (given: Case) => Promise<boolean>,
): Promise<void> {
  if (milliseconds <= 0) return;
  const { rows, tokens } = learnStructure(sampleOf(arbitrary, seed));
  const stillFails = (given: Case): Promise<boolean> => isTrouble(given).catch(() => false);
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const before = smallest();
    await dropRows(smallest(), rows, stillFails);
    await dropTokens(smallest(), tokens, stillFails);
    if (smallest() === before) return;
  }
}

/** Cases that the generator draws from this seed. */
function sampleOf<Case>(arbitrary: fc.Arbitrary<Case>, seed: number): Case[] {
  return fc.sample(arbitrary, { seed, numRuns: SAMPLE });
}

/** The values of the smallest case that do not matter; none are looked for where each look costs a restart. */
export async function dimmed<Case>(
  { property, arbitrary, trainer, world, seed, milliseconds, signal }: ShrinkOptions<Case>,
  { given, outcome }: Pick<Shrunk<Case>, 'given' | 'outcome'>,
): Promise<readonly CasePath[]> {
  if (milliseconds <= 0 || signal?.aborted || outcome.kind !== 'fails') return [];
  const trouble = troubleOf(outcome);
  const deadline = performance.now() + milliseconds * DIM_SHARE;
  return valuesThatDoNotMatter(given, sampleOf(arbitrary, seed), async (other) => {
    if (signal?.aborted || performance.now() > deadline) return false;
    // A value from another case may make one that the check cannot read.
    const again = await runCase(property, trainer, world, other as Case).catch(() => undefined);
    return again !== undefined && troubleOf(again) === trouble;
  });
}

/**
 * Does it happen again: in a fresh process (deterministic), in a fresh one now and then (some processes), only in the used one (state
 * leak), or not (flaky)? A trainer that can no longer be started says nothing about that.
 */
export async function confirm<Case>(
  property: Property<Case>,
  trainer: Trainer,
  world: World,
  given: Case,
  trouble: string | undefined,
): Promise<Failure['confirmed']> {
  const used = troubleOf(await runCase(property, trainer, world, given));
  for (let tried = 0; tried < FRESH; tried++) {
    // One tells what is kept from what is not; others, whether processes differ.
    if (tried > 0 && used !== trouble) break;
    await trainer.restart();
    const outcome = await runCase(property, trainer, world, given);
    const fresh = troubleOf(outcome);
    if (outcome.kind === 'stopped' || (fresh !== undefined && GONE.has(fresh))) {
      if (tried === 0) return 'not re-run';
      break;
    }
    if (fresh === trouble) return tried === 0 ? 'deterministic' : 'some processes';
  }
  return used === trouble ? 'state leak' : 'flaky';
}

/** Of processes that order a set by their own seed, one in two or three may be as the used one was. Counted: it is said of the trainer. */
const FRESH = bound({
  of: 'fresh processes that are asked whether a failure happens again',
  steps: 4,
  over: 'it is reported as a state leak, or as flaky',
});
const GONE: ReadonlySet<string> = new Set(['error budget', 'error start']);
