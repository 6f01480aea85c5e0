// A decay that is at its end long before the run is: a scheduler that is stepped twice per step, or by each process, or was
// told fewer steps than there are. With another floor than 0 that is legal, and so it is a remark.
import type { RuleWorld, Series } from '../../../src/index.ts';
import { read } from '../watches.ts';
import { declaredNumber } from '../world.ts';
import { scheduleOf } from './declared-schedule.ts';

/** As trainers call the steps of a whole run. */
const STEPS = [
  'max_steps',
  'total_steps',
  'total_training_steps',
  'trainer.total_training_steps',
  'num_training_steps',
  'max_iters',
  'train_iters',
] as const;

/** Of the declared steps; a schedule that leaves out its last few is as usual as one that does not. */
const EARLY = 0.9;
/** Of the way from the peak to the lowest rate. */
const AT_END = 1e-3;
/** Points at the end that make a floor; of the peak, how far a rate has to fall; of its way down, what one step up may be, and what all of them are. */
const FEWEST = 5;
const FELL = 0.5;
const LEAP = 0.3;
const AGAIN = 0.1;
const ROUNDING = 1e-3;

/** Undefined: it is not so, or rules about a declared schedule say it. */
export function earlyEndOf(world: RuleWorld, series: Series): string | undefined {
  const total = declaredNumber(world, ...STEPS) ?? 0;
  const course = world.courseOf(series);
  if (series.part !== '' || course === undefined || !(total > 0) || scheduleOf(world) !== undefined)
    return undefined;
  const { steps, means } = course;
  const last = steps.at(-1) ?? 0;
  if (last > total * (1 + ROUNDING) + 1 || last < total / 4) return undefined;
  const peak = Math.max(...means);
  const low = Math.min(...means.slice(means.indexOf(peak)));
  if (low > FELL * peak) return undefined;
  const ends = means.findIndex(
    (rate, row) => row > means.indexOf(peak) && rate - low <= AT_END * (peak - low),
  );
  const end = steps[ends] as number;
  if (end > EARLY * total || means.length - ends < FEWEST) return undefined;
  if (means.slice(ends).every((rate) => Math.abs(rate - low) <= AT_END * peak))
    return low > 0
      ? `${series.name} is at its lowest, ${read(low)}, from step ${end} of ${total} on: is the schedule stepped more than once per step, or was it told fewer steps?`
      : undefined;
  // A restart leaps; this one goes up the way that it came down.
  const lowest = means.indexOf(low);
  const behind = means.slice(lowest);
  const ups = behind.slice(1).map((rate, row) => rate - (behind[row] as number));
  const gently = ups.every((up) => up >= -ROUNDING * peak && up <= LEAP * (peak - low));
  const rise = (behind.at(-1) ?? 0) - low;
  if (!gently || rise < AGAIN * (peak - low)) return undefined;
  return `${series.name} falls to ${read(low)} at step ${steps[lowest]} of ${total} and rises again to ${read(low + rise)}: a cosine does so beyond its last step. Is the schedule stepped more than once per step, or was it told fewer steps?`;
}
