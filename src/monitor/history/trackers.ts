// Two logs of one run, as a trainer with two trackers writes them: what one of them holds otherwise. That they are of one run is told
// by a series with noise that is the same in both, step by step; rates and counters are the same in any two runs.
import type { Series, SeriesRole } from '../series.ts';
import { median, noiseOf } from '../statistics.ts';
import type { Course } from './curve.ts';

/** What is asked of a run. */
export interface TrackedRun {
  readonly name: string;
  readonly series: readonly Series[];
  readonly courseOf: (series: Series) => Course | undefined;
}

/** Sentences about each two runs that are one. */
export function trackersOf(runs: readonly TrackedRun[]): readonly string[] {
  const own = runs
    .slice(0, MOST_RUNS)
    .filter(({ name }) => !OF_A_RANK.test(name))
    .map(keyed);
  return own.flatMap((one, at) => own.slice(at + 1).flatMap((other) => disagreements(one, other)));
}

// --- helpers ---

const MOST_RUNS = 12;
const MOST_SERIES = 60;
const MOST_SAID = 3;
/** Each rank logs what it has itself. */
const OF_A_RANK = /(?:rank|worker|gpu|node|process)[_-]?\d+/i;
/** Steps that both have. */
const FEWEST = 20;
/** Of a value: digits that a log may leave out. */
const ROUNDED = 1e-3;
const DECIMALS = 6e-5;
/** Of the steps, that are the same, and that differ. */
const SAME = 0.9;
const DIFFER = 0.3;
/** Noise, in roundings, by which a series is one run's and no other's. */
const TELLING = 10;

/** The same in any two runs, or measured by each tracker itself. */
const OTHERS: ReadonlySet<SeriesRole> = new Set([
  'learning_rate',
  'epoch',
  'tokens_so_far',
  'samples',
  'throughput',
  'step_time',
  'data_time',
]);

interface Pair {
  readonly series: Series;
  readonly other: Series;
  readonly steps: readonly number[];
  readonly a: readonly number[];
  readonly b: readonly number[];
  /** Steps that the second is behind; values are compared in their order. */
  readonly shift: number;
}

function disagreements(one: Keyed, two: Keyed): readonly string[] {
  const pairs = pairsOf(one, two);
  const same = pairs.find((pair) => tells(pair.a) && share(pair, isSame) >= SAME);
  const said = pairs.flatMap((pair) => {
    const { series, other, steps, a, b, shift } = pair;
    const names = series.name === other.name ? series.name : `${series.name} (${other.name})`;
    if (share(pair, isSame) >= SAME)
      return shift === 0 || !tells(a)
        ? late(pair, names)
        : [
            `${names} has the same values in both, ${Math.abs(shift)} ${Math.abs(shift) === 1 ? 'step' : 'steps'} apart`,
          ];
    const factor = factorOf(pair);
    if (factor !== undefined)
      return [`${names} is ${Number(factor.toPrecision(4))} times as large in the second at each step`];
    const differ = a.flatMap((value, at) => (isSame(value, b[at] as number) ? [] : [at]));
    const [first] = differ;
    if (same === undefined || shift !== 0 || first === undefined || differ.length < DIFFER * a.length)
      return [];
    return [
      `${names} is ${a[first]} and ${b[first]} at step ${steps[first]}, and differs at ${differ.length} of ${a.length} steps, while ${same.series.name} is the same`,
    ];
  });
  if (said.length === 0) return [];
  const more = said.length - MOST_SAID;
  return [
    `${one.name} and ${two.name} are logs of one run and disagree: ${said.slice(0, MOST_SAID).join('; ')}${more > 0 ? `; and so do ${more} more` : ''}. Which of them is right?`,
  ];
}

/** All is the same but the second value, which has the first in its mean: a sum that was not reset after the first was logged. */
function late({ a, b, steps, shift }: Pair, names: string): readonly string[] {
  const differ = a.flatMap((value, at) => (isSame(value, b[at] as number) ? [] : [at]));
  const [x, y] = [a, b].map(([first = 0, second = 0]) => [first, second] as const) as [Two, Two];
  const means = isSame(y[1], (x[0] + x[1]) / 2) || isSame(x[1], (y[0] + y[1]) / 2);
  return tells(a) && shift === 0 && differ.length === 1 && differ[0] === 1 && means
    ? [`${names} is ${x[1]} and ${y[1]} at step ${steps[1]}, one of them the mean of the first two values`]
    : [];
}

type Two = readonly [number, number];

interface Keyed {
  readonly name: string;
  /** The first of each key. */
  readonly series: ReadonlyMap<string, Series>;
  readonly courseOf: TrackedRun['courseOf'];
}

function keyed({ name, series, courseOf }: TrackedRun): Keyed {
  const byKey = new Map<string, Series>();
  for (const each of series) {
    const key = keyOf(each);
    if (key !== undefined && !byKey.has(key) && byKey.size < MOST_SERIES) byKey.set(key, each);
  }
  return { name, series: byKey, courseOf };
}

function pairsOf(one: Keyed, two: Keyed): readonly Pair[] {
  return [...one.series].flatMap(([key, series]): Pair[] => {
    const other = two.series.get(key);
    const [a, b] = [one.courseOf(series), other === undefined ? undefined : two.courseOf(other)];
    if (other === undefined || a === undefined || b === undefined) return [];
    const pair = inOrder(a, b) ?? byStep(a, b);
    return pair === undefined || pair.a.length < FEWEST ? [] : [{ series, other, ...pair }];
  });
}

/** Undefined: it tells no run, or has no role. */
function keyOf({ role, part, evaluation, name }: Series): string | undefined {
  if (role === undefined || OTHERS.has(role) || OF_A_RANK.test(name)) return undefined;
  return `${role} ${part} ${evaluation}`;
}

/** As many values of as many points, so many steps apart all along. */
function inOrder(a: Course, b: Course): Omit<Pair, 'series' | 'other'> | undefined {
  if (a.points !== b.points || a.means.length !== b.means.length) return undefined;
  const shift = (b.steps[0] as number) - (a.steps[0] as number);
  const stride = median(a.steps.slice(1).map((step, at) => step - (a.steps[at] as number)));
  if (!a.steps.every((step, at) => (b.steps[at] as number) - step === shift)) return undefined;
  return Math.abs(shift) > 2 * stride ? undefined : { steps: a.steps, a: a.means, b: b.means, shift };
}

function byStep(a: Course, b: Course): Omit<Pair, 'series' | 'other'> | undefined {
  if (a.points !== a.means.length || b.points !== b.means.length) return undefined;
  const own = new Map(b.steps.map((step, at) => [step, b.means[at] as number]));
  const rows = a.steps.flatMap((step, at) => {
    const other = own.get(step);
    return other === undefined ? [] : [[step, a.means[at] as number, other] as const];
  });
  return {
    steps: rows.map(([step]) => step),
    a: rows.map(([, value]) => value),
    b: rows.map(([, , value]) => value),
    shift: 0,
  };
}

const isSame = (a: number, b: number): boolean => Math.abs(a - b) <= ROUNDED * Math.abs(a) + DECIMALS;

const share = ({ a, b }: Pair, holds: (a: number, b: number) => boolean): number =>
  a.filter((value, at) => holds(value, b[at] as number)).length / a.length;

/** Noise above what rounding makes: two runs do not share it. */
function tells(values: readonly number[]): boolean {
  const size = median(values.map(Math.abs));
  return noiseOf(values) > TELLING * (ROUNDED * size + DECIMALS);
}

function factorOf(pair: Pair): number | undefined {
  const { a, b } = pair;
  if (!tells(a)) return undefined;
  const factor = median(b.map((value, at) => value / (a[at] as number)));
  if (!Number.isFinite(factor) || factor === 0) return undefined;
  const near = (value: number, other: number): boolean =>
    Math.abs(other - factor * value) <= 2 * ROUNDED * Math.abs(other) + DECIMALS * (1 + Math.abs(factor));
  return share(pair, near) >= SAME ? factor : undefined;
}
