// A run that all but stands still: for a while, or from some step on for good.
import {
  type Course,
  changePoint,
  type MonitorRule,
  median,
  type RuleWorld,
  rolling,
  type Series,
  type SeriesRole,
  type Violation,
  type Watch,
} from '../../../src/index.ts';
import { from, read, type SeriesJudge, streakOf, watchCourses, watchSeries } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';

/** Logged steps that make the usual pace. */
const WINDOW = 64;
const WARM_UP = 20;

const PACE: readonly SeriesRole[] = ['throughput', 'step_time'];
const isPace = ({ role, part }: Series): boolean => part === '' && role !== undefined && PACE.includes(role);

const stalls: MonitorRule = {
  id: 'monitor/throughput-stalls',
  title: 'The pace does not fall to a tenth of what it was, nor to a quarter for good',
  stage: 'monitor',
  level: 'should',
  why: 'A tool that hangs, a disk that is full, a device that throttles or a worker that is gone costs days before somebody looks.',
  catches: [],
  advice:
    'Look at the times of the parts of a step: data, sampling, tools, checkpoints. Longer completions explain a slope, not a jump.',
  roles: PACE,
  settings: {
    times: { default: 10, what: 'Times slower than the median of the last steps, for a while.' },
    points: inARow(
      10,
      'A checkpoint or an evaluation takes its time, which each micro-batch of that step may log.',
    ),
    window: { default: WINDOW, what: 'Logged steps that make the median.' },
    warm_up: { default: WARM_UP, what: 'Logged steps before the first is judged: compilation comes first.' },
    lasting: {
      default: 4,
      what: 'Factor of a lasting slowdown: from the change point of the whole course (Pettitt, p below 1e-4) to its end, with nine of ten stretches beyond half of that. Growing completions make no jump there. Curricula of longer rows make steps up to twice as slow; steps whose completions, rows or tokens changed with them are set aside.',
    },
  },
  watch: (world) =>
    both(
      watchSeries({
        judge: (series) => (series.part === '' ? judgeStall(world, series) : undefined),
        why: { least: numberOf(world, 'warm_up') + 1, otherwise: 'the pace was never above 0' },
      }),
      watchCourses(world, {
        judge: (series, course, ended) =>
          isPace(series) ? judgeLevel(world, series, course, ended) : undefined,
        least: WARM_UP,
        why: '',
      }),
    ),
};

/** Whichever speaks first; each speaks once. */
function both(quick: Watch, whole: Watch): Watch {
  const said = new Set<Series>();
  const once = (violation: Violation | undefined): Violation | undefined => {
    if (violation?.series === undefined || said.has(violation.series)) return undefined;
    said.add(violation.series);
    return violation;
  };
  return {
    ...quick,
    point(series, step, value, time) {
      const [now, later] = [
        quick.point?.(series, step, value, time),
        whole.point?.(series, step, value, time),
      ];
      return once(now) ?? once(later);
    },
    end: () => [quick.end?.() ?? [], whole.end?.() ?? []].flat().flatMap((each) => once(each) ?? []),
  };
}

function judgeStall(world: RuleWorld, series: Series): SeriesJudge {
  const usual = rolling(numberOf(world, 'window'));
  const streak = streakOf(numberOf(world, 'points'));
  const times = numberOf(world, 'times');
  return {
    point(step, value) {
      if (!Number.isFinite(value) || value < 0) return undefined;
      const middle = usual.median();
      const known = usual.count >= numberOf(world, 'warm_up') && middle > 0;
      const factor = series.role === 'step_time' ? value / middle : middle / value;
      const slow = known && factor > times && !isUnit(factor);
      // What is slow does not become usual.
      if (!slow) usual.add(value);
      if (!streak.next(slow, step)) return known ? 'seen' : undefined;
      return {
        kind: 'slow',
        sentence: `${from(series, streak.from, step)} is ${read(value)}; the median before was ${read(middle)}.`,
        step: streak.from,
        value,
      };
    },
  };
}

/** A thousandfold is milliseconds for seconds; monitor remarks on that. */
const isUnit = (factor: number): boolean => factor > 700 && factor < 1_500;

/** A chance that is none. */
const SURE = 1e-4;
/** Stretches at either side of a change. */
const BESIDE = 5;
const MOST_STRETCHES = 0.9;
/** Of the course, how much must be slow: at the end of a log, and while it is written, when it may yet be over. */
const AT_END = 0.1;
const MEANWHILE = 0.3;
/** What a step is made of changed as well: it is longer, not slower. */
const CHANGED = 1.4;

function judgeLevel(world: RuleWorld, series: Series, course: Course, ended: boolean): Violation | 'seen' {
  const times = numberOf(world, 'lasting');
  const { means, steps } = course;
  const change = changePoint(means);
  if (change === undefined || change.p > SURE) return 'seen';
  const slower = series.role === 'throughput' ? -1 : 1;
  const factor = (before: number, after: number): number => (after / before) ** slower;
  const { at } = change;
  const [before, after] = [median(means.slice(0, at)), median(means.slice(at))];
  const jump = factor(
    median(means.slice(Math.max(0, at - BESIDE), at)),
    median(means.slice(at, at + BESIDE)),
  );
  const slow = means.slice(at).filter((value) => factor(before, value) > times / 2).length;
  const long = Math.max(BESIDE, (ended ? AT_END : MEANWHILE) * means.length);
  const stays = slow >= MOST_STRETCHES * (means.length - at) && at >= BESIDE && means.length - at >= long;
  if (!(before > 0) || !(factor(before, after) > times) || !(jump > times / 2) || !stays) return 'seen';
  if (isUnit(factor(before, after)) || isLonger(world, steps[at] as number)) return 'seen';
  return {
    kind: 'slower for good',
    sentence: `${series.name} changes at step ${steps[at]} from ${read(before)} to ${read(after)}, and stays there.`,
    step: steps[at] as number,
    value: means[at] as number,
  };
}

/** Names of what a step is computed from. */
const SIZE = /length|tokens|seq_?len|batch|(?:^|[/_])samples(?:$|[/_])/i;

function isLonger(world: RuleWorld, step: number): boolean {
  return world.series().some((series) => {
    const { role, name } = series;
    const size =
      role === 'completion_length' || role === 'samples' || (role === undefined && SIZE.test(name));
    const course = size ? world.courseOf(series) : undefined;
    if (course === undefined) return false;
    const at = course.steps.findIndex((each) => each >= step);
    const [before, after] = [course.means.slice(0, at), course.means.slice(at)].map((part) => median(part));
    // Counters only grow.
    const ups = course.means.filter((mean, index, all) => index > 0 && mean > (all[index - 1] as number));
    const counts = ups.length > course.means.length / 2;
    return at > 0 && !counts && (after as number) > CHANGED * (before as number);
  });
}

const dataStalls: MonitorRule = {
  id: 'monitor/data-stalls',
  title: 'Steps do not begin to wait for data',
  stage: 'monitor',
  level: 'should',
  why: 'A loader that lost its workers or its cache leaves the devices idle for most of each step, and the loss does not show it.',
  catches: [],
  advice:
    'Look at the number of workers that are alive, at the disk or the network that serves the data, and at the size of the prefetch.',
  roles: ['data_time'],
  settings: {
    times: {
      default: 5,
      what: 'Times the median before, from the change point of the whole course (Pettitt, p below 1e-4) to its end, with nine of ten stretches beyond half of that.',
    },
    share: {
      default: 0.3,
      what: 'Share of a step that waiting takes afterwards, or seconds if no step times are logged. A shorter wait overlaps with the next step or does not matter.',
    },
  },
  watch: (world) =>
    watchCourses(world, {
      judge: (series, course, ended) =>
        series.part === '' ? judgeData(world, series, course, ended) : undefined,
      least: WARM_UP,
      why: { least: WARM_UP, otherwise: 'the times are of a part of the run' },
    }),
};

function judgeData(
  world: RuleWorld,
  series: Series,
  { means, steps }: Course,
  ended: boolean,
): Violation | 'seen' {
  const change = changePoint(means);
  if (change === undefined || change.p > SURE) return 'seen';
  const { at } = change;
  const [before, after] = [median(means.slice(0, at)), median(means.slice(at))];
  const times = numberOf(world, 'times');
  const slow = means.slice(at).filter((value) => value > (times / 2) * before).length;
  const long = Math.max(BESIDE, (ended ? AT_END : MEANWHILE) * means.length);
  if (slow < MOST_STRETCHES * (means.length - at) || means.length - at < long) return 'seen';
  if (!(after > times * before) || isUnit(after / before)) return 'seen';
  const pace = world
    .series()
    .find((each) => each.role === 'step_time' && each.part === '' && !each.evaluation);
  const course = pace === undefined ? undefined : world.courseOf(pace);
  const whole =
    course === undefined
      ? 1
      : median(course.means.slice(Math.floor(course.means.length * (at / means.length))));
  if (!(after > numberOf(world, 'share') * whole)) return 'seen';
  const beside = pace === undefined ? '' : `, of steps that take ${read(whole)}`;
  return {
    kind: 'waits',
    sentence: `${series.name} changes at step ${steps[at]} from ${read(before)} to ${read(after)}, and stays there${beside}.`,
    step: steps[at] as number,
    value: means[at] as number,
  };
}

export const throughputRules: readonly MonitorRule[] = [stalls, dataStalls];
