// The learning rate beside the schedule that the run declares. A cosine may end at a floor that nobody declared; a rate that
// has the declared form at another height has a wrong peak.
import type { MonitorRule, RuleWorld, Series, Violation } from '../../../src/index.ts';
import { from, read, type SeriesJudge, streakOf, watchSeries } from '../watches.ts';
import { inARow, numberOf, rarely } from '../world.ts';
import { nameOfPeak, scheduleOf } from './declared-schedule.ts';
import { floorsOf } from './floors.ts';
import { mayBeMeant } from './rate-factors.ts';
import { DECAYS, rateAt, type Schedule } from './schedules.ts';

export const asScheduled: MonitorRule = {
  id: 'monitor/learning-rate-as-scheduled',
  title: 'The learning rate follows the schedule that the run declares',
  stage: 'monitor',
  level: 'should',
  why: 'The rate is not the chosen one if a scheduler is stepped once per micro-batch, a warm-up is counted in other units, or a resumed run begins again. Nothing else shows it.',
  catches: [],
  advice:
    'Check how often the scheduler is stepped (once an optimiser step), what its number of steps counts, that it is restored with the checkpoint, and which rate the optimiser was made with.',
  roles: ['learning_rate'],
  settings: {
    tolerance: {
      default: 0.02,
      what: 'Share of the peak. The log may have the rate before or after the step of the scheduler, or that of a neighbouring step. A cosine may end at any one floor below 0.3 of the peak, unless the run declares its floor (`min_lr`, `min_lr_ratio`).',
    },
    points: inARow(2, 'A log written while the run is resumed may repeat a step.'),
    points_height: inARow(
      10,
      'From the first on, at one and the same factor of the declared rate: the form is that of the schedule, its peak is not. Some factors only get a remark. They are below 0.7 (rates by layer), or powers of 2 and three times these, with their roots (batches and devices). So is any above 1.4 of the default rate of a trainer (an optimiser that was passed in).',
    ),
  },
  watch: (world) => {
    const asked = new Map<Series, string>();
    const watch = watchSeries({
      judge: (series) =>
        series.part === '' ? judgeSchedule(world, series, (said) => asked.set(series, said)) : undefined,
      why: {
        get otherwise() {
          return scheduleOf(world) === undefined
            ? 'the run does not declare its schedule: lr_scheduler_type, learning_rate, and for a decay max_steps and warm-up'
            : 'the run begins with another rate than it declares: its optimiser was handed over, or its steps count something else';
        },
      },
    });
    return { ...watch, remarks: () => [...asked.values()] };
  },
};

function judgeSchedule(world: RuleWorld, series: Series, ask: (said: string) => void): SeriesJudge {
  const streak = streakOf(numberOf(world, 'points'));
  const declared = rarely(() => scheduleOf(world));
  let allowed: { readonly low: number; readonly high: number } | undefined;
  let floors: ReturnType<typeof floorsOf> | undefined;
  let height: ReturnType<typeof judgeHeight> | undefined;
  return {
    point(step, value) {
      const schedule = declared();
      allowed = undefined;
      if (schedule === undefined || !Number.isFinite(value)) return undefined;
      const near = NEIGHBOURS.map((away) => rateAt(schedule, Math.max(0, step + away)));
      const curve = { low: Math.min(...near), high: Math.max(...near) };
      const slack = numberOf(world, 'tolerance') * schedule.peak;
      allowed = { low: curve.low - slack, high: curve.high + slack };
      const outside = value < allowed.low || value > allowed.high;
      // A trainer that is handed an optimiser and a scheduler declares others, which are never used.
      if (floors === undefined && outside) height ??= judgeHeight(world, series, ask);
      floors ??= floorsOf(schedule.floor, !schedule.kind.startsWith('cosine'));
      if (height !== undefined) {
        allowed = undefined;
        return height(schedule, step, value);
      }
      const decays = DECAYS.includes(schedule.kind) && step >= schedule.warmup;
      const rate = { low: value - slack, high: value + slack };
      const withFloor = decays && floors.fits(rate, curve, schedule.peak);
      const off = schedule.floor !== undefined && decays ? !withFloor : outside && !withFloor;
      if (!streak.next(off, step)) return 'seen';
      return {
        kind: 'off schedule',
        sentence: `${from(series, streak.from, step)} is ${read(value)}; the declared schedule (${wordsOf(schedule)}) has ${read(declaredAt(schedule, step))} there.`,
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

/** Factors of one run differ by rounding alone. */
const ONE_HEIGHT = 0.02;
/** Of the peak, below which a rate of a warm-up or at the end of a decay tells no factor. */
const TELLING = 0.2;

type Judge = (schedule: Schedule, step: number, value: number) => Violation | 'seen' | undefined;

/** Of a run whose first rate is not the declared one: whether all of its rates are the declared ones times one factor. */
function judgeHeight(world: RuleWorld, series: Series, ask: (said: string) => void): Judge {
  const factors = NEIGHBOURS.map((away) => ({ away, low: Number.POSITIVE_INFINITY, high: 0 }));
  let [count, first] = [0, Number.NaN];
  return (schedule, step, value) => {
    if (rateAt(schedule, step) < TELLING * schedule.peak) return undefined;
    if (count++ === 0) first = step;
    for (const each of factors) {
      const factor = value / declaredAt(schedule, Math.max(0, step + each.away));
      each.low = Math.min(each.low, factor);
      each.high = Math.max(each.high, factor);
    }
    if (count < numberOf(world, 'points_height')) return undefined;
    const { low, high } = factors.toSorted((a, b) => a.high / a.low - b.high / b.low)[0] ?? NO_FACTOR;
    const factor = (low + high) / 2;
    if (high > low * (1 + ONE_HEIGHT) || Math.abs(factor - 1) < ONE_HEIGHT) return undefined;
    const said = `${from(series, first, step)} has the form of the declared schedule (${wordsOf(schedule)}) at ${read(Number(factor.toPrecision(3)))} times its height, now ${read(value)}`;
    if (mayBeMeant(world, factor, schedule.peak)) {
      ask(
        `${said}: is it scaled on purpose, or by something that was not meant? \`--fact ${nameOfPeak(world)}=${read(Number((factor * schedule.peak).toPrecision(4)))}\` declares it.`,
      );
      return undefined;
    }
    return {
      kind: 'wrong peak',
      sentence: `${said}: the peak is not the declared one.`,
      step: first,
      value,
    };
  };
}

const NO_FACTOR = { low: 0, high: 0 };

function declaredAt(schedule: Schedule, step: number): number {
  const { floor = 0, peak, kind, warmup } = schedule;
  const rate = rateAt(schedule, step);
  return DECAYS.includes(kind) && step >= warmup ? floor + (1 - floor / peak) * rate : rate;
}

function wordsOf({ kind, peak, warmup, steps, floor }: Schedule): string {
  const warm = warmup > 0 ? `, ${warmup} steps of warm-up` : '';
  const low = floor === undefined ? '' : `, floor ${read(floor)}`;
  return `${kind}, peak ${read(peak)}${warm}${Number.isFinite(steps) ? `, ${steps} steps` : ''}${low}`;
}
