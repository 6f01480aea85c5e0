// A series that is the mean of all values since the start. It hides what happens late: step t moves it by a t-th of what that
// step differs by. So the changes, each times its step, are the noise of the values themselves: as large late as early, and no
// change is taken back by the next, as it is where each value has a noise of its own.
import type { SeriesRole } from '../series.ts';
import { median, noiseOf } from '../statistics.ts';
import type { Course } from './curve.ts';

/** What is measured at each step and looked at as a curve. */
export const MEASURED_PER_STEP: ReadonlySet<SeriesRole> = new Set([
  'loss',
  'policy_loss',
  'value_loss',
  'sft_loss',
  'kl',
  'approx_kl',
  'grad_norm',
  'entropy',
  'reward',
  'completion_length',
  'token_accuracy',
  'preference_accuracy',
]);

/** Names that say so themselves. */
export const CALLED_MEAN = /avg|average|running|smooth|(?:^|[/_])ema|cum|moving|epoch/i;

/** Values without which there are not three octaves that tell their noise. */
const FEWEST = 120;
/** The first octave begins here: of fewer values nobody knows their noise. */
const FIRST = 16;
/** Largest noise of an octave over the smallest: the noise of single values would make it four. */
const ALIKE = 1.9;
/** The correlation of neighbouring changes: 0 for a mean, -0.5 for values with a noise of their own. */
const TAKEN_BACK = -0.12;
/** Of the trend of the changes, that their noise is at least: a smooth curve has none. */
const NOISY = 0.05;
/** Values that may be the same as the one before: more are rounded away. */
const STILL = 0.1;

/** Whether these values are means since the first of them. */
export function isRunningMean({ means, steps }: Course): boolean {
  // Several ranks may write one series.
  if (means.length < FEWEST || steps.some((step, at) => step === steps[at - 1])) return false;
  const changes = means.slice(1).map((value, at) => (at + 2) * (value - (means[at] as number)));
  if (changes.filter((change) => change === 0).length > STILL * changes.length) return false;
  const octaves: number[] = [];
  for (let from = FIRST; from + from / 2 <= changes.length; from *= 2)
    octaves.push(noiseOf(changes.slice(from, 2 * from)));
  const late = changes.slice(FIRST);
  if (!(Math.min(...octaves) > 0) || Math.max(...octaves) > ALIKE * Math.min(...octaves)) return false;
  return noiseOf(late) > NOISY * Math.abs(median(late)) && neighbours(late) > TAKEN_BACK;
}

/** Whether `means` holds the mean of all of `values` so far, at each step. */
export function isMeanOf(course: Course, values: Course): boolean {
  const { means, points } = course;
  if (points !== means.length || values.points !== points || points < FEWEST_EXACT) return false;
  if (!values.steps.every((step, at) => step === course.steps[at])) return false;
  let sum = 0;
  const off = means.map((mean, at) => {
    sum += values.means[at] as number;
    return Math.abs(mean - sum / (at + 1));
  });
  return Math.max(...off) < EXACT * Math.max(noiseOf(values.means), NONE);
}

const FEWEST_EXACT = 20;
/** Of the noise of the values. */
const EXACT = 0.02;
const NONE = 1e-12;

/** Ranks would do as well; heavy tails are cut off at four spreads. */
function neighbours(changes: readonly number[]): number {
  const middle = median(changes);
  const most = 4 * median(changes.map((change) => Math.abs(change - middle)));
  const cut = changes.map((change) => Math.max(-most, Math.min(most, change - middle)));
  const [own, next] = [cut.slice(0, -1), cut.slice(1)];
  const product = (a: readonly number[], b: readonly number[]): number =>
    a.reduce((sum, value, at) => sum + value * (b[at] as number), 0);
  return product(own, next) / Math.sqrt(product(own, own) * product(next, next));
}
