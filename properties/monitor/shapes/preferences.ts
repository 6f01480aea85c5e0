// Preferences that are not learnt, or learnt the wrong way round. The share of pairs whose chosen answer the policy prefers is
// 1/2 by chance, and 0 of a policy that is its reference. That of k batches of pairs has a standard error of at most
// 1/2 / sqrt(k) about its mean; medians and the noise of the series itself tell it here.
import {
  type Course,
  type MonitorRule,
  median,
  noiseOf,
  type RuleWorld,
  type Series,
} from '../../../src/index.ts';
import { isMainLoss } from '../losses/main-loss.ts';
import { read, watchCourses } from '../watches.ts';
import { numberOf } from '../world.ts';

/** Values at the end of the course that are looked at. */
const LATEST = 20;
/** More of them are needed where nothing is learnt: a policy takes its time. */
const LONG = 60;
const CHANCE = 0.5;
/** Standard errors. */
const ERRORS = 2.5;
/** Nats by which the losses of a policy that has moved differ from ln 2, up or down. */
const MOVED = 0.02;
const NEAR = 0.05;

export const preferencesAreLearnt: MonitorRule = {
  id: 'monitor/preferences-are-learnt',
  title: 'The chosen answers become the preferred ones',
  stage: 'monitor',
  level: 'should',
  why: 'With chosen and rejected swapped, or the sign of the loss turned, the policy learns what people dislike. Where pairs are shuffled it moves, and learns nothing: its loss stays at ln 2.',
  catches: [],
  advice:
    'Read some pairs as the trainer gets them. Check which column is the chosen one, the sign of the loss, and whether anything sorts or shuffles answers apart from their prompts.',
  roles: ['preference_accuracy', 'loss'],
  settings: {
    most: {
      default: 0.35,
      what: `Share of pairs, 0 to 1: with less, in the median of the last ${LATEST} values, the policy is trained against its preferences.`,
    },
    points: { default: LATEST, what: 'Logged values before it is judged.' },
  },
  watch: (world) =>
    watchCourses(world, {
      judge: (series, course) =>
        series.role === 'preference_accuracy' ? judgeAccuracy(world, series, course) : undefined,
      least: numberOf(world, 'points'),
      why: {
        least: LATEST,
        otherwise: 'no share of pairs whose chosen answer is preferred was logged (rewards/accuracies)',
      },
    }),
};

function judgeAccuracy(world: RuleWorld, series: Series, { steps, means }: Course) {
  const now = median(means.slice(-LATEST));
  const most = numberOf(world, 'most');
  const last = steps.at(-1) as number;
  const loss = world.series().find((each) => isMainLoss(each) && !each.evaluation);
  const losses = (loss === undefined ? undefined : world.courseOf(loss))?.means ?? [];
  const moved = (from: number): boolean =>
    median(losses.slice(from).map((value) => Math.abs(value - Math.LN2))) > MOVED;
  // A policy that is its reference prefers none of two: it has not learnt anything wrong.
  if (now < most && moved(-LATEST)) {
    const from = steps[means.findLastIndex((value) => value >= CHANCE) + 1] ?? last;
    return {
      kind: 'reversed',
      sentence: `${series.name} is ${read(now)} at step ${last} (median of the last ${LATEST} logged values), below chance from step ${from} on: the policy prefers what was rejected.`,
      step: from,
      low: most,
    };
  }
  if (means.length < LONG || losses.length < LONG) return 'seen';
  const half = means.slice(-(means.length >> 1));
  const ofLoss = losses.slice(-(losses.length >> 1));
  const atChance = median(half) - CHANCE <= (ERRORS * noiseOf(half)) / Math.sqrt(half.length);
  // Of an objective that is ln 2 at chance: others have no such level.
  const beganAtChance = Math.abs((losses[0] as number) - Math.LN2) < NEAR;
  const mean = ofLoss.reduce((sum, value) => sum + value, 0) / ofLoss.length;
  if (!beganAtChance || !moved(-ofLoss.length) || !atChance || mean < Math.LN2) return 'seen';
  return {
    kind: 'chance',
    sentence: `${series.name} is ${read(median(half))} over the second half of the log, up to step ${last}, and the loss ${read(mean)}, not below ln 2: the policy has moved, and learnt none of the preferences.`,
    step: steps[0] as number,
  };
}
