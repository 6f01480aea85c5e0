// A rate whose numerator and denominator are not of the same span: tokens since the start divided by the time of one step,
// or the tokens of one step divided by the time since the start. A real pace is limited by the devices: it neither grows
// from next to nothing in proportion to the steps, nor falls with them to next to nothing.
import {
  type Course,
  type MonitorRule,
  median,
  type RuleWorld,
  type Series,
  type Violation,
} from '../../../src/index.ts';
import { read, watchCourses } from '../watches.ts';
import { numberOf } from '../world.ts';

/** Points without which a line is none: a pace that warms up may lie on one for a while. */
const LEAST = 50;
/** Points of a run that goes on. */
const SURE = 200;

export const oneSpan: MonitorRule = {
  id: 'monitor/pace-of-one-span',
  title: 'A pace is neither proportional to the number of steps nor to its inverse',
  stage: 'monitor',
  level: 'should',
  why: 'Tokens since the start divided by the time of one step grow with every step, and the tokens of one step divided by the time since the start shrink with every step. Cost, utilisation and remaining time from such a number are wrong by a factor of the number of steps.',
  catches: [],
  advice:
    'Take tokens and seconds over the same span: both since the last logged step, or both since the start. Reset both counters at the same place.',
  roles: ['throughput', 'step_time'],
  settings: {
    range: {
      default: 25,
      what: 'Times that the step grows from the first to the last point on the line. Compilation, caches and longer rows change a pace by less, and level out.',
    },
    tolerance: {
      default: 0.15,
      what: 'Distance of the exponent from 1 (a pace proportional to the step) or -1 (to its inverse). The exponent is the median of the slopes of all pairs of logarithms (Theil and Sen).',
    },
  },
  watch: (world) =>
    watchCourses(world, {
      judge: (series, course, ended) =>
        series.part !== ''
          ? undefined
          : ended || course.points >= SURE
            ? judge(world, series, course)
            : 'seen',
      least: LEAST,
      why: { least: LEAST, otherwise: 'the paces are of a part of the run' },
    }),
};

function judge(world: RuleWorld, series: Series, course: Course): Violation | 'seen' {
  const isTime = series.role === 'step_time';
  const line = isTime ? climbs(course) : countsAll(world, course) ? COUNTED : lineOf(world, course);
  if (line === undefined) return 'seen';
  // A curriculum of longer rows, or of larger batches, does more in each step.
  if (line !== COUNTED && stepsGrow(world)) return 'seen';
  const [first, last] = [course.means[0] as number, course.means.at(-1) as number];
  const meaning = isTime
    ? 'it is the time since the start, not that of a step'
    : line > 0
      ? 'it divides what was done since the start by the time of one step'
      : 'it divides what was done in one step by the time since the start';
  return {
    kind: line > 0 ? 'grows with the step' : 'falls with the step',
    sentence: `${series.name} goes from ${read(first)} at step ${course.steps[0]} to ${read(last)} at step ${course.steps.at(-1)}, ${isTime ? 'and rises at every step' : `in proportion to ${line > 0 ? 'the step' : 'one over the step'} all along`}: ${meaning}.`,
    series,
    step: course.steps[0] as number,
    value: first,
  };
}

/** What one step is made of; counters of tokens or batches have other names. */
const SIZE = /length|seq_?len|context|batch_?size|(?:tokens|samples|rows)_per_(?:batch|step)|batch_tokens/i;
/** From the first half to the second: on a line through the origin it is three times. */
const GROWS = 2;

function stepsGrow(world: RuleWorld): boolean {
  return world.series().some((series) => {
    const means = (SIZE.test(series.name) ? world.courseOf(series)?.means : undefined) ?? [];
    const half = means.length >> 1;
    return median(means.slice(half)) > GROWS * median(means.slice(0, half));
  });
}

/** Values of the last quarter off the line through all, as a logarithm, in the median: a pace that levels out is by more. */
const MOST_OFF = 0.12;
/** The same of the first quarter, in which a run compiles; one that divides by the time since the start has its preparation in it. */
const MOST_OFF_FIRST = 0.25;
/** Of the values that must be above 0: a first one may be of no time, or of no tokens. */
const MOSTLY = 0.9;
/** Stretches that are compared with each other: 60 make 1,770 pairs. */
const MOST_COMPARED = 60;
/** Steps further apart than this tell a slope. */
const APART = Math.log(2);
/** The sign of the exponent where a counter of tokens tells. */
const COUNTED = 2;
/** Of a time that is that of all steps: steps at which it rises, its growth, and how much faster than before it may. */
const ALWAYS = 0.99;
const TIMES = 10;
const FASTER = 1.6;

/** A time since the start rises at every step, by about as much. */
function climbs({ means }: Course): number | undefined {
  const rises = means.slice(1).map((value, at) => value - (means[at] as number));
  const half = rises.length >> 1;
  const [early, late] = [median(rises.slice(0, half)), median(rises.slice(half))];
  const always = rises.filter((rise) => rise > 0).length >= ALWAYS * rises.length;
  const grows = (means.at(-1) as number) >= TIMES * Math.max(means[0] as number, early);
  return always && grows && late <= FASTER * early && early <= FASTER * late ? 1 : undefined;
}

type Point = readonly [logStep: number, logValue: number];

/** The sign of the exponent, of those that can be; undefined: the values lie on no such line. */
function lineOf(world: RuleWorld, { steps, means, points }: Course): number | undefined {
  const gap = median(steps.slice(1).map((step, at) => step - (steps[at] as number)));
  const above = means.filter((value) => value > 0).length;
  if (!(gap > 0) || above < MOSTLY * means.length) return undefined;
  const stride = gap / Math.max(1, Math.round(points / means.length));
  const [first = 0] = steps;
  // Steps count from 0 or 1, and a run that was resumed may count what it does anew.
  const origins = [first - stride, 0].filter((origin) => origin < first && origin >= -stride);
  const every = Math.ceil(means.length / MOST_COMPARED);
  for (const origin of origins) {
    const line = steps.flatMap((step, at): Point[] =>
      at % every === 0 && (means[at] as number) > 0
        ? [[Math.log(step + (gap - stride) / 2 - origin), Math.log(means[at] as number)]]
        : [],
    );
    const range = Math.exp((line.at(-1)?.[0] ?? 0) - (line[0]?.[0] ?? 0));
    if (!(range >= numberOf(world, 'range'))) continue;
    const exponent = slopeOf(line);
    const sign = [1, -1].find((each) => Math.abs(exponent - each) <= numberOf(world, 'tolerance'));
    if (sign !== undefined && liesOn(line, sign)) return sign;
  }
  return undefined;
}

function slopeOf(line: readonly Point[]): number {
  return median(
    line.flatMap(([x, y], at) =>
      line
        .slice(at + 1)
        .flatMap(([otherX, otherY]) => (otherX - x < APART ? [] : [(otherY - y) / (otherX - x)])),
    ),
  );
}

function liesOn(line: readonly Point[], sign: number): boolean {
  const heights = line.map(([x, y]) => y - sign * x);
  const quarter = Math.ceil(heights.length / 4);
  const off = (part: readonly number[]): number => Math.abs(median(part) - median(heights));
  return off(heights.slice(-quarter)) <= MOST_OFF && off(heights.slice(0, quarter)) <= MOST_OFF_FIRST;
}

/** Of a counter, from the first point to the last. */
const COUNTS = 1.1;
/** Of the pace times the time of the step, over what was counted so far: both are rounded. */
const SAME = 0.02;

/** Where tokens so far and the times of steps are logged as well, the pace times the time says which tokens it has. */
function countsAll(world: RuleWorld, { steps, means, points }: Course): boolean {
  const courseOf = (role: Series['role']): Course | undefined => {
    const series = world.series().find((each) => each.role === role && each.part === '' && !each.evaluation);
    return series === undefined ? undefined : world.courseOf(series);
  };
  const [count, time] = [courseOf('tokens_so_far'), courseOf('step_time')];
  if (count === undefined || time === undefined || points !== means.length) return false;
  const alike = [count, time].every(
    (each) => each.points === points && each.steps.every((step, at) => step === steps[at]),
  );
  const [first = Number.NaN, last = Number.NaN] = [count.means[0], count.means.at(-1)];
  if (!alike || !(first > 0 && last >= COUNTS * first)) return false;
  const ratios = means.map((pace, at) => (pace * (time.means[at] as number)) / (count.means[at] as number));
  const middle = median(ratios);
  return ratios.every((ratio) => Math.abs(ratio - middle) <= SAME * middle);
}
