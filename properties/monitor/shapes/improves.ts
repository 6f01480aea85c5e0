// A loss that does not fall. From the first fifth of a course to its last, in medians; flat where there is no trend
// downwards (Mann-Kendall) and where the fall, with three standard errors of a difference of medians (1.25 sigma sqrt(2/k))
// added, is below a few hundredths. Being flat is no fault alone: a run that goes on from another, or a model that knows its data, has
// nothing left to learn. So it is a fault only where there must be something: an untrained model, preferences at chance, or rows that
// come by a second time, which any model remembers. All else is advice.
import {
  type Course,
  type MonitorRule,
  mannKendall,
  median,
  noiseOf,
  type RuleWorld,
  type Series,
} from '../../../src/index.ts';
import { isMainLoss } from '../losses/main-loss.ts';
import { hasMargins, isReinforced } from '../run-kind.ts';
import { read, watchCourses } from '../watches.ts';
import { declaredNumber, numberOf } from '../world.ts';

interface Flat {
  readonly first: number;
  readonly last: number;
  readonly step: number;
}

const FIFTHS = 5;
const EARLY = 3;
const FALLS = -1.64;
const ERRORS = 3;
/** Standard error of a median, in deviations of a value over sqrt(k). */
const OF_MEDIAN = 1.2533;

/** Undefined where it falls, rises, or is too noisy to tell. */
function flatOf({ steps, means }: Course, most: number): Flat | undefined {
  const size = Math.floor(means.length / FIFTHS);
  const [first, last] = [median(means.slice(0, size)), median(means.slice(-size))];
  if (!(first > 0)) return undefined;
  const fall = (first - last) / first;
  const error = (OF_MEDIAN * Math.SQRT2 * deviationOf(means)) / Math.sqrt(size) / first;
  // What fell before the first fifth was over did fall.
  const early = median(means.slice(0, EARLY));
  const ofEarly = (2 * OF_MEDIAN * deviationOf(means)) / Math.sqrt(EARLY) / first;
  if ((early - last) / first > most + ofEarly) return undefined;
  // One that rises is told of by its rise.
  if (fall < -most || fall + ERRORS * error > most || mannKendall(means).z < FALLS) return undefined;
  return { first, last, step: steps[steps.length - 1] as number };
}

/** Of what moves slowly, and of what does not: the larger. */
function deviationOf(values: readonly number[]): number {
  const middle = median(values);
  return Math.max(noiseOf(values), 1.4826 * median(values.map((value) => Math.abs(value - middle))));
}

const lossImproves: MonitorRule = {
  id: 'monitor/loss-improves',
  title: 'A loss that must have something to learn falls',
  stage: 'monitor',
  level: 'should',
  why: 'Nothing is learnt: the optimiser holds no parameter of this model, the learning rate is 0 or lost in the rounding of the weights, or the loss does not depend on what is trained.',
  catches: ['ZL-02', 'KL-04'],
  advice:
    'Compare the weights before and after a step. Check that the optimiser was made of the parameters of this very model, after it was wrapped; that adapters are active and require gradients; and the learning rate.',
  roles: ['loss', 'sft_loss'],
  settings: {
    most: {
      default: 0.05,
      what: 'Share of its first level by which it may have fallen at the most, with three standard errors.',
    },
    points: { default: 40, what: 'Logged values before it is judged.' },
  },
  watch: (world) =>
    watchCourses(world, {
      judge: (series, course) => {
        if (!isMainLoss(series) || isReinforced(world)) return undefined;
        const reason = reasonToLearn(world, series, course);
        if (reason === undefined) return undefined;
        const flat = flatOf(course, numberOf(world, 'most'));
        if (flat === undefined) return 'seen';
        return {
          kind: 'does not fall',
          sentence: `${series.name} began at ${read(flat.first)} and is ${read(flat.last)} at step ${flat.step} (medians of the first and the last fifth): it did not fall${reason}.`,
          step: course.steps[0] as number,
        };
      },
      least: numberOf(world, 'points'),
      why: {
        least: numberOf(world, 'points'),
        otherwise:
          'nothing says that there is something to learn: an untrained model, preferences at chance, or a second pass over the data',
      },
    }),
};

const CHANCE = Math.LN2;
/** Nats that rounding makes of the same weights. */
const NEAR_CHANCE = 0.005;
/** Of ln V. */
const UNTRAINED = 0.9;
/** Where the vocabulary is not declared: of the smallest and of the largest one of published models, with room. */
const GUESS_LOW = 9.5;
const GUESS_HIGH = 13;
const PASSES = 2;

/** Why it should have fallen, as the end of a sentence. */
function reasonToLearn(world: RuleWorld, series: Series, { steps, means }: Course): string | undefined {
  const first = median(means.slice(0, Math.floor(means.length / FIFTHS)));
  // Where the run was resumed at an earlier step, its first fifth is not its beginning.
  if (warmsUp(world) || steps.some((step, at) => at > 0 && step < (steps[at - 1] as number)))
    return undefined;
  if (hasMargins(world))
    return means.every((value) => Math.abs(value - CHANCE) < NEAR_CHANCE)
      ? ', and ln 2 is what preferences cost while the policy is its reference'
      : undefined;
  const vocabulary = declaredNumber(world, 'vocab_size');
  const [low, high] =
    vocabulary === undefined
      ? [GUESS_LOW, GUESS_HIGH]
      : [UNTRAINED * Math.log(vocabulary), 1.5 * Math.log(vocabulary)];
  if (first > low && first < high && series.role !== undefined && vocabulary !== 1)
    return ', which is what a model costs that guesses';
  const epochs = world.series().find(({ role, evaluation }) => role === 'epoch' && !evaluation);
  const passes = epochs === undefined ? undefined : world.courseOf(epochs);
  const [begin, now] = [passes?.means[0] ?? Number.NaN, passes?.means.at(-1) ?? Number.NaN];
  if (begin < 1 && now >= PASSES && steps.length > 0)
    return `, in ${Math.floor(now)} passes over the same rows`;
  return undefined;
}

/** A rate that has risen through most of the course, and is not behind its peak. */
function warmsUp(world: RuleWorld): boolean {
  const rate = world.series().find(({ role, part }) => role === 'learning_rate' && part === '');
  const means = (rate === undefined ? undefined : world.courseOf(rate))?.means ?? [];
  return mannKendall(means).z > WARMS && (means.at(-1) as number) >= Math.max(...means) / 2;
}

const WARMS = 3;

const lossPlateau: MonitorRule = {
  id: 'monitor/loss-plateau',
  title: 'The loss falls from the beginning',
  stage: 'monitor',
  level: 'may',
  why: 'A loss that is flat while the first steps go by is learning nothing yet: the rate is too small, the warm-up too long, or the optimiser holds other parameters. A run that goes on from another may be flat.',
  catches: ['ZL-02'],
  advice:
    'Compare the weights before and after a step, and the learning rate with what models of this size are trained with.',
  roles: ['loss', 'sft_loss'],
  settings: {
    most: {
      default: 0.03,
      what: 'Share of its first level by which it may have fallen at the most, with three standard errors.',
    },
    points: { default: 30, what: 'Logged values that are looked at, from the first on.' },
  },
  watch: (world) => {
    const points = numberOf(world, 'points');
    return watchCourses(world, {
      judge: (series, course) => {
        if (!isMainLoss(series) || isReinforced(world) || course.points > 2 * points) return undefined;
        const flat = flatOf(course, numberOf(world, 'most'));
        if (flat === undefined) return 'seen';
        return {
          kind: 'flat',
          sentence: `${series.name} began at ${read(flat.first)} and is ${read(flat.last)} at step ${flat.step}, after ${course.points} logged values: it has not fallen yet.`,
          step: course.steps[0] as number,
        };
      },
      least: points,
      why: { least: points, otherwise: 'the loss has no level: it is one of a policy, or not above 0' },
    });
  },
};

export const improvementRules: readonly MonitorRule[] = [lossImproves, lossPlateau];
