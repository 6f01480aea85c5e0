// A reward that is worse than before the training, and stays so.
import {
  type Course,
  type MonitorRule,
  mannKendall,
  median,
  type RuleWorld,
  type Series,
  type Violation,
} from '../../../src/index.ts';
import { from, read, watchCourses } from '../watches.ts';
import { numberOf } from '../world.ts';

/** Before that there is no course. */
const LEAST = 20;
/** Values that make a level; medians of five lie within one deviation of their middle in 96 of 100. */
const LEAST_LEVEL = 5;

export const rewardFalls: MonitorRule = {
  id: 'monitor/reward-falls',
  title: 'The reward does not fall to where it began, or below, and stay there',
  stage: 'monitor',
  level: 'should',
  why: 'Training raises what it is paid for. A reward that falls and stays fallen is that of a policy which broke, of a judge or tool that broke, or of an update with the wrong sign.',
  catches: ['ADV-05', 'ADV-15', 'LP-16'],
  advice:
    'Read samples from before and after this step with their rewards: if the samples are as good, the judge changed; if not, go back to a checkpoint before. Look which other series moved first (KL, entropy, length, gradient norm). Harder prompts from this step on are no fault: `--set monitor/reward-falls.times=100` leaves them alone.',
  roles: ['reward'],
  settings: {
    times: {
      default: 5,
      what: 'Deviations of single values, by how neighbours differ and undone where the log is smoothed, from the best level to the last. A level is a median of an eighth of the values and of five at least.',
    },
    share: {
      default: 0.2,
      what: 'Share of the gain of the reward, 0 to 1, that may be left.',
    },
    points: {
      default: 12,
      what: 'Logged steps that it has stayed fallen, and a sixth of all at least; they must not rise again.',
    },
  },
  watch: (world) =>
    watchCourses(world, {
      judge: (series, course) => judgeFall(world, series, course),
      least: LEAST,
      why: { least: LEAST, values: 'rewards', otherwise: 'its rewards are none that it judges' },
    }),
};

function judgeFall(world: RuleWorld, series: Series, course: Course): Violation | 'seen' | undefined {
  if (series.part !== '') return undefined;
  const whole = byStep(course);
  if (whole.means.length < LEAST) return undefined;
  const { noise, settled } = noiseOfLogged(whole.means);
  const means = whole.means.slice(settled);
  const steps = whole.steps.slice(settled);
  if (means.length < LEAST) return undefined;
  const points = numberOf(world, 'points');
  const size = Math.max(LEAST_LEVEL, means.length >> 3);
  const start = median(means.slice(0, size));
  const end = median(means.slice(-Math.max(points, size)));
  let [best, bestAt] = [start, 0];
  for (let at = 1; at + size <= means.length; at++) {
    const level = median(means.slice(at, at + size));
    if (level > best) [best, bestAt] = [level, at];
  }
  const lost = best - end;
  if (!(lost > numberOf(world, 'times') * noise) || lost < LEAST_LOSS * scaleOf(world, best)) return 'seen';
  if (end > start + numberOf(world, 'share') * (best - start)) return 'seen';
  // Behind the best: from where on it is nearer to the end than to the best, but for one value of five.
  const boundary = best - Math.max(lost / 2, Math.min(lost, 2 * noise));
  const onset = lastingBelow(means, bestAt, boundary);
  const stayed = means.slice(onset);
  if (onset < 0 || stayed.length < Math.max(points, means.length / 6)) return 'seen';
  const third = Math.ceil(stayed.length / 3);
  const recovered = median(stayed.slice(-third)) - median(stayed.slice(0, third));
  if (mannKendall(stayed).z > RISES && recovered > RECOVERED * lost) return 'seen';
  const first = steps[onset] as number;
  const last = steps.at(-1) as number;
  return {
    kind: 'fell',
    sentence: `${from(series, first, last)} stays near ${read(end)}: its best was ${read(best)} at step ${steps[bestAt] as number}, and it began with ${read(start)}.`,
    step: first,
    value: means[onset] as number,
    low: boundary,
  };
}

/** Of the size of the reward, or of its deviation where that is logged: smoothed logs have little noise. */
const LEAST_LOSS = 0.15;
/** Standard deviations; of a tail without a trend that is 1 in 20. */
const RISES = 1.64;
/** Of what was lost, from the first to the last third: harder prompts that are learnt as well. */
const RECOVERED = 0.1;

function scaleOf(world: RuleWorld, best: number): number {
  const spread = world
    .series()
    .find(({ role, part, evaluation }) => role === 'reward_std' && part === '' && !evaluation);
  const deviations = spread === undefined ? undefined : world.courseOf(spread)?.means;
  const deviation = deviations === undefined ? Number.NaN : median(deviations);
  return deviation > 0 ? deviation : Math.abs(best) / 3;
}

/** Several ranks in one log have a value each of the same step, which is drawn once. */
function byStep({ means, steps }: Course): {
  readonly means: readonly number[];
  readonly steps: readonly number[];
} {
  if (new Set(steps).size === steps.length) return { means, steps };
  const values = new Map<number, number[]>();
  for (const [at, step] of steps.entries()) {
    const same = values.get(step) ?? [];
    same.push(means[at] as number);
    values.set(step, same);
  }
  return { steps: [...values.keys()], means: [...values.values()].map(median) };
}

/**
 * The noise of a level, as a standard deviation; at least that of neighbours by their squares, since rewards of few completions
 * stay where they are for many steps and then move. And after how many values a log that is smoothed has forgotten its first,
 * which nobody smoothed.
 *
 * Differences of independent values have an autocorrelation of -1/2, those of x_t = phi x_{t-1} + (1 - phi) raw_t one of
 * -(1 - phi) / 2, whatever trend is added; and var(diff x) = 2 (1 - phi) var(x).
 */
function noiseOfLogged(values: readonly number[]): { readonly noise: number; readonly settled: number } {
  const all = values.slice(1).map((value, at) => value - (values[at] as number));
  const whole = Math.sqrt(all.reduce((sum, each) => sum + each ** 2, 0) / (2 * all.length));
  const middle = median(all);
  const widest = CLIPPED * median(all.map((each) => Math.abs(each - middle)));
  // One fall is one difference, and must not be taken for what they all are.
  const steps = all.map((each) => Math.max(-widest, Math.min(widest, each - middle)));
  const variance = steps.reduce((sum, each) => sum + each * each, 0);
  if (variance === 0) return { noise: whole, settled: 0 };
  const together = steps.slice(1).reduce((sum, each, at) => sum + each * (steps[at] as number), 0);
  const phi = Math.max(0, Math.min(MOST_SMOOTHED, 1 + (2 * together) / variance));
  return {
    noise: Math.max(whole, Math.sqrt(variance / steps.length / (2 * (1 - phi)))),
    settled: phi < SMOOTHED ? 0 : Math.round(2 / (1 - phi)),
  };
}

/** Above what independent values show by chance, of twenty and more. */
const SMOOTHED = 0.5;
/** Median absolute deviations: four standard deviations of a normal distribution. */
const CLIPPED = 6;
/** As smooth as that is as good as a walk at random. */
const MOST_SMOOTHED = 0.97;

/** The first value below the boundary, behind which at most one of five is above it, soon and in all; -1: there is none. */
function lastingBelow(values: readonly number[], after: number, boundary: number): number {
  let [above, onset] = [0, -1];
  for (let at = values.length - 1; at >= after; at--) {
    if ((values[at] as number) > boundary) above++;
    else if (5 * above <= values.length - at && soonAbove(at) <= 1) onset = at;
  }
  return onset;

  function soonAbove(at: number): number {
    return values.slice(at, at + LEAST_LEVEL).filter((value) => value > boundary).length;
  }
}
