// What the values of one run say about how they were logged, and a plot does not show: rewards after their mean was taken away,
// a norm after clipping, a count that begins again, a rate that warms up twice.
import type { Series, SeriesRole } from '../series.ts';
import { median } from '../statistics.ts';
import type { Course } from './curve.ts';

interface Logged {
  readonly series: readonly Series[];
  readonly stateOf: (series: Series) => {
    readonly count: number;
    readonly lowest: number;
    readonly highest: number;
    readonly curve: { course(): Course } | undefined;
  };
}

export function oddValues(run: Logged): string[] {
  return [normalised(run), clipped(run), begunAgain(run), warmedUpTwice(run), countsColumns(run)].flat();
}

/** Values without which nothing is said. */
const FEWEST = 20;

interface Found {
  readonly series: Series;
  readonly lowest: number;
  readonly highest: number;
  readonly course: Course;
}

/** Series of training that are long enough. */
function all(run: Logged, role: SeriesRole): Found[] {
  return run.series.flatMap((series) => {
    if (series.role !== role || series.part !== '' || series.evaluation) return [];
    const { count, lowest, highest, curve } = run.stateOf(series);
    const course = curve?.course();
    return course === undefined || count < FEWEST ? [] : [{ series, lowest, highest, course }];
  });
}

/** Beyond rounding. */
const NOTHING = 1e-5;
/** Of a spread, that is one. */
const SPREAD = 0.01;

function normalised(run: Logged): string[] {
  const spreads = all(run, 'reward_std');
  const [spread] = spreads.filter(({ lowest }) => lowest > SPREAD);
  const rewards = all(run, 'reward');
  const centred = rewards.filter(({ lowest, highest }) => Math.max(-lowest, highest) < NOTHING);
  const isOne = ({ lowest, highest }: Found): boolean => Math.max(1 - lowest, highest - 1) < 1e-3;
  const scaled = spreads.filter(
    (each) => isOne(each) && rewards.some(({ lowest, highest }) => highest - lowest > SPREAD),
  );
  return [
    ...centred.flatMap(({ series }) =>
      spread === undefined
        ? []
        : [
            `${series.name} is 0 at each step, while ${spread.series.name} is not: the mean of the batch was taken away before it was logged. Log the values of the reward functions: only they show whether it rises.`,
          ],
    ),
    ...scaled.map(
      ({ series }) =>
        `${series.name} is 1 at each step: it was divided by itself before it was logged. Log the spread of what the reward functions give, which shows when groups have none.`,
    ),
  ];
}

/** Of stretches whose highest value is the highest of all: a norm that is cut off there. */
const AT_MOST = 0.5;
/** By which a norm that was clipped to 1 differs from 1. */
const CLIPPED = 2e-3;

function clipped(run: Logged): string[] {
  return all(run, 'grad_norm').flatMap(({ series, highest, lowest, course }) => {
    const points = course.extremes();
    const top = points.filter(({ value }) => value >= highest * (1 - CLIPPED));
    if (top.length < Math.max(FEWEST, AT_MOST * points.length) || lowest > highest * (1 - 10 * CLIPPED))
      return [];
    return [
      `${series.name} is ${shown(highest)} at most of its steps and never above: it is logged after clipping, so that no spike can be seen. Log what the clipping function returns.`,
    ];
  });
}

/** Of what it had reached, below which a count has begun again. */
const AGAIN = 0.5;
/** Values before and after, all of which rise. */
const RISING = 8;

function begunAgain(run: Logged): string[] {
  return [...all(run, 'tokens_so_far'), ...all(run, 'epoch')].flatMap(({ series, course }) => {
    const { steps, means } = course;
    const falls = means.flatMap((value, at) => (at > 0 && value < (means[at - 1] as number) ? [at] : []));
    const [at = 0] = falls;
    const [before, after] = [means[at - 1] as number, means[at] as number];
    // A count of each step goes up and down, and a fraction of a pass falls at each of them.
    if (falls.length !== 1 || at < RISING || means.length - at < RISING || after > AGAIN * before) return [];
    return [
      `${series.name} falls from ${shown(before)} at step ${steps[at - 1]} to ${shown(after)} at step ${steps[at]}, while the steps go on: it was counted anew, as after a resume that did not load it. Does the data begin again there as well?`,
    ];
  });
}

/** Of the rate before, that is left where a warm-up begins. */
const DROPPED = 0.25;
/** Values over which it climbs again, at least to twice where it began. */
const CLIMBING = 4;

function warmedUpTwice(run: Logged): string[] {
  return all(run, 'learning_rate').flatMap(({ series, highest, course }) => {
    const { steps, means } = course;
    const at = means.findIndex((value, each) => {
      const before = means[each - 1] ?? 0;
      const climb = means.slice(each, each + CLIMBING + 1);
      return (
        before > 0.05 * highest &&
        value < DROPPED * before &&
        climb.length > CLIMBING &&
        climb.every((rate, next) => next === 0 || rate > (climb[next - 1] as number)) &&
        (climb.at(-1) as number) >= 2 * value
      );
    });
    if (at < 0) return [];
    return [
      `${series.name} falls from ${shown(means[at - 1] as number)} at step ${steps[at - 1]} to ${shown(means[at] as number)} at step ${steps[at]} and climbs again: its schedule began anew, as after a resume without the scheduler's state. Is that meant?`,
    ];
  });
}

/** Of their median, by which lengths differ that are not all padded to one. */
const LENGTHS = 0.02;

function countsColumns(run: Logged): string[] {
  const lengths = all(run, 'completion_length').filter(
    ({ course: { means } }) => Math.max(...means) - Math.min(...means) > LENGTHS * median(means),
  );
  if (lengths.length === 0) return [];
  return all(run, 'tokens_so_far').flatMap(({ series, course: { means } }) => {
    // The last stretch may be shorter.
    const rises = means.slice(1, -1).map((value, at) => value - (means[at] as number));
    const rise = median(rises);
    if (rises.length < FEWEST || !(rise > 0) || rises.some((each) => each !== rise)) return [];
    return [
      `${series.name} grows by the same number at each step, while ${lengths[0]?.series.name} changes: it counts the columns of the batch, padding with them.`,
    ];
  });
}

const shown = (value: number): number => Number(value.toPrecision(3));
