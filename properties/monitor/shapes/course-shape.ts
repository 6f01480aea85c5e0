// What the whole course of a series tells of a rise: whether it was a climb, and what another series did meanwhile.
import { mannKendall, median } from '../../../src/index.ts';
import { LEVEL_OF } from './rolling.ts';

/**
 * Whether what began long ago is a climb: from the stretch of the best on it rises (Mann-Kendall), and no three stretches
 * make three fifths of it, as stages of data do.
 */
export function climbs({ steps, means }: Stretches, since: number, surely = RISES): boolean {
  const at = Math.max(
    0,
    steps.findLastIndex((each) => each <= since),
  );
  const after = means.slice(at);
  if (after.length < LEAST_STRETCHES) return false;
  const levels = after.slice(2).map((_, each) => median(after.slice(each, each + 3)));
  const height = (levels.at(-1) as number) - (levels[0] as number);
  const steepest = Math.max(...levels.slice(3).map((level, each) => level - (levels[each] as number)));
  return mannKendall(after).z > surely && steepest < (after.length < LONG ? STEEP : STEEP_OF_MANY) * height;
}

const LEAST_STRETCHES = 12;
const RISES = 3;
const STEEP = 0.6;
/** Several stages make a part of it each, and of many stretches three are no climb. */
const STEEP_OF_MANY = 0.3;
const LONG = 60;

export interface Stretches {
  readonly steps: readonly number[];
  readonly means: readonly number[];
}

/** The middle of what the curve of another series had around this step and has now: of what goes beside a rise. */
export function changeSince(
  { steps, means }: Stretches,
  step: number,
): { readonly before: number; readonly now: number } | undefined {
  const at = steps.findLastIndex((each) => each <= step);
  if (at < 2 || at >= means.length - 2) return undefined;
  return { before: median(means.slice(Math.max(0, at - LEVEL_OF), at)), now: median(means.slice(-3)) };
}

/** Where the course was lowest, in medians of three stretches, and the first step from which it stays above `limit`. */
export function leftAt(
  { steps, means }: Stretches,
  limit: number,
): { readonly lowest: number; readonly level: number; readonly from: number } {
  const levels = means.map((_, at) => median(means.slice(Math.max(0, at - 1), at + 2)));
  const lowest = levels.indexOf(Math.min(...levels));
  const last = levels.findLastIndex((level) => level <= limit);
  return {
    lowest: steps[lowest] as number,
    level: levels[lowest] as number,
    from: steps[Math.min(last + 1, steps.length - 1)] as number,
  };
}
