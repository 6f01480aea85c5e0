// What healthy runs had at about the step that a run has reached, as a range: wide enough for another seed, another
// logging interval, another length and another size of batch.
//   The level of a run is the median of its last values (edgeOf), a baseline's a running median of three. A run may be
// `behind` times slower: it is held against all levels from a `behind`-th of its step to its step; where both log passes
// over the data and a pass takes another number of steps, from the earlier to the later of both measures. Behind its end, a
// baseline stays what it was. `spread` is how far the baselines are from each other there, `noise` the larger of theirs and
// the run's (see noiseBeside), as a standard deviation of single values: the noise of a level is at most half of it.
import {
  type Course,
  edgeOf,
  median,
  noiseOf,
  type RuleWorld,
  type Series,
  type SeriesSummary,
  type Violation,
  type Watch,
} from '../../../src/index.ts';
import { read, watchCourses } from '../watches.ts';

/** A series of the run, and the same of each baseline that logs it. */
export interface Beside {
  readonly series: Series;
  readonly course: Course;
  readonly baselines: readonly SeriesSummary[];
  /** Of the run. */
  readonly now: number;
  /** The first and the last step that `now` is the level of. */
  readonly from: number;
  readonly last: number;
  readonly noise: number;
  /** The log is at its end. */
  readonly ended: boolean;
  /** What baselines had at about this step. */
  readonly expectedAt: (step: number, behind: number) => Expected;
  /** Median of three values around this one of the course. */
  readonly levelAt: (at: number) => number;
}

export interface Expected {
  readonly low: number;
  readonly high: number;
  readonly spread: number;
  /** Of the median of each, the lowest and the highest. */
  readonly middle: readonly [number, number];
}

export interface BesideOptions {
  readonly suits: (series: Series) => boolean;
  readonly judge: (beside: Beside) => Violation | 'seen' | undefined;
  /** Values of a series before it is judged; of an evaluation `LEAST_EVALUATIONS`. */
  readonly least: number;
  readonly why: string;
}

export function watchBeside(world: RuleWorld, { suits, judge, least, why }: BesideOptions): Watch {
  let reason = why;
  return watchCourses(world, {
    judge: (series, course, ended) => {
      const count = course.means.length;
      if (!suits(series) || (!series.evaluation && count < least)) return undefined;
      const baselines = counterpartsOf(world, series);
      if (baselines.length === 0) {
        reason = `no baseline logs as much of ${series.name}`;
        return undefined;
      }
      return judge({ ...besideOf(world, series, course, baselines), ended });
    },
    least: Math.min(least, LEAST_EVALUATIONS),
    why: () => reason,
  });
}

/** Series of the baselines by name; else the only one of the same role and part. */
export function counterpartsOf(world: RuleWorld, series: Series): readonly SeriesSummary[] {
  const { name, role, part, evaluation } = series;
  const least = evaluation ? LEAST_EVALUATIONS : LEAST_OF_BASELINE;
  return (world.baseline?.runs ?? []).flatMap((run) => {
    const alike = run.series.filter(
      (each) => each.role === role && each.part === part && each.evaluation === evaluation,
    );
    const found = alike.find((each) => each.name === name) ?? (alike.length === 1 ? alike[0] : undefined);
    return found !== undefined && found.points >= least ? [found] : [];
  });
}

/** Three digits: what a person compares. */
export const brief = (value: number): string => read(Number(value.toPrecision(3)));

/** Words for a range of levels: `0.94`, or `0.94 to 0.98`. */
export function rangeWords(values: readonly number[]): string {
  const [low, high] = [brief(Math.min(...values)), brief(Math.max(...values))];
  return low === high ? low : `${low} to ${high}`;
}

/**
 * Steps a pass over the data takes, by what is logged of passes, else by what a trainer says of how far it came; undefined where
 * neither tells, or too coarsely.
 */
function stepsPerEpoch(passes: Course | undefined, declared: RuleWorld['declared']): number | undefined {
  const [first, last] = [passes?.means[0], passes?.means.at(-1)];
  const [from, to] = [passes?.steps[0], passes?.steps.at(-1)];
  if (first !== undefined && last !== undefined && from !== undefined && to !== undefined)
    return last - first >= LEAST_PASS && to > from ? (to - from) / (last - first) : undefined;
  const [epoch, steps] = [Number(declared('epoch')), Number(declared('global_step'))];
  return epoch >= LEAST_PASS && steps > 0 ? steps / epoch : undefined;
}

/** The step from which on a run is on the wrong side: back from the last value of its level that is. */
export function onsetOf(
  { course, levelAt, from }: Beside,
  wrong: (level: number, step: number) => boolean,
): number {
  const isWrong = (at: number): boolean => wrong(levelAt(at), course.steps[at] as number);
  let at = course.steps.length - 1;
  while (at > 0 && !isWrong(at) && (course.steps[at] as number) >= from) at--;
  if (!isWrong(at)) return from;
  while (at > 0 && isWrong(at - 1)) at--;
  return course.steps[at] as number;
}

/**
 * The first step at which every baseline has a level. In a long log the first level is a mean over a stretch, in which a loss
 * may have fallen far: what another run had within it is not compared.
 */
export function firstOf({ baselines }: Beside): number {
  return Math.max(
    ...baselines.map(({ course, points }) => course.steps[points > course.means.length ? 1 : 0] ?? 0),
  );
}

// --- helpers ---

/** Evaluations are few and cost little noise. */
const LEAST_EVALUATIONS = 4;
const LEAST_OF_BASELINE = 5;
/** Passes are logged with two digits behind the point by some. */
const LEAST_PASS = 0.2;
/** Square root of ten, and some. */
const ROUGHER = 4;
/** Between two measures of how far a run is. */
const SAME_PACE = 1.1;

function besideOf(
  world: RuleWorld,
  series: Series,
  course: Course,
  baselines: readonly SeriesSummary[],
): Omit<Beside, 'ended'> {
  const { means, steps } = course;
  const edge = edgeOf(means.length);
  const levels = baselines.map((each) => runningMedian(each.course.means));
  const [first = 0, last = 0] = [steps[0], steps.at(-1)];
  const interval = means.length > 1 ? (last - first) / (means.length - 1) : 0;
  const own = paceOf(world);
  const smooth = runningMedian(means);
  return {
    series,
    course,
    baselines,
    now: median(means.slice(-edge)),
    from: steps[means.length - edge] as number,
    last,
    noise: noiseBeside(means, baselines),
    expectedAt: (step, behind) => {
      const ranges = baselines.map((each, at) => {
        const pace = paceOfBaseline(world, each);
        const ratio = own === undefined || pace === undefined ? 1 : pace / own;
        const other = Math.max(ratio, 1 / ratio) > SAME_PACE ? step * ratio : step;
        const reach = { from: Math.min(step, other) / behind, to: Math.max(step, other) };
        return levelsIn(each.course.steps, levels[at] ?? [], {
          from: Math.min(reach.from, reach.to - interval),
          to: reach.to,
        });
      });
      const [lows, highs] = [ranges.map(({ low }) => low), ranges.map(({ high }) => high)];
      const spreads = [lows, highs].map((each) => Math.max(...each) - Math.min(...each));
      const middles = ranges.map(({ middle }) => middle);
      return {
        low: Math.min(...lows),
        high: Math.max(...highs),
        spread: Math.max(...spreads),
        middle: [Math.min(...middles), Math.max(...middles)],
      };
    },
    levelAt: (at) => smooth[at] as number,
  };
}

/**
 * That of the run counts up to `ROUGHER` times theirs, which logging each step instead of means over ten makes; more is what
 * is to be found.
 */
function noiseBeside(means: readonly number[], baselines: readonly SeriesSummary[]): number {
  const theirs = Math.max(0, ...baselines.map((each) => steadyNoise(each.course.means)));
  const own = steadyNoise(means);
  return theirs > 0 ? Math.max(theirs, Math.min(own, ROUGHER * theirs)) : 0;
}

/** noiseOf, or of second differences where a trend is all that the first have: 1.4826 median |x_i-1 - 2 x_i + x_i+1| / sqrt(6). */
function steadyNoise(values: readonly number[]): number {
  const seconds = values
    .slice(2)
    .map((value, at) => Math.abs(value - 2 * (values[at + 1] as number) + (values[at] as number)));
  const bent = (1.4826 * median(seconds)) / Math.sqrt(6);
  return Math.min(noiseOf(values), bent) || 0;
}

export function paceOf(world: Pick<RuleWorld, 'series' | 'courseOf' | 'declared'>): number | undefined {
  const series = world.series().find(isPasses);
  return stepsPerEpoch(series === undefined ? undefined : world.courseOf(series), world.declared);
}

function paceOfBaseline({ baseline }: RuleWorld, of: SeriesSummary): number | undefined {
  const run = baseline?.runs.find(({ series }) => series.includes(of));
  return run === undefined ? undefined : stepsPerEpoch(run.series.find(isPasses)?.course, run.declared);
}

function isPasses({ role, evaluation }: Pick<Series, 'role' | 'evaluation'>): boolean {
  return role === 'epoch' && !evaluation;
}

/** Of a baseline's levels between two steps: where it has none there, the nearest before, else its first. */
function levelsIn(
  steps: readonly number[],
  levels: readonly number[],
  reach: { readonly from: number; readonly to: number },
): { readonly low: number; readonly high: number; readonly middle: number } {
  const inside = levels.filter(
    (_, at) => (steps[at] as number) >= reach.from && (steps[at] as number) <= reach.to,
  );
  const before = levels[steps.findLastIndex((step) => step <= reach.to)] ?? levels[0] ?? Number.NaN;
  const all = inside.length > 0 ? inside : [before];
  return { low: Math.min(...all), high: Math.max(...all), middle: median(all) };
}

/** Of three; what stands at an end stays what it is. */
function runningMedian(values: readonly number[]): readonly number[] {
  return values.map((value, at) => median([values[at - 1] ?? value, value, values[at + 1] ?? value]));
}
