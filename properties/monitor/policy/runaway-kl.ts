// A KL that grows exponentially: each step moves the policy further than the one before. Updates of one size make a KL grow
// with the square of their number, and a warm-up of the rate with its fourth power: by 16/9 and 3.2 in the last quarter.
import { type Course, type MonitorRule, median, type Series } from '../../../src/index.ts';
import { isPolicyKl } from '../run-kind.ts';
import { from, read, watchCourses } from '../watches.ts';
import { numberOf } from '../world.ts';

export const klRunsAway: MonitorRule = {
  id: 'monitor/kl-runs-away',
  title: 'The KL does not grow ever faster',
  stage: 'monitor',
  level: 'should',
  why: 'A KL that multiplies itself continues to do so. Below the bound of kl-size the policy can already be lost, and a checkpoint from before its growth is still there.',
  catches: ['LP-16', 'PPO-06', 'KL-09'],
  advice:
    'Go back to a checkpoint before the growth and lower the learning rate, or raise the coefficient of the KL. Check that the sign of the KL term is right: a KL that is rewarded grows like this.',
  roles: ['kl', 'approx_kl'],
  settings: {
    factor: {
      default: 5,
      what: 'Growth in the last quarter of the steps so far, at least. Updates of one size reach 1.8, a warm-up of the learning rate 3.2.',
    },
    in_all: { default: 50, what: 'Growth since the first tenth of the steps, at least.' },
    least: {
      default: 0.5,
      what: 'Nats per token to the reference that no run reaches while it still learns ever faster.',
    },
    least_update: { default: 0.1, what: 'Nats per token between the policies of one update (`approx_kl`).' },
  },
  watch: (world) => {
    const asked = new Map<Series, string>();
    const watch = watchCourses(world, {
      judge: (series, course) => {
        if (series.part !== '' || !isPolicyKl(world)) return undefined;
        const found = growthOf(course);
        const least = numberOf(world, series.role === 'approx_kl' ? 'least_update' : 'least');
        asked.delete(series);
        if (found === undefined || found.now < numberOf(world, 'factor') * found.quarter) return 'seen';
        if (found.now < least) {
          if (found.now > THOUSANDFOLD * found.early && found.early > 0)
            asked.set(
              series,
              `${series.name} grows from ${read(found.early)} to ${read(found.now)}, ${Math.round(found.now / found.early)} times, and ever faster: it is small yet, and does not stop by itself.`,
            );
          return 'seen';
        }
        if (found.now < numberOf(world, 'in_all') * found.early) return 'seen';
        return {
          kind: 'runs away',
          sentence: `${from(series, found.since, found.until)} grows from ${read(found.start)} to ${read(found.now)} nats per token, after ${read(found.early)} in the beginning: it grows ever faster.`,
          step: found.since,
          value: found.start,
          high: least,
        };
      },
      least: LEAST,
      why: { least: LEAST, otherwise: 'no policy is trained in this run' },
    });
    return { ...watch, remarks: () => [...asked.values()] };
  },
};

/** Below what is a fault: a remark. */
const THOUSANDFOLD = 300;
/** Fewer have no quarters to compare. */
const LEAST = 20;
/** Values that make a level. */
const LEVEL = 5;
/** Of the last quarter, values that rise on the one a tenth of it before: a jump and its plateau do not. */
const RISING = 0.6;
const APART = 10;

/** Times the highest level before the last quarter. */
const NEW = 2;

interface Growth {
  readonly early: number;
  readonly quarter: number;
  /** Where it rises to a new height, in the last quarter. */
  readonly start: number;
  readonly now: number;
  readonly since: number;
  readonly until: number;
}

/** Levels of the beginning, of three quarters, and of now; undefined unless the last quarter rises all along, to a new height. */
function growthOf({ means, steps }: Course): Growth | undefined {
  const level = (at: number): number => median(means.slice(Math.max(0, at - LEVEL + 1), at + 1));
  const split = Math.floor((means.length * 3) / 4);
  // A run that went back reaches again what it had reached.
  const highest = Math.max(...means.slice(LEVEL, split).map((_, at) => level(LEVEL + at)));
  if (level(means.length - 1) < NEW * highest) return undefined;
  const apart = Math.max(1, Math.floor((means.length - split) / APART));
  const ups = means.slice(split).filter((value, at) => value > (means[split + at - apart] as number)).length;
  if (ups < RISING * (means.length - split)) return undefined;
  const start = Math.max(
    split,
    means.findLastIndex((value) => value <= NEW * highest),
  );
  return {
    // The first values of a fresh policy are exactly 0.
    early: level(Math.max(LEVEL, Math.floor(means.length / 10))),
    quarter: level(split),
    start: means[start] as number,
    now: level(means.length - 1),
    since: steps[start] as number,
    until: steps.at(-1) as number,
  };
}
