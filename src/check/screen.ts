// The fast half of a run: many cases in flight at once, until one is in trouble. Says nothing about why.
import type { StopSignal } from './stop.ts';
import type { CaseOutcome } from './subject.ts';

/** Cases in flight at most: enough to keep a pipelined process busy while a chunk of cases is drawn. */
const WINDOW = 256;
/** A slow trainer gets a smaller window, so that what is in flight takes about this long. */
const IN_FLIGHT_MILLISECONDS = 500;

export interface Screening {
  /** Lowest index in trouble, with its outcome. */
  readonly trouble: { readonly index: number; readonly outcome: CaseOutcome } | undefined;
  /** Cases that ran to their end, refused ones and those set aside included. */
  readonly done: number;
  /** By the trainer. */
  readonly refused: number;
  /** By the check: they say nothing about its rule. */
  readonly setAside: number;
  /** Why the first of either did not count. */
  readonly refusal: string | undefined;
  readonly interrupted: boolean;
}

/** Runs `count` cases, started in order, and stops starting new ones at the first trouble. */
export async function screen(
  count: number,
  runNext: () => Promise<CaseOutcome>,
  options: { readonly signal?: StopSignal | undefined; readonly onDone?: (done: number) => void },
): Promise<Screening> {
  let next = 0;
  let done = 0;
  let refused = 0;
  let setAside = 0;
  let refusal: string | undefined;
  const troubles: { index: number; outcome: CaseOutcome }[] = [];

  const lane = async (limit: number): Promise<void> => {
    while (next < limit && troubles.length === 0 && !options.signal?.aborted) {
      const index = next++;
      const outcome = await runNext();
      done++;
      if (outcome.kind === 'refused') {
        if (outcome.setAside) setAside++;
        else refused++;
        refusal ??= outcome.why;
      } else if (outcome.kind !== 'holds') troubles.push({ index, outcome });
      options.onDone?.(done);
    }
  };

  // The first case runs alone: it tells how slow the trainer is, and a trainer that always fails fails here.
  const started = performance.now();
  await lane(Math.min(1, count));
  const first = performance.now() - started;
  const lanes = Math.max(1, Math.min(WINDOW, Math.floor(IN_FLIGHT_MILLISECONDS / Math.max(first, 1))));
  await Promise.all(Array.from({ length: lanes }, () => lane(count)));
  const trouble = troubles.sort((a, b) => a.index - b.index)[0];
  const interrupted = options.signal?.aborted === true && done < count;
  return { trouble, done, refused, setAside, refusal, interrupted };
}
