// `await expect(trainer).toHold('mask/*')`: what it checks, when it ends, and what it says. vitest.ts hands it to vitest.
import type { MatcherState } from 'vitest';
import { bound } from '../src/bounds.ts';
import { freshSeed, type HoldOptions, hold, isProblem, type Property, receive } from '../src/index.ts';
import { properties } from './index.ts';

/** Ids, stages and globs as on the command line, and properties themselves. */
export type Holding = string | Property | readonly (string | Property)[];

export interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

/** Of the time that the test has left: finding takes the most, and there must be some to say it. */
const SHARE_TO_SHRINK = 0.4;
const SHARE_TO_STOP = 0.85;
/** As on the command line. */
const MOST_SHRINK_SECONDS =
  bound({
    of: '`toHold` in a test: making a failure smaller',
    wall: 60_000,
    over: 'the smallest case so far is shown; the verdict stays',
    option: 'shrinkSeconds',
  }) / 1_000;

/**
 * Passes where everything that was named holds; with `.not`, where at least one property shows the trainer wrong. An
 * error of the trainer, a name that fits nothing and a name of which nothing could be checked fail both ways.
 */
export async function toHold(
  this: Pick<MatcherState, 'isNot' | 'task'>,
  received: unknown,
  what?: Holding,
  options: HoldOptions = {},
): Promise<MatcherResult> {
  const { isNot } = this;
  const left = millisecondsLeft(this.task);
  const trainer = await receive(received);
  if (isProblem(trainer)) return { pass: isNot, message: () => trainer.problem };
  const signal = left === undefined ? undefined : AbortSignal.timeout(Math.round(left * SHARE_TO_STOP));
  try {
    const { kind, words } = await hold(
      trainer.setting,
      {
        catalogue: properties,
        what: what === undefined || Array.isArray(what) ? (what as undefined) : [what as string | Property],
        seed: options.seed ?? freshSeed(process.env),
        // A trainer that is wrong on purpose must leave no cases behind for the one that is meant to be right.
        keep: !isNot,
        ...(signal === undefined ? {} : { signal }),
      },
      { shrinkSeconds: shrinkSeconds(left), ...options },
    );
    if (kind === 'unclear') {
      const late = signal?.aborted ? LATE : '';
      return { pass: isNot, message: () => words + late };
    }
    return {
      pass: kind === 'holds',
      message: () => (isNot ? `A faulty trainer was to be caught, and was not.\n${words}` : words),
    };
  } finally {
    await trainer.done();
  }
}

const LATE =
  '\nIt was stopped before the time of the test was over: test(name, { timeout: 60_000 }, ...) gives it more.';

/** Until vitest ends this test without a word of ours; undefined outside of a test or where it has no limit. */
function millisecondsLeft(test: MatcherState['task']): number | undefined {
  if (test === undefined || !Number.isFinite(test.timeout) || test.timeout <= 0) return undefined;
  const gone = Date.now() - (test.result?.startTime ?? Date.now());
  return Math.max(1, test.timeout - gone);
}

function shrinkSeconds(left: number | undefined): number {
  if (left === undefined) return MOST_SHRINK_SECONDS;
  return Math.min(MOST_SHRINK_SECONDS, (left * SHARE_TO_SHRINK) / 1_000);
}
