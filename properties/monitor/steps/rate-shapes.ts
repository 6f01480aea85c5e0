// Learning rates that no schedule makes, where nothing declares which one was meant: told by their shape alone.
import type { Course, MonitorRule, RuleWorld, Series, Violation, Watch } from '../../../src/index.ts';
import { at, from, read, type SeriesJudge, streakOf, watchSeries } from '../watches.ts';
import { declaredNumber, inARow, numberOf, rarely, someSeries } from '../world.ts';
import { scheduleOf } from './declared-schedule.ts';
import { DEFAULT_RATES } from './rate-factors.ts';

/** Rates are computed, not measured: what differs by less is rounding. */
const ROUNDING = 0.02;

const warmUpEnds: MonitorRule = {
  id: 'monitor/warm-up-ends',
  title: 'The warm-up of the learning rate ends before the run does',
  stage: 'monitor',
  level: 'should',
  why: 'A warm-up that is counted in micro-batches, or for another number of devices, is longer than the run: the rate that was chosen is reached at its last step, if at all.',
  catches: [],
  advice:
    'Count the warm-up in steps of the optimiser (`warmup_steps`, or a share of all steps) and look at what the scheduler is told as their number.',
  roles: ['learning_rate'],
  settings: {
    points: {
      default: 10,
      what: 'Logged rates at least. Judged is a run that is over: one that reached its declared number of steps, or logged its summary (`train_runtime`). A rate is computed and has no noise, so that one that rises at nine of ten steps, and in the last quarter as well, is a warm-up.',
    },
  },
  watch: (world) => watchWarmUp(world),
};

/** Of the declared steps: the last few are not always logged. */
const NEARLY_ALL = 0.95;
/** Steps at which a rate stands still while it rises: those that a loss scaler skips. */
const RISING = 0.9;

function watchWarmUp(world: RuleWorld): Watch {
  let judged = 0;
  let last = Number.NaN;
  const seen = new Set<Series>();
  const rates = (): Series[] => [...seen].filter(({ part }) => part === '');
  const judge = (series: Series): Violation | undefined => {
    const course = world.courseOf(series);
    if (course === undefined || course.points < numberOf(world, 'points')) return undefined;
    judged++;
    if (!rises(course)) return undefined;
    const [first = Number.NaN] = course.steps;
    return {
      kind: 'never ends',
      sentence: `${series.name} rises from ${read(course.means[0] ?? Number.NaN)} at step ${first} to ${read(course.means.at(-1) ?? Number.NaN)} at step ${last}, the end of the run: its warm-up never ends.`,
      series,
      step: first,
      value: course.means[0] ?? Number.NaN,
    };
  };
  return {
    point(series, step) {
      seen.add(series);
      last = step;
      return undefined;
    },
    end: () => (isOver(world, last) ? rates().flatMap((series) => judge(series) ?? []) : []),
    judged: () => judged,
    why: () =>
      isOver(world, last)
        ? `a warm-up is judged from ${numberOf(world, 'points')} logged rates on`
        : `nothing says that the run is over: no declared number of steps (max_steps) was reached, and no summary is logged`,
  };
}

const isSummedUp = someSeries(({ name }) => /(?:^|\/)train_runtime$/.test(name));

function isOver(world: RuleWorld, last: number): boolean {
  const steps = declaredNumber(world, 'max_steps', 'total_steps', 'total_training_steps', 'max_iters') ?? 0;
  return (steps > 0 && last >= NEARLY_ALL * steps && last <= steps + 2) || isSummedUp(world);
}

function rises({ means }: Course): boolean {
  const ups = means.slice(1).filter((value, before) => value > (means[before] as number)).length;
  const quarter = means[Math.floor((means.length * 3) / 4)] as number;
  const end = means.at(-1) as number;
  return ups >= RISING * (means.length - 1) && end > quarter * (1 + ROUNDING) && end >= Math.max(...means);
}

const rateJumps: MonitorRule = {
  id: 'monitor/learning-rate-jumps',
  title: 'The learning rate does not jump as no schedule does',
  stage: 'monitor',
  level: 'should',
  why: 'Schedules warm up, stay, decay by steps or smoothly, and restart at the height from which they began. A rate that leaps above all that it has been was set by somebody, or by a bug, and may cost the run.',
  catches: [],
  advice:
    'Look for what writes to `param_groups` beside the scheduler, for a second scheduler, and for a checkpoint that was loaded with another configuration.',
  roles: ['learning_rate'],
  settings: {
    times: {
      default: 3,
      what: 'Multiple of the highest rate so far, once it has fallen (a restart goes back to the last height) or stood for a third of the run. For a single step: multiple of both neighbours. Rates have no noise, so the factor only leaves room for deliberate changes, which are smaller.',
    },
    points: inARow(3, 'Steps of a rate that leaps and stays.'),
  },
  watch: (world) =>
    watchSeries({
      judge: (series) => judgeJumps(world, series),
      why: { least: CALM + 1, values: 'rates', otherwise: 'its rates are none that it judges' },
    }),
};

/** Logged rates, each near to the one before, that make a schedule known. */
const CALM = 10;
/** Neighbours on a smooth schedule. */
const NEAR = 1.5;
/** Two steps of a smooth schedule, with one between. */
const ALIKE = 1.25;
/** Of a run that a constant rate must have stood, so that what follows is no warm-up in one stair. */
const STOOD = 1 / 3;
const FELL = 0.95;

function judgeJumps(world: RuleWorld, series: Series): SeriesJudge {
  const times = numberOf(world, 'times');
  const streak = streakOf(numberOf(world, 'points'));
  let [before, last, lastStep] = [Number.NaN, Number.NaN, Number.NaN];
  let [count, calm, highest, below] = [0, 0, 0, 0];
  let leap:
    | { readonly step: number; readonly value: number; readonly row: number; stays: boolean }
    | undefined;

  const blip = (value: number): Violation | undefined => {
    const [low, high] = [Math.min(before, value), Math.max(before, value)];
    const alike = high <= ALIKE * low && low > 0;
    if (calm < CALM || !alike || (last < high * times && last > low / times)) return undefined;
    return {
      kind: 'one step',
      sentence: `${at(series, lastStep)} is ${read(last)}, between ${read(before)} and ${read(value)} at the steps beside it.`,
      step: lastStep,
      value: last,
    };
  };

  return {
    point(step, value) {
      if (!Number.isFinite(value) || value < 0) return undefined;
      const ended = count > 1 ? blip(value) : undefined;
      const near = value <= NEAR * last && last <= NEAR * value;
      if (count > 1) calm = last <= NEAR * before && before <= NEAR * last ? calm + 1 : 0;
      count++;
      const leaps = count > 1 && highest > 0 && value > times * highest;
      // The first value of a leap; those behind it are compared with what was before it.
      const fell = below >= numberOf(world, 'points');
      if (leaps && leap === undefined && !near) leap = { step, value, row: count, stays: true };
      else if (leap !== undefined && value < leap.value / NEAR) leap = undefined;
      if (leap === undefined) {
        if (value < FELL * highest) below++;
        highest = Math.max(highest, value);
      }
      [before, last, lastStep] = [last, value, step];
      if (ended !== undefined) return ended;
      if (!streak.next(leap !== undefined && fell, step) || leap === undefined)
        return count > CALM ? 'seen' : undefined;
      return {
        kind: 'leap',
        sentence: `${from(series, leap.step, step)} is ${read(leap.value)}; the highest of the steps before is ${read(highest)}.`,
        step: leap.step,
        value: leap.value,
        high: highest,
      };
    },
    end() {
      if (leap === undefined || leap.row < Math.max(2 * CALM, STOOD * count) || count - leap.row < 2)
        return undefined;
      return {
        kind: 'leap',
        sentence: `${at(series, leap.step)} is ${read(leap.value)}, and stays near it; the highest of the steps before is ${read(highest)}.`,
        step: leap.step,
        value: leap.value,
        high: highest,
      };
    },
  };
}

const asDeclared: MonitorRule = {
  id: 'monitor/learning-rate-as-declared',
  title: 'The learning rate is not far above the one that the run declares',
  stage: 'monitor',
  level: 'should',
  why: 'A rate that is multiplied on its way to the optimiser, by devices, by accumulated steps or by a typing error, is not the one that was chosen.',
  catches: [],
  advice: 'Compare the rate of each parameter group of the optimiser with the configuration that was meant.',
  roles: ['learning_rate'],
  settings: {
    times: {
      default: 30,
      what: 'Times the declared rate. Trainers that scale the rate by the number of devices multiply it by 8 or 16. The default of a trainer (5e-05, 2e-05, 1e-06, 3e-06) is not a declaration: such runs are set aside, because their optimiser may have been passed in.',
    },
    points: inARow(3, 'So many rates are no mistake of the log.'),
  },
  watch: (world) => {
    const highest = new Map<Series, number>();
    const own = rarely(() => declaredNumber(world, 'learning_rate', 'lr', 'optim.lr', 'actor.optim.lr'));
    const watch = watchSeries({
      judge: (series) => {
        const streak = streakOf(numberOf(world, 'points'));
        return {
          point(step, value) {
            const declared = own();
            if (series.part !== '' || declared === undefined || declared <= 0) return undefined;
            if (DEFAULT_RATES.includes(declared)) return undefined;
            if (value > (highest.get(series) ?? 0)) highest.set(series, value);
            const high = numberOf(world, 'times') * declared;
            if (!streak.next(value > high, step)) return 'seen';
            return {
              kind: 'above',
              sentence: `${from(series, streak.from, step)} is ${read(value)}, ${Math.round(value / declared)} times the declared ${read(declared)}.`,
              step: streak.from,
              value,
              high,
            };
          },
        };
      },
      why: 'the run declares no learning rate of its own (learning_rate, lr)',
    });
    return {
      ...watch,
      remarks() {
        const declared = own();
        // Beside a declared schedule learning-rate-as-scheduled judges the peak.
        if (declared === undefined || scheduleOf(world) !== undefined) return [];
        return [...highest].flatMap(([series, rate]) =>
          rate > (1 + ROUNDING) * declared && rate <= numberOf(world, 'times') * declared
            ? [
                `${series.name} reaches ${read(rate)}, ${read(Number((rate / declared).toPrecision(3)))} times the declared ${read(declared)}: is it scaled on purpose? \`--fact learning_rate=${rate}\` declares it.`,
              ]
            : [],
        );
      },
    };
  },
};

export const rateShapeRules: readonly MonitorRule[] = [warmUpEnds, rateJumps, asDeclared];
