// A critic that leaves every scale.
import { type MonitorRule, median, type RuleWorld, type Series } from '../../../src/index.ts';
import { read, watchCourses } from '../watches.ts';
import { numberOf } from '../world.ts';

/** Values that tell how it begins, and how it stands now. */
const BEGINS = 20;
const NOW = 10;

export const valueLossStays: MonitorRule = {
  id: 'monitor/value-loss-explodes',
  title: 'The loss of the critic does not grow a thousandfold while the rewards stay as they were',
  stage: 'monitor',
  level: 'should',
  why: 'Squared errors of returns are of the order of the squared rewards. A critic that is wrong by far more than that follows targets that run away from it, and every advantage that is made with it is noise.',
  catches: [],
  advice:
    'Lower the rate of the critic, clip its gradient, and check its targets: returns that contain its own values past the end of a row grow without bound.',
  roles: ['value_loss', 'reward'],
  settings: {
    times: { default: 1000, what: 'Times what it began with, and times the largest squared reward.' },
  },
  watch: (world) =>
    watchCourses(world, {
      judge: (series, { steps, means }) => {
        if (series.role !== 'value_loss' || series.evaluation) return undefined;
        const begin = median(means.slice(0, BEGINS).map(Math.abs));
        const now = median(means.slice(-NOW));
        const limit = numberOf(world, 'times') * Math.max(begin, largestReward(world) ** 2);
        if (!(limit > 0) || now <= limit) return 'seen';
        const from = steps[means.findIndex((value) => value > limit)] ?? (steps.at(-1) as number);
        return {
          kind: 'explodes',
          sentence: `${series.name} began with ${read(begin)}, is above ${read(limit)} from step ${from} on, and is ${read(now)} at step ${steps.at(-1)} (median of the last ${NOW} logged values).`,
          step: from,
          value: now,
          high: limit,
        };
      },
      least: BEGINS + NOW,
      why: { least: BEGINS + NOW, otherwise: 'no loss of a critic was logged' },
    }),
};

/** 0 where no reward is logged. */
function largestReward(world: RuleWorld): number {
  const rewards: readonly Series[] = world.series().filter(({ role }) => role === 'reward');
  return Math.max(0, ...rewards.flatMap((each) => world.courseOf(each)?.means.map(Math.abs) ?? []));
}
