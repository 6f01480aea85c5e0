// What is odd about the logs themselves, and is no fault of the training: series that end while the others go on, and
// numbers whose unit changed. Said, so that a plot that looks wrong is not read as a run that went wrong.

import type { Series, SeriesRole } from '../series.ts';
import { median } from '../statistics.ts';
import type { Curve, CurvePoint } from './curve.ts';
import { oddValues } from './odd-values.ts';
import { CALLED_MEAN, isMeanOf, isRunningMean, MEASURED_PER_STEP } from './running-means.ts';

/** What is asked of a run. */
interface RemarkedRun {
  readonly name: string;
  readonly series: readonly Series[];
  readonly steps: readonly [number, number] | undefined;
  readonly declared: ReadonlyMap<string, string | number | boolean>;
  readonly stateOf: (series: Series) => {
    readonly count: number;
    readonly step: number;
    readonly lowest: number;
    readonly highest: number;
    readonly curve: Curve | undefined;
  };
}

/** What the user says of every run goes before what the run says of itself. */
export function remarksOf(
  logged: RemarkedRun,
  facts: Readonly<Record<string, string | number | boolean>> = {},
): readonly string[] {
  const run = { ...logged, declared: new Map([...logged.declared, ...Object.entries(facts)]) };
  return [
    ...unfinished(run),
    ...endings(run),
    ...units(run),
    ...strides(run),
    ...gaps(run),
    ...runningMeans(run),
    ...oddValues(run),
  ].map((sentence) => `${run.name}: ${sentence}`);
}

// --- helpers ---

/** A log cannot tell a run that died from one that goes on; both are said to be unfinished. */
function unfinished(run: RemarkedRun): string[] {
  const [name, total] = STEPS_IN_ALL.map((each) => [each, stepsIn(run, each)] as const).find(
    ([, steps]) => steps > 0,
  ) ?? ['', 0];
  const last = run.steps?.[1] ?? Number.POSITIVE_INFINITY;
  const longest = run.series.reduce((most, series) => Math.max(most, run.stateOf(series).count), 0);
  if (longest < FEWEST || last >= total * NEARLY_ALL) return [];
  return [`the log ends at step ${last} of ${total} (${name}): the run stopped early, or goes on.`];
}

/** As trainers call the number of optimiser steps of a run. */
const STEPS_IN_ALL = [
  'max_steps',
  'total_steps',
  'total_training_steps',
  'max_iters',
  'train_iters',
  'num_training_steps',
  'num_train_steps',
  'max_train_steps',
  'training_steps',
];
/** Where its settings of training are nested: those of an environment count other steps. */
const OF_TRAINING = ['', 'trainer/', 'training/', 'train/', 'args/', 'config/'];
/** The last few steps are not always logged. */
const NEARLY_ALL = 0.95;

/** Declared, or logged with each step; 0: neither. */
function stepsIn(run: RemarkedRun, name: string): number {
  const said = OF_TRAINING.map((folder) => Number(run.declared.get(`${folder}${name}`))).find(
    (each) => each > 0,
  );
  if (said !== undefined) return said;
  const series = run.series.find((each) => each.name === name || each.name.endsWith(`/${name}`));
  const { lowest = 0, highest = 0 } = series === undefined ? {} : run.stateOf(series);
  return lowest === highest ? highest : 0;
}

/** Series that were logged at nearly every step of the longest one, and then stopped for a quarter of the run. */
function endings(run: RemarkedRun): string[] {
  const judged = run.series.filter(({ role, evaluation }) => role !== undefined && !evaluation);
  const [last, first] = [run.steps?.[1] ?? 0, run.steps?.[0] ?? 0];
  const longest = judged.reduce((most, series) => Math.max(most, run.stateOf(series).count), 0);
  const going = judged.find((series) => run.stateOf(series).step === last);
  if (going === undefined) return [];
  const ended = judged.filter((series) => {
    const { count, step } = run.stateOf(series);
    const share = (step - first) / (last - first);
    return (
      count >= FEWEST && share <= 1 - LEFT && longest - count >= FEWEST && count >= OFTEN * share * longest
    );
  });
  const names = ended
    .slice(0, MOST_NAMED)
    .map((series) => `${series.name} at step ${run.stateOf(series).step}`);
  const more = ended.length - names.length;
  return ended.length === 0
    ? []
    : [
        `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''} ${ended.length === 1 ? 'ends' : 'end'}, while ${going.name} goes on to step ${last}.`,
      ];
}

/** Points behind which a series counts as logged, and so many that it lacks. */
const FEWEST = 10;
const LEFT = 0.25;
const OFTEN = 0.8;
const MOST_NAMED = 3;

/** Quantities that have a unit, whose size says which one it is. */
const MEASURED = new Set<SeriesRole>([
  'completion_length',
  'completion_length_min',
  'completion_length_max',
  'throughput',
  'step_time',
  'data_time',
]);

/** Of 1,000 or 1,024, with the noise of medians; nothing that a run does moves them so far from one point to the next. */
const THOUSAND: readonly [number, number] = [700, 1_500];

function units(run: RemarkedRun): string[] {
  return run.series.flatMap((series) => {
    if (series.role === undefined || series.evaluation || !MEASURED.has(series.role)) return [];
    const points = run.stateOf(series).curve?.points() ?? [];
    const at = thousandfold(points);
    if (at === undefined) return [];
    const [before, after] = [points[at - 1] as CurvePoint, points[at] as CurvePoint];
    const factor = after.value > before.value ? 'a thousand times' : 'a thousandth of';
    return [
      `${series.name} is ${before.value} at step ${before.step}, and about ${factor} that from step ${after.step} on (${after.value}): its unit may have changed.`,
    ];
  });
}

/** Values on either side of a change of unit. */
const BESIDE = 5;

function thousandfold(points: readonly CurvePoint[]): number | undefined {
  const values = points.map(({ value }) => value);
  for (let at = BESIDE; at <= values.length - BESIDE; at++) {
    const [before, after] = [values.slice(at - BESIDE, at), values.slice(at, at + BESIDE)];
    if (!before.concat(after).every((value) => value > 0)) continue;
    const [low, high] = [median(before), median(after)];
    const factor = Math.max(high / low, low / high);
    const apart =
      high > low
        ? Math.min(...after) > 10 * Math.max(...before)
        : Math.min(...before) > 10 * Math.max(...after);
    if (apart && factor >= THOUSAND[0] && factor <= THOUSAND[1]) return at;
  }
  return undefined;
}

/** Steps that go on in strides a hundred times as long: they count something else from there on. */
const STRIDES = 100;

function strides(run: RemarkedRun): string[] {
  const series = longestOf(run);
  const points = series === undefined ? [] : (run.stateOf(series).curve?.points() ?? []);
  const steps = points.map(({ step }) => step);
  for (let at = BESIDE; at < steps.length - BESIDE; at++) {
    const before = median(differences(steps.slice(at - BESIDE, at + 1)));
    const after = differences(steps.slice(at, at + BESIDE + 1));
    if (before > 0 && Math.min(...after) > STRIDES * before)
      return [
        `the steps go from ${steps[at]} to ${steps[at + 1]}, and on in strides of ${median(after)} instead of ${before}: from there on they count something else, such as tokens or samples.`,
      ];
  }
  return [];
}

function runningMeans(run: RemarkedRun): string[] {
  const measured = run.series.filter(
    ({ role, evaluation, name }) =>
      role !== undefined && MEASURED_PER_STEP.has(role) && !evaluation && !CALLED_MEAN.test(name),
  );
  const judged = measured.slice(0, MOST_MEANS).flatMap((series) => {
    const course = run.stateOf(series).curve?.course();
    return course === undefined ? [] : [{ series, course }];
  });
  return judged.flatMap(({ series, course }) => {
    const of = judged.find(
      (other) =>
        other.series.role === series.role && other.series !== series && isMeanOf(course, other.course),
    );
    if (of === undefined && !isRunningMean(course)) return [];
    const words = of === undefined ? 'looks like' : 'is';
    const values = of === undefined ? 'all its values' : `all values of ${of.series.name}`;
    return [
      `${series.name} ${words} the mean of ${values} since the start: what happens late hardly moves it. Log the value of the last steps.`,
    ];
  });
}

/** Series of one run that are compared with each other. */
const MOST_MEANS = 50;

/** Logged steps that are missing in one place, at least. */
const MISSING = 10;

function gaps(run: RemarkedRun): string[] {
  const series = longestOf(run);
  const course = series === undefined ? undefined : run.stateOf(series).curve?.course();
  if (course === undefined || course.points < 2 * FEWEST) return [];
  const { steps, points } = course;
  const strides = differences(steps);
  const stride = median(strides);
  const each = stride / Math.ceil(points / steps.length);
  const wide = strides.findIndex((own) => own - stride >= MISSING * each);
  // Uneven steps are nobody's gap.
  if (wide < 0 || strides.filter((own) => own !== stride).length > 2) return [];
  const missing = Math.round(((strides[wide] as number) - stride) / each);
  return [
    `${missing} logged steps are missing between ${steps[wide]} and ${steps[wide + 1]}: a part of the log is lost, or the count went on without steps.`,
  ];
}

const differences = (steps: readonly number[]): number[] =>
  steps.slice(1).map((step, before) => step - (steps[before] as number));

function longestOf(run: RemarkedRun): Series | undefined {
  const count = (series: Series): number => run.stateOf(series).count;
  const all = run.series.filter(({ role, evaluation }) => role !== undefined && !evaluation);
  return all.reduce<Series | undefined>(
    (most, series) => (most === undefined || count(series) > count(most) ? series : most),
    undefined,
  );
}
