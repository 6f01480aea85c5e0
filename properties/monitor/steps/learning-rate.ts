// The learning rate beside the schedule that the run declares, and one that is 0 where steps are taken.
import type { MonitorRule, RuleWorld, Series, Violation } from '../../../src/index.ts';
import { at, from, read, type SeriesJudge, streakOf, watchSeries, watchStreaks } from '../watches.ts';
import { declaredNumber, declaredText, inARow, numberOf, rarely, underLossScaler } from '../world.ts';
import { ENDLESS, KNOWN, rateAt, type Schedule } from './schedules.ts';

const asScheduled: MonitorRule = {
  id: 'monitor/learning-rate-as-scheduled',
  title: 'The learning rate follows the schedule that the run declares',
  stage: 'monitor',
  level: 'should',
  why: 'A scheduler that is stepped once a micro-batch, a warm-up counted in other units or a resumed run that begins anew trains with another rate than the one that was chosen, and nothing else shows it.',
  catches: [],
  advice:
    'Check how often the scheduler is stepped (once an optimiser step), what its number of steps counts, and that it is restored with the checkpoint.',
  roles: ['learning_rate'],
  settings: {
    tolerance: {
      default: 0.02,
      what: 'Of the peak. The rate before and after the step of the scheduler are both legal to log, and so is that of a step beside.',
    },
    points: inARow(2, 'A log written while the run is resumed may repeat a step.'),
  },
  watch: (world) =>
    watchSeries({
      judge: (series) => (series.part === '' ? judgeSchedule(world, series) : undefined),
      why: {
        get otherwise() {
          return scheduleOf(world) === undefined
            ? 'the run does not declare its schedule: lr_scheduler_type, learning_rate, and for a decay max_steps and warm-up'
            : 'the run begins with another rate than it declares: its optimiser was handed over, or its steps count something else';
        },
      },
    }),
};

function judgeSchedule(world: RuleWorld, series: Series): SeriesJudge {
  const streak = streakOf(numberOf(world, 'points'));
  let allowed: { readonly low: number; readonly high: number } | undefined;
  let own: boolean | undefined;
  const declared = rarely(() => scheduleOf(world));
  return {
    point(step, value) {
      const schedule = declared();
      allowed = undefined;
      if (schedule === undefined || !Number.isFinite(value)) return undefined;
      const slack = numberOf(world, 'tolerance') * schedule.peak;
      const near = NEIGHBOURS.map((away) => rateAt(schedule, Math.max(0, step + away)));
      allowed = { low: Math.min(...near) - slack, high: Math.max(...near) + slack };
      const off = value < allowed.low || value > allowed.high;
      // A trainer that is handed an optimiser and a scheduler declares others, which are never used.
      own ??= off;
      if (own) {
        allowed = undefined;
        return undefined;
      }
      if (!streak.next(off, step)) return 'seen';
      return {
        kind: 'off schedule',
        sentence: `${from(series, streak.from, step)} is ${read(value)}; the declared schedule (${wordsOf(schedule)}) has ${read(rateAt(schedule, step))} there.`,
        step: streak.from,
        value,
        ...allowed,
      };
    },
    band: () => allowed,
  };
}

/** Whether a log counts from 0 or 1, and looks before or after the scheduler's step, is anybody's choice. */
const NEIGHBOURS = [-2, -1, 0, 1] as const;

/** What is declared of the schedule; undefined where something is missing that it depends on. */
function scheduleOf(world: RuleWorld): Schedule | undefined {
  const kind = declaredText(world, 'lr_scheduler_type')
    ?.toLowerCase()
    .replace(/^schedulertype\./, '');
  const peak = declaredNumber(world, 'learning_rate');
  if (kind === undefined || !KNOWN.includes(kind) || peak === undefined || peak <= 0) return undefined;
  // What a scheduler is handed beyond its usual arguments changes the curve: some of it is known, the rest is not read.
  const extra = declaredText(world, 'lr_scheduler_kwargs');
  if (extra !== undefined && !/^(?:\{\}|null|None)$/.test(extra)) return undefined;
  if (UNKNOWN_ARGUMENTS.some((name) => declaredText(world, `lr_scheduler_kwargs.${name}`) !== undefined))
    return undefined;
  const steps = declaredNumber(world, 'max_steps');
  const known = steps !== undefined && steps > 0;
  const warmup = warmupOf(world, known ? steps : undefined);
  if (warmup === undefined || (!known && !ENDLESS.includes(kind))) return undefined;
  return {
    kind,
    peak,
    warmup,
    steps: known ? steps : Number.POSITIVE_INFINITY,
    cycles: declaredNumber(world, 'lr_scheduler_kwargs.num_cycles'),
    power: declaredNumber(world, 'lr_scheduler_kwargs.power'),
    end: declaredNumber(world, 'lr_scheduler_kwargs.lr_end'),
  };
}

const UNKNOWN_ARGUMENTS = ['timescale', 'min_lr', 'min_lr_rate', 'last_epoch', 'num_decay_steps'] as const;

/** Steps; a number below 1, or `warmup_ratio`, is a share of all steps, rounded up. */
function warmupOf(world: RuleWorld, steps: number | undefined): number | undefined {
  const own = declaredNumber(world, 'warmup_steps') ?? 0;
  if (own >= 1) return Math.floor(own);
  const share = own > 0 ? own : (declaredNumber(world, 'warmup_ratio') ?? 0);
  if (share <= 0) return 0;
  return steps === undefined ? undefined : Math.ceil(steps * share);
}

function wordsOf({ kind, peak, warmup, steps }: Schedule): string {
  const warm = warmup > 0 ? `, ${warmup} steps of warm-up` : '';
  return `${kind}, peak ${read(peak)}${warm}${Number.isFinite(steps) ? `, ${steps} steps` : ''}`;
}

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
      what: `Logged steps at 0 from the first one on, or ${WHOLE_LOG} where the log has no others: warm-up begins at 0, which each micro-batch of the first step may log, and steps that a loss scaler skips (fp16: ${SCALER_STEPS} more, times ${MICRO_BATCHES} micro-batches) do not move it.`,
    },
  },
  watch: (world) =>
    watchSeries({
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
    }),
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
  why: 'A step against the gradient with a negative rate is one up the loss: what was learnt is unlearnt. A schedule that is stepped beyond its last step, or whose steps count something else, goes on below 0.',
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
