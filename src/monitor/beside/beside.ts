// A run in a few numbers, so that others can be laid beside it: of each series the level at the start, the best, the level
// at the end, and the course between. `--baseline` names runs that are held to be healthy; rules see them as this.
import type { Course } from '../history/curve.ts';
import type { Series, SeriesRole } from '../series.ts';

export interface SeriesSummary extends Pick<Series, 'name' | 'role' | 'part' | 'evaluation'> {
  /** Finite values. */
  readonly points: number;
  /** Median of the first values, and of the last. */
  readonly start: number;
  readonly end: number;
  /** The lowest, or the highest where more is better; a mean of a stretch in a long log. */
  readonly best: number;
  readonly bestStep: number;
  readonly median: number;
  /** The highest value of all, not thinned. */
  readonly peak: number;
  /** As a standard deviation; NaN of fewer than two values. */
  readonly noise: number;
  readonly course: Course;
}

export interface BaselineRun {
  /** As the user would name it. */
  readonly name: string;
  readonly series: readonly SeriesSummary[];
  /** What it said of its own settings. */
  readonly declared: (name: string) => string | number | boolean | undefined;
}

/** The runs of `--baseline`: at least one. */
export interface BaselineRuns {
  readonly runs: readonly BaselineRun[];
}

/** Whether more of it is better. */
export function isHigherBetter(role: SeriesRole | undefined): boolean {
  return role === 'reward' || role === 'preference_accuracy';
}

/** How many values at an end of a course are its level there: a tenth, at most half of few. */
export function edgeOf(count: number): number {
  return Math.max(1, Math.min(count >> 1, Math.max(SHORT_EDGE, Math.round(count / 10))));
}

/** A median of five lets two outliers pass. */
const SHORT_EDGE = 5;
