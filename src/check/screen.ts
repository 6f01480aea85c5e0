// The fast half of a run: many cases in flight at once. The first in trouble does not end it while going on is cheap,
// because behind it another cause may hide. Says nothing about why.
import { bound, pace } from '../bounds.ts';
import { isCostly } from '../trainer/failure.ts';
import type { StopSignal } from './stop.ts';
import type { CaseOutcome } from './subject.ts';

/** Cases in flight at most: enough to keep a pipelined process busy while a chunk of cases is drawn. */
const WINDOW = 256;
/** A slow trainer gets a smaller window, so that what is in flight takes about this long. */
const IN_FLIGHT_MILLISECONDS = pace(500);
/**
 * Behind the first trouble: a second cause that shows in one case of a hundred is found. Counted, and never by the clock: whether all
 * causes are known failures is part of the verdict.
 */
const FURTHER_CASES = bound({
  of: 'cases after the first one in trouble, in search of other causes',
  steps: 500,
  over: 'the causes found so far are shown',
});

export interface Troubled {
  readonly index: number;
  readonly outcome: CaseOutcome;
}

export interface Screened {
  readonly outcome: CaseOutcome;
  /** Of a case in trouble, what it is a case of. */
  readonly cause: string | undefined;
}

export interface Screening {
  /** Of each cause the case with the lowest index, the lowest first. */
  readonly troubles: readonly Troubled[];
  /** Cases that ran to their end, refused ones and those set aside included. */
  readonly done: number;
  /** By the trainer. */
  readonly refused: number;
  /** By the check: they say nothing about its rule. */
  readonly setAside: number;
  /** Of those, how many through the trainer's doing. */
  readonly setAsideByTrainer: number;
  /** Why most of either did not count. */
  readonly refusal: string | undefined;
  readonly interrupted: boolean;
}

export interface ScreenOptions {
  readonly signal?: StopSignal | undefined;
  readonly onDone?: (done: number) => void;
  /** So many causes are enough. */
  readonly mostCauses: number;
  /** The verdict stands already, and only further causes are looked for. */
  readonly decided?: boolean;
}

/**
 * Runs `count` cases, started in order. From the first trouble on it starts new ones only while that is cheap: so many,
 * and none once the process itself was lost, since every further loss costs a restart.
 */
export async function screen(
  count: number,
  runNext: () => Promise<Screened>,
  { signal, onDone, mostCauses, decided = false }: ScreenOptions,
): Promise<Screening> {
  let next = 0;
  let done = 0;
  let refused = 0;
  let setAside = 0;
  let setAsideByTrainer = 0;
  const reasons = countReasons();
  let lost = false;
  const troubles = new Map<string, Troubled>();
  let further = Number.POSITIVE_INFINITY;
  if (decided) further = FURTHER_CASES;

  const goesOn = (limit: number): boolean =>
    next < Math.min(limit, further) && !lost && troubles.size < mostCauses && signal?.aborted !== true;
  const lane = async (limit: number): Promise<void> => {
    while (goesOn(limit)) {
      const index = next++;
      const { outcome, cause } = await runNext();
      if (outcome.kind === 'stopped') return;
      done++;
      if (outcome.kind === 'refused') {
        if (outcome.setAside === undefined) refused++;
        else setAside++;
        if (outcome.setAside === 'trainer') setAsideByTrainer++;
        reasons.add(outcome.why);
      } else if (cause !== undefined) {
        further = Math.min(further, index + FURTHER_CASES);
        lost ||= outcome.kind === 'error' && isCostly(outcome.failure);
        const before = troubles.get(cause);
        if (before === undefined || index < before.index) troubles.set(cause, { index, outcome });
      }
      onDone?.(done);
    }
  };

  // The first case runs alone: it tells how slow the trainer is, and a trainer that always fails fails here.
  const started = performance.now();
  await lane(Math.min(1, count));
  const first = performance.now() - started;
  const lanes = Math.max(1, Math.min(WINDOW, Math.floor(IN_FLIGHT_MILLISECONDS / Math.max(first, 1))));
  await Promise.all(Array.from({ length: lanes }, () => lane(count)));
  const interrupted = signal?.aborted === true && done < count;
  return {
    troubles: [...troubles.values()].sort((a, b) => a.index - b.index),
    done,
    refused,
    setAside,
    setAsideByTrainer,
    refusal: reasons.commonest(),
    interrupted,
  };
}

/** Beyond so many, a trainer says something else each time: counted without end, they would fill the memory. */
const MOST_REASONS = 200;

/** Why cases did not count; what differs in numbers alone is one reason, in the words of its first case. */
function countReasons(): { add(why: string): void; commonest(): string | undefined } {
  const reasons = new Map<string, { readonly why: string; times: number }>();
  return {
    add(why) {
      const key = why.replaceAll(/\d+/g, '#');
      const known = reasons.get(key);
      if (known !== undefined) known.times++;
      else if (reasons.size < MOST_REASONS) reasons.set(key, { why, times: 1 });
    },
    /** The first of those that were said most. */
    commonest() {
      const most = Math.max(0, ...[...reasons.values()].map(({ times }) => times));
      return [...reasons.values()].find(({ times }) => times === most)?.why;
    },
  };
}
