// Bounds on time and on work, declared where they are used. docs/deadlines.md lists all of them: `npm run docs` collects them here.
// Three rules. Work of this process is bounded by CPU time or by steps. Only somebody else's process, or a person, is waited
// for by the clock. Time that is over is said in a sentence, and is no verdict about the trainer.

interface Words {
  /** What it bounds. */
  readonly of: string;
  /** What happens when it is spent. */
  readonly over: string;
  /** The option that changes it. */
  readonly option?: string;
}

/** One value: milliseconds of CPU time, milliseconds by the clock, or counted steps. */
export type Bound = Words & (Record<'cpu', number> | Record<'wall', number> | Record<'steps', number>);

/** In the order in which their files were loaded. */
export const BOUNDS: Bound[] = [];

/** Its value. */
export function bound(declared: Bound): number {
  BOUNDS.push(declared);
  return worth(declared);
}

export function worth(declared: Bound): number {
  if ('cpu' in declared) return declared.cpu;
  return 'wall' in declared ? declared.wall : declared.steps;
}

/** Time between two looks, or two drawings: nothing ends when it is over, so that no table lists it. */
export const pace = (time: number): number => time;

/** Milliseconds: a timer takes no more. */
export const LONGEST_TIMER: number = 2 ** 31 - 1;
