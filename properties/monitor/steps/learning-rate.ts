// A learning rate that is 0 or negative where steps are taken.
import type { MonitorRule, Series, Violation } from '../../../src/index.ts';
import { at, from, read, streakOf, watchSeries, watchStreaks } from '../watches.ts';
import { inARow, numberOf, rarely, underLossScaler } from '../world.ts';
import { asScheduled } from './as-scheduled.ts';
import { earlyEndOf } from './early-end.ts';

/** A scale of 2^16 is halved at each overflow. */
const SCALER_STEPS = 16;
/** Of a step, as many as are logged apart. */
const MICRO_BATCHES = 8;
/** Logged steps of a log that is 0 all through, at its end: a shorter one may be its first steps. */
const WHOLE_LOG = 10;

const notZero: MonitorRule = {
  id: 'monitor/learning-rate-not-zero',
  title: 'The learning rate is not 0 while steps go on',
  stage: 'monitor',
  level: 'should',
  why: 'Steps at a rate of 0 change nothing. A schedule that ends before the run does spends the rest of it for nothing.',
  catches: [],
  advice:
    'Count what the scheduler is told as its number of steps: micro-batches, epochs and the number of devices are the usual confusions. A log that rounds (`%.4f`) writes small rates as 0: log more digits.',
  roles: ['learning_rate'],
  settings: {
    points: inARow(3, 'After it was above 0: a schedule ends at 0 in its last step.'),
    beginning: {
      default: 20,
      what: `Logged steps at 0 from the first one on, or ${WHOLE_LOG} if the log has no others. Warm-up begins at 0, which each micro-batch of the first step may log. Steps that a loss scaler skips do not move it (fp16: ${SCALER_STEPS} more, times ${MICRO_BATCHES} micro-batches).`,
    },
  },
  watch: (world) => {
    const watch = watchSeries({
      judge: (series) => {
        // One group of several, as `add_scalars` writes them, may be frozen.
        if (isScalarOfGroup(series)) return undefined;
        const streak = streakOf(1);
        const digits = roundingOf();
        let above = false;
        const scaler = rarely(() => underLossScaler(world));
        const scaled = (steps: number): number => (scaler() ? steps : 0);
        const zero = (): Violation => ({
          kind: 'zero',
          sentence: `${at(series, streak.from)} is 0, and at the ${streak.length - 1} logged steps after it: these steps change nothing.`,
          step: streak.from,
          value: 0,
        });
        return {
          point(step, value) {
            if (Number.isNaN(value)) return undefined;
            above ||= value > 0;
            digits.add(value);
            if (value === 0 && above && digits.mayHide()) return 'seen';
            streak.next(value === 0, step);
            const needed = above ? numberOf(world, 'points') : numberOf(world, 'beginning');
            return streak.length < needed + scaled(above ? SCALER_STEPS : MICRO_BATCHES * SCALER_STEPS)
              ? 'seen'
              : zero();
          },
          end: () => (!above && streak.length >= WHOLE_LOG + scaled(2 * SCALER_STEPS) ? zero() : undefined),
        };
      },
      why: { otherwise: 'no rate that is a number was logged' },
    });
    const rates = (): readonly Series[] =>
      world.series().filter(({ role, evaluation }) => role === 'learning_rate' && !evaluation);
    return { ...watch, remarks: () => rates().flatMap((series) => earlyEndOf(world, series) ?? []) };
  },
};

/** Its run is a folder of one series, named after that and the group: `lr_backbone`. */
function isScalarOfGroup({ run, name }: Series): boolean {
  const folder = run.replace(/[\\/]+$/, '').replace(/^.*[\\/]/, '');
  return folder.startsWith(`${name.replaceAll('/', '_')}_`);
}

/** Values that differ: fewer are no way down, and more than `MOST` no rounding. */
const FEWEST_VALUES = 3;
const MOST_VALUES = 64;

/** Whether a rate came down to the last digit that is logged and stayed there: what follows is written as 0. */
function roundingOf(): { add(value: number): void; mayHide(): boolean } {
  const seen = new Set<number>();
  let last = 0;
  let times = 0;
  return {
    add(value) {
      if (!(value > 0)) return;
      times = value === last ? times + 1 : 1;
      last = value;
      if (seen.size <= MOST_VALUES) seen.add(value);
    },
    // A rate of full precision is never twice the same on its way down.
    mayHide: () =>
      times > 1 &&
      seen.size >= FEWEST_VALUES &&
      seen.size <= MOST_VALUES &&
      isWhole(Math.log10(last)) &&
      [...seen].every((value) => value >= last && isWhole(value / last)),
  };
}

const isWhole = (value: number): boolean => Math.abs(value - Math.round(value)) < 1e-6;

const notNegative: MonitorRule = {
  id: 'monitor/learning-rate-not-negative',
  title: 'The learning rate is not negative',
  stage: 'monitor',
  level: 'must',
  why: 'A step with a negative rate goes up the loss: the model unlearns. A schedule that is stepped beyond its last step, or whose steps count something else, goes on below 0.',
  catches: [],
  advice:
    'Count the steps of the scheduler: one an optimiser step, as many as it was made for. Let it end at 0 or at a rate of its own.',
  roles: ['learning_rate'],
  settings: {
    tolerance: {
      default: 1e-12,
      what: 'Below 0 that is rounding: a linear decay by factors ends at a billionth of a billionth of its peak, of either sign.',
    },
    points: inARow(1, 'It is never negative.'),
  },
  watch: (world) =>
    watchStreaks(world, {
      reading: (series, value) => ({
        bad: value < -numberOf(world, 'tolerance'),
        kind: 'negative',
        sentence: (first, last) => `${from(series, first, last)} is ${read(value)}: these steps climb.`,
        low: 0,
      }),
      why: 'no rate that is a number was logged',
    }),
};

export const learningRateRules: readonly MonitorRule[] = [asScheduled, notZero, notNegative];
