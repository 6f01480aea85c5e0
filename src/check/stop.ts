// How a run is told to stop: from outside, by a signal; or by itself, because its time is over or enough has failed.
// Any AbortSignal is a signal. That name itself is not used here, because it belongs to the types of Node or of browsers,
// and whoever imports this package need not have either.
import type { Stopped } from './events.ts';

/** Looked at between two cases; an AbortSignal fits. */
export interface StopSignal {
  readonly aborted: boolean;
}

export interface StopOptions {
  readonly signal?: StopSignal;
  readonly mostMilliseconds?: number;
  readonly bail?: number;
}

export interface Stop {
  readonly signal: StopSignal;
  /** A property has failed. */
  failed(): void;
  /** Undefined also where it was stopped from outside. */
  why(): Stopped | undefined;
  /** Why a property is not judged: it had not begun, or not ended. */
  reason(begun: boolean): string;
}

/** The time begins now. */
export function stopOf({ signal, mostMilliseconds, bail }: StopOptions): Stop {
  const deadline =
    mostMilliseconds === undefined ? Number.POSITIVE_INFINITY : performance.now() + mostMilliseconds;
  let failures = 0;
  const why = (): Stopped | undefined => {
    if (signal?.aborted === true) return undefined;
    if (bail !== undefined && failures >= bail) return 'bail';
    return performance.now() >= deadline ? 'time' : undefined;
  };
  return {
    signal: {
      get aborted() {
        return signal?.aborted === true || why() !== undefined;
      },
    },
    failed: () => {
      failures++;
    },
    why,
    reason(begun) {
      switch (why()) {
        case 'time':
          return begun
            ? 'not judged: the time of --max-time was over'
            : 'not run: the time of --max-time was over';
        case 'bail':
          return begun
            ? 'not judged: --bail, another property failed'
            : 'not run: --bail, a property failed before it';
        default:
          return begun ? 'the run was interrupted' : 'the run was interrupted before it';
      }
    },
  };
}
