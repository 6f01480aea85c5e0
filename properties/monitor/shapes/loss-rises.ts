// A supervised or preference loss that rises against the best that it had, and does not come back.
import type { MonitorRule, RuleWorld, Series, Violation } from '../../../src/index.ts';
import { isMainLoss } from '../losses/main-loss.ts';
import { hasMargins, isReinforced } from '../run-kind.ts';
import { read, type SeriesJudge, watchSeries } from '../watches.ts';
import { numberOf, ofAllSeries, someSeries } from '../world.ts';
import { type Evaluations, evaluations } from './evaluations.ts';
import { changeSince, climbs, type Rise, riseTracker } from './rise.ts';

export const lossRises: MonitorRule = {
  id: 'monitor/loss-rises',
  title: 'A supervised or preference loss does not rise for good above the best that it had',
  stage: 'monitor',
  level: 'should',
  why: 'A model that gets worse while it is trained is being destroyed: by a learning rate that is too large, gradients that are not clipped, or numbers that overflow.',
  catches: ['NUM-01', 'LOSS-12'],
  advice:
    'Go back to the checkpoint at the best step and lower the learning rate by a factor of 3 to 10; add warm-up and clip gradients. Look at the batches where it begins. If other, harder data begin there, evaluate on held-out data: a held-out loss that improves overrules this.',
  roles: ['loss', 'sft_loss'],
  evaluations: true,
  settings: {
    above_start: {
      default: 1.3,
      what: 'Times the best level, for a loss that climbs over several points to more than it began with: the model is worse than untrained.',
    },
    below_start: {
      default: 1.75,
      what: 'Times the best level, for a loss that climbs and is below what it began with: smoothed logs and restarts of the learning rate climb as well, by less.',
    },
    jump: {
      default: 2.5,
      what: 'Times the best level, for a loss that jumps from one point to the next: other data do that, by less.',
    },
  },
  watch: (world) => {
    const held = evaluations();
    return watchSeries({
      judge: (series) => judgeOf(world, series, held),
      why: { least: 13, otherwise: 'the run samples from a policy, or its loss has no level' },
    });
  },
};

/** Points above the limit that are needed to know that it does not come back at once. */
const LEAST = 12;
/** Of a rise that it must keep. */
const KEEPS = 0.7;
/** Of what was learnt that a jump must have lost. */
const LOST = 0.5;
/** Above what it began with, beyond the noise of a beginning. */
const WORSE = 1.15;
/** Where the learning rate rises by so much a loss may climb a little: a restart, or warm-up. */
const RESTART = 1.5;
/** A restart does not leave the model worse than it began by so much. */
const WORSE_THAN_RESTART = 1.5;

function judgeOf(world: RuleWorld, series: Series, held: Evaluations): SeriesJudge | undefined {
  if (series.evaluation)
    return {
      point(step, value) {
        held.add(series, step, value);
        return undefined;
      },
    };
  if (!isMainLoss(series)) return undefined;
  const tracker = riseTracker();
  let signed = false;
  return {
    point(step, value) {
      if (!Number.isFinite(value)) return undefined;
      // What goes below 0 has no level: of another objective than a likelihood.
      signed ||= value < 0;
      const rise = tracker.add(step, value);
      if (signed || isReinforced(world)) return undefined;
      if (rise === undefined || held.improvedSince(rise.from) || !isLost(world, series, rise))
        return tracker.recent.count > LEAST ? 'seen' : undefined;
      return violationOf(series, step, rise);
    },
  };
}

const CHANCE = Math.LN2;

/** Pairs or marks of answers are learnt: their margins or accuracies are logged. */
const prefers = ofAllSeries(
  (world) => hasMargins(world) || someSeries(world, ({ role }) => role === 'preference_accuracy'),
);

function isLost(world: RuleWorld, series: Series, rise: Rise): boolean {
  const { floor, start, level, peak, climb, alike, limit } = rise;
  // Worse than chance, where answers are preferred: pairs differ so much that a loss below it has no level.
  if (prefers(world) && level < CHANCE * WORSE) return false;
  // It comes back.
  if (level < floor + KEEPS * (peak - floor)) return false;
  const times = level / Math.max(floor, Number.MIN_VALUE);
  const course = climb === Number.POSITIVE_INFINITY ? world.courseOf(series) : undefined;
  const jumped = course === undefined ? climb <= JUMP * alike : !climbs(course, rise.bestStep);
  if (jumped) return times >= numberOf(world, 'jump') && level - floor >= LOST * (start - floor);
  const worse = level > WORSE * start;
  if (level < WORSE_THAN_RESTART * start && rateRose(world, rise.bestStep)) return false;
  return level > limit && times >= numberOf(world, worse ? 'above_start' : 'below_start');
}

/** Points from a quarter of the height to three quarters, told from medians of three: at most so many of a jump. */
const JUMP = 2;

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
    sentence: `${series.name} was at best ${read(best)} at step ${bestStep}, rises from step ${from} on, and is ${read(level)} at step ${step}${began} (median of 5 logged values).`,
    step: from,
    high: limit,
  };
}
