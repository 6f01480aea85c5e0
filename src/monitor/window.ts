// What is told of the place of a violation: the whole series, thinned to a plot with the points around it exact, and the
// few values around it as plain JSON.
import type { SeriesWindow } from '../check/property.ts';
import type { Band, CurvePoint } from './history/curve.ts';
import type { History, RunHistory } from './history/history.ts';
import type { Violation } from './rule.ts';
import type { Sample, Series } from './series.ts';

/** Undefined: the violation is about no series, or about one whose curve was not kept. */
export function windowOf(
  history: History,
  rule: string,
  run: string,
  violation: Violation,
): SeriesWindow | undefined {
  const { series } = violation;
  const owner = runNamed(history, series?.run ?? run);
  const curve = series === undefined ? undefined : owner?.stateOf(series).curve;
  if (series === undefined || curve === undefined) return undefined;
  const whole = withViolation(curve.points(), violation);
  const points = thinned(whole, placeOf(whole, violation));
  const at = placeOf(points, violation);
  const band = bandOf(curve.band(rule), violation);
  return {
    run: series.run,
    name: series.name,
    steps: points.map(({ step }) => step),
    values: points.map(({ value }) => value),
    ...(band === undefined ? {} : { band }),
    ...(at < 0 ? {} : { violation: at }),
  };
}

/** What it was found in, as plain JSON that a person can read. */
export function givenOf(history: History, run: string, violation: Violation): unknown {
  const { series, step, value, low, high, sample } = violation;
  if (sample !== undefined) return { run, ...sampleJson(sample) };
  const around =
    series === undefined ? undefined : aroundOf(runNamed(history, series.run), series, violation);
  return {
    run,
    ...(series === undefined ? {} : { series: series.name }),
    ...(step === undefined ? {} : { step }),
    ...(value === undefined ? {} : { value: plain(value) }),
    ...(low === undefined ? {} : { low: plain(low) }),
    ...(high === undefined ? {} : { high: plain(high) }),
    ...around,
  };
}

// --- helpers ---

/** Points of a window: what a plot can show and a file of events can carry. */
const MOST_POINTS = 240;
/** Either side of the violation, exact. */
const NEAR = 24;
/** Either side of it, in words. */
const AROUND = 5;
/** Of a text of a sample. */
const MOST_CHARACTERS = 2_000;
/** Of its ids. */
const MOST_IDS = 400;

function runNamed(history: History, name: string): RunHistory | undefined {
  return history.runs().find((run) => run.name === name);
}

/** -1: it is not among them. */
function placeOf(points: readonly CurvePoint[], { step, value }: Violation): number {
  if (step === undefined) return -1;
  const exact = points.findIndex(
    (point) => point.step === step && (value === undefined || Object.is(point.value, value)),
  );
  return exact >= 0 ? exact : points.findIndex((point) => point.step === step);
}

/** A point that was thinned away before anybody knew that it mattered. */
function withViolation(points: readonly CurvePoint[], violation: Violation): readonly CurvePoint[] {
  const { step, value } = violation;
  if (step === undefined || value === undefined || placeOf(points, violation) >= 0) return points;
  const behind = points.findIndex((point) => point.step > step);
  const at = behind < 0 ? points.length : behind;
  return [...points.slice(0, at), { step, value }, ...points.slice(at)];
}

/** All of a short curve; of a long one what is near the violation, and the extremes of each further stretch. */
function thinned(points: readonly CurvePoint[], at: number): readonly CurvePoint[] {
  if (points.length <= MOST_POINTS) return points;
  const from = at < 0 ? 0 : Math.max(0, at - NEAR);
  const to = at < 0 ? 0 : Math.min(points.length, at + NEAR + 1);
  const stretch = Math.ceil((2 * points.length) / (MOST_POINTS - (to - from)));
  return [
    ...extremes(points.slice(0, from), stretch),
    ...points.slice(from, to),
    ...extremes(points.slice(to), stretch),
  ];
}

function extremes(points: readonly CurvePoint[], stretch: number): CurvePoint[] {
  const kept: CurvePoint[] = [];
  for (let from = 0; from < points.length; from += stretch) {
    const part = points.slice(from, from + stretch);
    const odd = part.find(({ value }) => !Number.isFinite(value));
    const low = part.reduce((a, b) => (b.value < a.value ? b : a));
    const high = part.reduce((a, b) => (b.value > a.value ? b : a));
    const chosen = new Set(odd === undefined ? [low, high] : [odd]);
    kept.push(...part.filter((point) => chosen.has(point)));
  }
  return kept;
}

/** With what was allowed at the violation itself, which is known exactly. */
function bandOf(band: Band | undefined, { step, low, high }: Violation): SeriesWindow['band'] {
  const exact = step !== undefined && (low !== undefined || high !== undefined);
  if (!exact) return band;
  const { steps, lows, highs } = band ?? { steps: [], lows: [], highs: [] };
  const behind = steps.findIndex((each) => each >= step);
  const at = behind < 0 ? steps.length : behind;
  const from = steps[at] === step ? at + 1 : at;
  const insert = (list: readonly number[], value: number): number[] => [
    ...list.slice(0, at),
    value,
    ...list.slice(from),
  ];
  return {
    steps: insert(steps, step),
    lows: insert(lows, low ?? Number.NEGATIVE_INFINITY),
    highs: insert(highs, high ?? Number.POSITIVE_INFINITY),
  };
}

function aroundOf(run: RunHistory | undefined, series: Series, violation: Violation): object | undefined {
  const points = run?.stateOf(series).curve?.points() ?? [];
  const at = placeOf(points, violation);
  if (at < 0) return undefined;
  const near = points.slice(Math.max(0, at - AROUND), at + AROUND + 1);
  return { around: { steps: near.map(({ step }) => step), values: near.map(({ value }) => plain(value)) } };
}

/** JSON has no NaN, and null would hide one. */
function plain(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

function sampleJson(sample: Sample): object {
  const { where, step, prompt, completion, promptIds, completionIds, group, reward, advantage, finish } =
    sample;
  const entries = {
    where,
    step,
    prompt: prompt === undefined ? undefined : tailOf(prompt),
    completion: completion === undefined ? undefined : headOf(completion),
    prompt_ids: promptIds?.slice(-MOST_IDS),
    completion_ids: completionIds?.slice(0, MOST_IDS),
    group: group === undefined ? undefined : headOf(group),
    reward: reward === undefined ? undefined : plain(reward),
    advantage: advantage === undefined ? undefined : plain(advantage),
    finish,
  };
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));
}

function headOf(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}…`;
}

/** What the completion follows. */
function tailOf(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `…${text.slice(-MOST_CHARACTERS)}`;
}
