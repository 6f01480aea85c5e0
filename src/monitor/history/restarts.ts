// What steps mean that go back to where a run began. Either the log holds a second run, or the trainer counts the steps of
// each pass anew: the level of what is logged tells.

import type { SeriesRole } from '../series.ts';
import { median, noiseOf } from '../statistics.ts';
import type { Course } from './curve.ts';

/** Points of a series without which its level is not known. */
export const FEWEST_BEFORE = 5;

/** Of the steps that a run had reached, what counts as its beginning. */
const BEGINNING = 0.05;

export function isBeginning(step: number, [first, last]: readonly [number, number]): boolean {
  return step <= first + BEGINNING * (last - first);
}

export interface Held {
  readonly role: SeriesRole | undefined;
  /** As it was before. */
  readonly course: Course | undefined;
  readonly values: readonly number[];
}

/**
 * Whether a second run begins. Each series whose end differed from its beginning by more than its noise votes with the one
 * that its new values are nearer to; a count of passes, which only goes up within a run, decides alone. Where all are level
 * there is nothing that could be blamed on the seam, and steps are counted on.
 */
export function isSecondRun(series: readonly Held[]): boolean {
  let votes = 0;
  for (const { role, course, values } of series) {
    const now = values.filter(Number.isFinite);
    if (course === undefined || course.means.length < FEWEST_BEFORE || now.length < FEWEST_NOW) continue;
    const begin = median(course.means.slice(0, ENDS));
    const end = median(course.means.slice(-ENDS));
    const noise = noiseOf(course.means) || 0;
    if (Math.abs(end - begin) <= TELLING * noise || begin === end) continue;
    const here = median(now);
    const anew = Math.abs(here - begin) < Math.abs(here - end);
    if (role === 'epoch') return anew;
    votes += (anew ? 1 : -1) * (role === undefined ? UNKNOWN_VOTE : 1);
  }
  return votes > 0;
}

/** Values at either end that make its level. */
const ENDS = 3;
const FEWEST_NOW = 2;
/** Noises: the medians of three differ by less than as many. */
const TELLING = 4;
/** A series that nobody knows may be anything. */
const UNKNOWN_VOTE = 0.1;
