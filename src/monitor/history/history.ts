// The history of a reading: where readers push what they read. Each point goes to the watches that asked for its role and
// nowhere else, and of each series stays no more than a plot shows; so that a log of a hundred million points is taken in
// in seconds and in little memory.
import type { BaselineRuns } from '../beside/beside.ts';
import { roleOf } from '../roles.ts';
import type { MonitorRule, SampleTokens, SettingValue, Violation } from '../rule.ts';
import type { LogSink, Series, SeriesRole } from '../series.ts';
import { type Course, type Curve, makeCurve } from './curve.ts';
import { asShare, isTold, percentRemark, type ShareUnit, shareUnitOf } from './percent.ts';
import { remarksOf } from './remarks.ts';
import {
  askBand,
  asksFor,
  endOf,
  type Feed,
  feedOf,
  judgeSample,
  type RuleState,
  remarksOfRule,
  whyOf,
} from './rule-state.ts';
import { openSeams } from './seams.ts';
import { grown, makeTallies, type Tallies, tally } from './tallies.ts';
import { trackersOf } from './trackers.ts';

export type { RuleState };

export interface HistoryOptions {
  readonly rules: readonly MonitorRule[];
  readonly settingOf: (rule: MonitorRule, name: string) => SettingValue;
  /** What the user says of every run, over what a run says of itself. */
  readonly facts?: Readonly<Record<string, SettingValue>>;
  /** The role that the user gives a series, or `none`; undefined: the name tells. */
  readonly roleFor?: (name: string) => SeriesRole | 'none' | undefined;
  readonly tokens?: SampleTokens;
  /** Runs that are held to be healthy: rules judge beside them. */
  readonly baseline?: BaselineRuns;
  /** The first time that a rule is broken in a run. */
  readonly onBroken?: (state: RuleState, violation: Violation) => void;
}

export interface History extends LogSink {
  /** In the order in which they appeared. */
  readonly runs: () => readonly RunHistory[];
  readonly points: () => number;
  readonly samples: () => number;
  readonly complaints: () => readonly string[];
  /** What is odd about the steps of these logs, and how it was taken: a sentence each. */
  readonly remarks: () => readonly string[];
  /** The logs are at their end, or nobody writes them further: watches say what only the whole log tells. Once. */
  end(): void;
}

export interface RunHistory {
  readonly name: string;
  readonly series: readonly Series[];
  readonly rules: readonly RuleState[];
  readonly samples: number;
  /** Smallest and largest step of any point; undefined before the first. */
  readonly steps: readonly [number, number] | undefined;
  /** What the run said of its own settings. */
  readonly declared: ReadonlyMap<string, SettingValue>;
  readonly stateOf: (series: Series) => SeriesState;
  readonly courseOf: (series: Series) => Course | undefined;
}

export interface SeriesState {
  readonly count: number;
  readonly step: number;
  readonly value: number;
  readonly lowest: number;
  readonly highest: number;
  /** Absent: there were too many series to keep the curve of each. */
  readonly curve: Curve | undefined;
}

/** Curves of series without a role, in the order in which they came: a page of more is not read. */
const MOST_OTHER_CURVES = 200;
/** Of series with a role, over all runs: at about 12 kB a curve. */
const MOST_CURVES = 2_000;
/** With a role and without one, over all runs: each is asked about by every rule. Of trainers that log each layer the largest have 10,000. */
const MOST_SERIES = 20_000;
/** The index of a series that is not kept. */
const NOWHERE = -1;
/** Of one rule in one run; the others are counted. */
const MOST_KEPT = 8;
/** Runs whose logs are looked at for what is odd about them. */
const MOST_REMARKED = 20;
/** Sentences about what could not be read. */
const MOST_COMPLAINTS = 200;
const FIRST_ROOM = 256;

export function openHistory(options: HistoryOptions): History {
  const runs = new Map<string, MutableRun>();
  const feeds: (readonly Feed[])[] = [];
  const curves: (Curve | undefined)[] = [];
  const shares: (ShareUnit | undefined)[] = [];
  const owners: MutableRun[] = [];
  const complaints: string[] = [];
  let tallies = makeTallies(FIRST_ROOM);
  let others = 0;
  let withRole = 0;
  let points = 0;
  let samples = 0;
  let unsaid = 0;
  let ended = false;

  /** Kinds of series, by whether they have no role, of which there are too many. */
  const crowded = new Set<boolean>();

  const complain = (sentence: string): void => {
    if (complaints.length < MOST_COMPLAINTS) complaints.push(sentence);
    else unsaid++;
  };

  const runOf = (name: string): MutableRun => {
    const known = runs.get(name);
    if (known !== undefined) return known;
    const run: MutableRun = {
      name,
      series: [],
      byName: new Map(),
      bySetting: new Map(),
      rules: [],
      samples: 0,
      steps: undefined,
      declared: new Map(),
      detour: false,
      stateOf: (series) => stateOf(tallies, curves[series.index], series.index),
      courseOf: (series) => curves[series.index]?.course(),
    };
    runs.set(name, run);
    for (const rule of options.rules) run.rules.push(watched(rule, run, options));
    return run;
  };

  const seriesOf = (runName: string, name: string): Series => {
    const run = runOf(runName);
    const known = run.byName.get(name);
    if (known !== undefined) return known;
    const named = { run: runName, name, ...roleFor(name, options) };
    if ((named.role === undefined ? others : withRole) >= MOST_SERIES) {
      const kind = named.role === undefined;
      if (!crowded.has(kind)) complain(tooMany(named));
      crowded.add(kind);
      return { index: NOWHERE, ...named };
    }
    const index = curves.length;
    const series: Series = { index, ...named };
    run.byName.set(name, series);
    run.series.push(series);
    if (series.role === undefined) run.bySetting.set(name.slice(name.lastIndexOf('/') + 1), series);
    const asking = run.rules.filter(({ rule }) => asksFor(rule, series));
    for (const state of asking) state.seen = true;
    feeds.push(asking.flatMap(feedOf));
    owners.push(run);
    shares.push(shareUnitOf(series));
    const room = series.role === undefined ? others++ < MOST_OTHER_CURVES : withRole++ < MOST_CURVES;
    curves.push(room ? makeCurve() : undefined);
    if (index >= tallies.counts.length) tallies = grown(tallies);
    return series;
  };

  const take = (state: RuleState, violation: Violation, at: Series | undefined): void => {
    const { violations } = state;
    const on = violation.series ?? at;
    if (on !== undefined) curves[on.index]?.keep();
    if (violations.length === 0) options.onBroken?.(state, violation);
    const known = violations.some(
      ({ kind, series, sample }) =>
        sample === undefined && kind === violation.kind && series === violation.series,
    );
    if (known || violations.length >= MOST_KEPT) state.more++;
    else violations.push(violation);
  };

  const put = (series: Series, step: number, logged: number, time: number): void => {
    const at = series.index;
    const unit = shares[at];
    const value = unit === undefined ? logged : asShare(unit, step, logged);
    points++;
    tally(tallies, at, step, value);
    const owner = owners[at];
    if (owner !== undefined) reach(owner, step);
    if (owner !== undefined && unit !== undefined && isTold(unit))
      for (const state of owner.rules)
        state.violations = state.violations.filter(({ series: of }) => of !== series);
    const curve = curves[at];
    const begins = curve?.add(step, value) === true;
    const feed = feeds[at];
    if (feed === undefined) return;
    for (let each = 0; each < feed.length; each++) {
      const { state, point } = feed[each] as Feed;
      if (state.error !== undefined) continue;
      try {
        const violation = point(series, step, value, time);
        if (violation !== undefined) take(state, violation, series);
        if (begins) askBand(state, series, step, curve);
      } catch (error) {
        state.error = whyOf(error);
      }
    }
  };

  const seams = openSeams<MutableRun>({ runOf, seriesOf, put, courseOf: (at) => curves[at]?.course() });

  return {
    runs: () => [...runs.values()],
    points: () => points,
    samples: () => samples,
    complaints: () =>
      unsaid === 0 ? complaints : [...complaints, `${unsaid.toLocaleString('en')} more of the kind.`],
    remarks: () => [
      ...seams.remarks(),
      ...shares.flatMap((unit) => (unit === undefined ? [] : percentRemark(unit))),
      ...[...runs.values()]
        .slice(0, MOST_REMARKED)
        .flatMap((run) => [...remarksOf(run, options.facts), ...run.rules.flatMap(remarksOfRule)]),
      ...trackersOf([...runs.values()]),
    ],
    series: seriesOf,
    point(series, step, value, time) {
      if (series.index === NOWHERE) return;
      const owner = owners[series.index] as MutableRun;
      if (owner.detour || step < (tallies.steps[series.index] as number))
        seams.point(owner, series, step, value, time);
      else put(series, step, value, time);
    },
    sample(sample) {
      samples++;
      const run = runOf(sample.run);
      run.samples++;
      for (const state of run.rules) judgeSample(state, sample, take);
    },
    declare(run, name, value) {
      if (value === null) return;
      for (const own of seams.chain(runOf(run))) own.declared.set(name, value);
    },
    complain,
    end() {
      if (ended) return;
      ended = true;
      seams.end();
      for (const { rules } of runs.values()) for (const state of rules) endOf(state, take);
    },
  };
}

// --- helpers ---

function tooMany({ run, name, role }: Omit<Series, 'index'>): string {
  const kind = role === undefined ? 'whose name has no role' : 'whose name has a role';
  return `${run}: There are more than ${MOST_SERIES.toLocaleString('en')} series ${kind}; the others, from ${name} on, are not read or judged.`;
}

interface MutableRun extends RunHistory {
  readonly series: Series[];
  readonly byName: Map<string, Series>;
  /** Series without a role, by the last part of their name: `beta` of `train/beta`. */
  readonly bySetting: Map<string, Series>;
  readonly rules: RuleState[];
  samples: number;
  steps: [number, number] | undefined;
  readonly declared: Map<string, SettingValue>;
  detour: boolean;
}

/** The steps that a run has reached, without its points. */
function reach(run: MutableRun, step: number): void {
  const { steps } = run;
  if (steps === undefined) run.steps = [step, step];
  else if (step > steps[1]) steps[1] = step;
  else if (step < steps[0]) steps[0] = step;
}

function watched(rule: MonitorRule, run: MutableRun, options: HistoryOptions): RuleState {
  const watch = rule.watch({
    run: run.name,
    setting: (name) => options.settingOf(rule, name),
    declared: (name) => options.facts?.[name] ?? run.declared.get(name) ?? loggedSetting(run, name),
    series: () => run.series,
    courseOf: run.courseOf,
    ...(options.tokens === undefined ? {} : { tokens: options.tokens }),
    ...(options.baseline === undefined ? {} : { baseline: options.baseline }),
  });
  return { run: run.name, rule, watch, seen: false, violations: [], more: 0, error: undefined };
}

/** A setting that is logged with each step: a series without a role, of that name, that never moves. */
function loggedSetting(run: MutableRun, name: string): number | undefined {
  const series = run.bySetting.get(name);
  const state = series === undefined ? undefined : run.stateOf(series);
  return state !== undefined && state.count > 0 && state.lowest === state.highest ? state.value : undefined;
}

function roleFor(
  name: string,
  { roleFor: said }: HistoryOptions,
): Pick<Series, 'role' | 'part' | 'evaluation'> {
  const { role, part, evaluation } = roleOf(name);
  const told = said?.(name);
  if (told === 'none') return { part, evaluation };
  // Who names a series means that it is judged.
  if (told !== undefined) return { role: told, part: told === role ? part : '', evaluation: false };
  return { part, evaluation, ...(role === undefined ? {} : { role }) };
}

function stateOf(tallies: Tallies, curve: Curve | undefined, at: number): SeriesState {
  const of = (values: Float64Array): number => values[at] as number;
  return {
    count: of(tallies.counts),
    step: of(tallies.steps),
    value: of(tallies.values),
    lowest: of(tallies.lows),
    highest: of(tallies.highs),
    curve,
  };
}
