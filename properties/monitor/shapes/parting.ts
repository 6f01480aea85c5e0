// Losses of two sources or objectives that part: one rises for good (rise.ts) while another one falls by a fifth. What one
// gains the other loses: the weight between them is wrong, or two data sets contradict each other. Losses of opponents,
// of penalties and of codes do that as well, so that it is advice.
import type { MonitorRule, RuleWorld, Series, SeriesRole } from '../../../src/index.ts';
import { isReinforced } from '../run-kind.ts';
import { read, type SeriesJudge, watchSeries } from '../watches.ts';
import { numberOf } from '../world.ts';
import { changeSince } from './course-shape.ts';
import { riseTracker } from './rise.ts';

const PARTS: readonly SeriesRole[] = ['loss', 'sft_loss'];

export const parting: MonitorRule = {
  id: 'monitor/losses-part',
  title: 'One part of the loss does not rise for good while another one falls',
  stage: 'monitor',
  level: 'may',
  why: 'The sum of the losses hides that one objective, or one source of data, is given up for another.',
  catches: [],
  advice: 'Weigh the parts anew, or mix the sources in each batch. Evaluate each on its own.',
  roles: PARTS,
  settings: {
    times: { default: 1.5, what: 'Times its best level, for the part that rises.' },
    falls: {
      default: 0.8,
      what: 'Times what it was where the other one began to rise, for the part that falls.',
    },
  },
  watch: (world) =>
    watchSeries({
      judge: (series) => (isPart(series) ? judgePart(world, series) : undefined),
      why: { least: 15, otherwise: 'its parts have no other beside them' },
    }),
};

/** A sum of parts is none. */
const isPart = ({ role, part, evaluation }: Series): boolean =>
  role !== undefined && PARTS.includes(role) && !evaluation && part !== '' && !/total|sum|all/.test(part);

/** Points above the limit that are needed to know that it does not come back at once. */
const LEAST = 14;
const KEEPS = 0.7;

function judgePart(world: RuleWorld, series: Series): SeriesJudge {
  const tracker = riseTracker();
  let signed = false;
  return {
    point(step, value) {
      // 0 is what is logged where a part was not computed.
      if (!Number.isFinite(value) || value === 0) return undefined;
      signed ||= value < 0;
      const rise = tracker.add(step, value);
      const others = world.series().filter((each) => each !== series && isPart(each));
      if (signed || others.length === 0 || isReinforced(world) || tracker.recent.count <= LEAST)
        return undefined;
      if (rise === undefined || rise.level < numberOf(world, 'times') * rise.floor) return 'seen';
      if (rise.level < rise.floor + KEEPS * (rise.peak - rise.floor)) return 'seen';
      for (const other of others) {
        const course = world.courseOf(other);
        const change = course === undefined ? undefined : changeSince(course, rise.from);
        if (change === undefined || !(change.now <= numberOf(world, 'falls') * change.before)) continue;
        return {
          kind: 'part',
          sentence: `${series.name} was at best ${read(rise.best)} at step ${rise.bestStep}, rises from step ${rise.from} on, and is ${read(rise.level)} at step ${step} (median of 5); ${other.name} fell from ${read(change.before)} to ${read(change.now)} meanwhile.`,
          step: rise.from,
          high: rise.limit,
        };
      }
      return 'seen';
    },
  };
}
