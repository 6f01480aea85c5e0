// A supervised or preference loss that rises against the best that it had, and does not come back: by the test of rise.ts on
// single values, which is fast and needs a rise well above their noise, and on medians of three, which finds half of that
// in three times as many points; and by those of above-start.ts and broken-start.ts.
import type { MonitorRule, RuleWorld, Series, Violation } from '../../../src/index.ts';
import { isMainLoss } from '../losses/main-loss.ts';
import { hasMargins, isReinforced } from '../run-kind.ts';
import { read, type SeriesJudge, watchSeries } from '../watches.ts';
import { numberOf, someSeries } from '../world.ts';
import { type AboveStart, aboveStart } from './above-start.ts';
import { type BrokenStart, brokenStart } from './broken-start.ts';
import { changeSince, climbs, leftAt } from './course-shape.ts';
import { type Evaluations, evaluations } from './evaluations.ts';
import { type Rise, type RiseTracker, riseTracker } from './rise.ts';
import { recent } from './rolling.ts';

export const lossRises: MonitorRule = {
  id: 'monitor/loss-rises',
  title: 'A supervised or preference loss does not rise for good above the best that it had',
  stage: 'monitor',
  level: 'should',
  why: 'A model that gets worse while it is trained is being destroyed: by a learning rate that is too large, gradients that are not clipped, or numbers that overflow.',
  catches: ['NUM-01', 'LOSS-12'],
  advice:
    'Go back to the checkpoint at the best step and lower the learning rate by a factor of 3 to 10; add warm-up and clip gradients. Look at the batches where it begins. If other, harder data begin there, evaluate on held-out data: a held-out loss that improves overrules this.',
  roles: ['loss', 'sft_loss', 'grad_norm'],
  evaluations: true,
  settings: {
    above_start: {
      default: 1.3,
      what: 'Times the best level, for a loss that climbs over several points to more than it began with: the model is worse than untrained.',
    },
    below_start: {
      default: 1.5,
      what: 'Times the best level, for a loss that climbs and is below what it began with: smoothed logs and restarts of the learning rate climb as well, by less.',
    },
    jump: {
      default: 2.5,
      what: 'Times the best level, for a loss that jumps from one point to the next: other data do that, by less.',
    },
  },
  watch: (world) => {
    const held = evaluations();
    const broken = brokenStart();
    return watchSeries({
      judge: (series) => judgeOf(world, series, held, broken),
      why: { least: 15, otherwise: 'the run samples from a policy, or its loss has no level' },
    });
  },
};

/** Points above the limit that are needed to know that it does not come back at once. */
const LEAST = 14;
/** Of a rise that it must keep. */
const KEEPS = 0.7;
/** Of what was learnt that a jump must have lost. */
const LOST = 0.5;
/** Above what it began with, beyond the noise of a beginning. */
const WORSE = 1.05;
/** Where the learning rate rises by so much a loss may climb a little: a restart, or warm-up. */
const RESTART = 1.5;
/** A restart does not leave the model worse than it began by so much. */
const WORSE_THAN_RESTART = 1.5;

function judgeOf(
  world: RuleWorld,
  series: Series,
  held: Evaluations,
  broken: ReturnType<typeof brokenStart>,
): SeriesJudge | undefined {
  if (series.role === 'grad_norm')
    return series.part !== '' || series.evaluation
      ? undefined
      : {
          point(_step, value) {
            broken.norm(value);
            return undefined;
          },
        };
  if (series.evaluation)
    return {
      point(step, value) {
        held.add(series, step, value);
        return undefined;
      },
    };
  if (!isMainLoss(series)) return undefined;
  const tracker = riseTracker();
  // The same of every three values: slower, and sure of less.
  const slow = riseTracker();
  const block = recent(BLOCK);
  const worse = aboveStart();
  let signed = false;
  const lost = (rise: Rise | undefined, jump: number, step: number): rise is Rise =>
    rise !== undefined &&
    !held.improvedSince(rise.from) &&
    !(rise.climb > jump * rise.alike && held.isImproving(rise.bestStep, step)) &&
    isLost(world, series, rise, jump);
  return {
    point(step, value) {
      // A loss of exactly 0 has a rule of its own, and is no level.
      if (!Number.isFinite(value) || value === 0) return undefined;
      // What goes below 0 has no level: of another objective than a likelihood. Nor has the loss of a policy.
      signed ||= value < 0;
      if (signed || isReinforced(world)) return undefined;
      const rise = tracker.add(step, value);
      const above = worse.add(step, value);
      const atOnce = broken.add(step, value);
      block.add(step, value);
      const slower = block.count % BLOCK === 0 ? slow.add(block.step(BLOCK - 1), block.level()) : undefined;
      if (lost(rise, JUMP, step)) return violationOf(series, step, rise);
      if (lost(slower, JUMP_OF_BLOCKS, step)) return violationOf(series, step, slower);
      if (atOnce !== undefined && !prefers(world) && !held.improvedSince(atOnce.from))
        return destroyed(series, step, atOnce);
      if (above !== undefined) return worseThanBefore(world, series, step, above, held) ?? 'seen';
      return tracker.recent.count > LEAST ? 'seen' : undefined;
    },
    end() {
      return signed || isReinforced(world) ? undefined : risesToTheEnd(world, series, tracker, held);
    },
  };
}

/** Points from the lowest on that rise to the end of the log, and how sure that they do is (Mann-Kendall). */
const TO_THE_END = 20;
const SURELY = 4.5;
/** Times the lowest. */
const AT_THE_END = 1.35;

/** A climb that the log ends in: nothing tells whether it would come back, but it has been long. */
function risesToTheEnd(
  world: RuleWorld,
  series: Series,
  { recent: seen, start }: RiseTracker,
  held: Evaluations,
): Violation | undefined {
  const course = world.courseOf(series);
  if (course === undefined || course.points < 2 * TO_THE_END || prefers(world)) return undefined;
  const { lowest, level: floor } = leftAt(course, 0);
  const level = seen.level();
  const { from } = leftAt(course, floor + (level - floor) / 4);
  const long = course.steps.filter((step) => step > lowest).length >= TO_THE_END;
  const high = level >= AT_THE_END * floor && level - floor >= LOST_AT_THE_END * (start - floor);
  if (
    !long ||
    !high ||
    !climbs(course, lowest, SURELY) ||
    held.improvedSince(from) ||
    held.isImproving(lowest, course.steps.at(-1) ?? lowest) ||
    rateRose(world, lowest)
  )
    return undefined;
  return {
    kind: 'rises',
    sentence: `${series.name} was at its best level, ${read(floor)}, at step ${lowest}, rises from step ${from} to the end of the log, and is ${read(level)} there (median of the last 5 logged values).`,
    step: from,
    high: AT_THE_END * floor,
  };
}

/** Of what was learnt. */
const LOST_AT_THE_END = 0.3;
const CHANCE = Math.LN2;
/** Points that a rise must last where batches of pairs differ so much. */
const OF_PAIRS = 24;

/** Pairs or marks of answers are learnt: their margins or accuracies are logged. */
const prefers = (world: RuleWorld): boolean => hasMargins(world) || marksAnswers(world);
const marksAnswers = someSeries(({ role }) => role === 'preference_accuracy');

function isLost(world: RuleWorld, series: Series, rise: Rise, jump: number): boolean {
  const { floor, start, level, peak, climb, steep, alike, limit, points } = rise;
  // Worse than chance, where answers are preferred: pairs differ so much that a loss below it has no level.
  if (prefers(world) && (level < CHANCE * WORSE || points < OF_PAIRS)) return false;
  // It comes back.
  if (level < floor + KEEPS * (peak - floor)) return false;
  const times = level / Math.max(floor, Number.MIN_VALUE);
  const course = climb === Number.POSITIVE_INFINITY ? world.courseOf(series) : undefined;
  const jumped =
    course === undefined ? climb <= jump * alike || steep >= STEEP : !climbs(course, rise.bestStep);
  if (jumped) {
    const least = level - floor >= JUMP_NATS ? 1 : 2;
    return times >= least * numberOf(world, 'jump') && level - floor >= LOST * (start - floor);
  }
  const worse = level > WORSE * start;
  if (level < WORSE_THAN_RESTART * start && rateRose(world, rise.bestStep)) return false;
  return level > limit && times >= numberOf(world, worse ? 'above_start' : 'below_start');
}

/** Nats that other data seldom add; less must be twice as many times the best level. */
const JUMP_NATS = 1.5;
/** Points from a quarter of the height to three quarters, told from medians of three: at most so many of a jump. */
const JUMP = 2;
/** Of its height within two points. */
const STEEP = 0.65;
const JUMP_OF_BLOCKS = 1;
/** Values whose median is one of the slow test. */
const BLOCK = 3;

function rateRose(world: RuleWorld, since: number): boolean {
  const rate = world.series().find(({ role, part }) => role === 'learning_rate' && part === '');
  const course = rate === undefined ? undefined : world.courseOf(rate);
  const change = course === undefined ? undefined : changeSince(course, since);
  return change !== undefined && change.now > RESTART * change.before;
}

function violationOf(series: Series, step: number, rise: Rise): Violation {
  const { best, bestStep, start, level, limit, from } = rise;
  const began = level > WORSE * start ? `, more than the ${read(start)} it began with` : '';
  return {
    kind: 'rises',
    sentence: `${series.name} was at best ${read(best)} at step ${bestStep}, rises from step ${from} on, and is ${read(level)} at step ${step}${began} (median of the last logged values).`,
    step: from,
    high: limit,
  };
}

function destroyed(series: Series, step: number, { start, peak, from, level }: BrokenStart): Violation {
  return {
    kind: 'broken at the start',
    sentence: `${series.name} began at ${read(start)}, climbs to ${read(peak)} from step ${from} on, and is still ${read(level)} at step ${step} (median of the last 15 logged values): the first steps destroyed the model, and it learns anew.`,
    step: from,
  };
}

function worseThanBefore(
  world: RuleWorld,
  series: Series,
  step: number,
  { start, level, limit }: AboveStart,
  held: Evaluations,
): Violation | undefined {
  const course = world.courseOf(series);
  if (course === undefined || (prefers(world) && level < CHANCE * WORSE)) return undefined;
  const { lowest, from } = leftAt(course, start);
  if (held.improvedSince(from) || held.isImproving(lowest, step) || !climbs(course, lowest)) return undefined;
  return {
    kind: 'above its start',
    sentence: `${series.name} began at ${read(start)}, is above that from step ${from} on, and is ${read(level)} at step ${step} (median of the last 15 logged values): the model is worse than it was before.`,
    step: from,
    high: limit,
  };
}
