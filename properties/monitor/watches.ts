// Ways to watch: each series on its own, point by point or by its whole course, or several joined by step. All speak once about
// a thing that is wrong.
import {
  type Course,
  type JoinedRow,
  joinSteps,
  type RuleWorld,
  type Series,
  show,
  type Violation,
  type Watch,
} from '../../src/index.ts';
import { reasonOf, type Why } from './reasons.ts';
import { numberOf } from './world.ts';

/** What watches one series. */
export interface SeriesJudge {
  /** `seen`: this point was judged. */
  point(step: number, value: number): Violation | 'seen' | undefined;
  band?(): { readonly low: number; readonly high: number } | undefined;
  end?(): Violation | undefined;
}

export interface SeriesWatchOptions {
  /** Undefined: this series is not for the rule. */
  readonly judge: (series: Series) => SeriesJudge | undefined;
  /** Why nothing was judged. */
  readonly why: Why;
}

/** One judge a series; a second point of the same step replaces nothing and is not counted again. */
export function watchSeries({ judge, why }: SeriesWatchOptions): Watch {
  interface State {
    readonly series: Series;
    readonly judge: SeriesJudge | undefined;
    step: number;
    points: number;
    silent: boolean;
  }
  const states = new Map<Series, State>();
  let judged = 0;
  const settle = (state: State, said: Violation | 'seen' | undefined): Violation | undefined => {
    if (said === undefined) return undefined;
    judged++;
    if (said === 'seen') return undefined;
    state.silent = true;
    return { series: state.series, ...said };
  };
  return {
    point(series, step, value) {
      let state = states.get(series);
      if (state === undefined) {
        state = { series, judge: judge(series), step: Number.NaN, points: 0, silent: false };
        states.set(series, state);
      }
      if (state.step === step) return undefined;
      state.step = step;
      if (Number.isFinite(value)) state.points++;
      if (state.judge === undefined) return undefined;
      const said = state.judge.point(step, value);
      return state.silent ? undefined : settle(state, said);
    },
    end() {
      const violations: Violation[] = [];
      for (const state of states.values()) {
        const said = state.silent ? undefined : state.judge?.end?.();
        const violation = settle(state, said);
        if (violation !== undefined) violations.push(violation);
      }
      return violations;
    },
    judged: () => judged,
    why: () => {
      const all = [...states.values()];
      const aside = all.filter((state) => state.judge === undefined).map(({ series }) => series);
      return reasonOf(why, { counts: new Map(all.map(({ series, points }) => [series, points])), aside });
    },
    band: (series) => states.get(series)?.judge?.band?.(),
  };
}

/** What one value of a series is to a rule that waits for several bad ones in a row. */
export interface Reading {
  readonly bad: boolean;
  readonly kind: string;
  /** Of the steps from the first bad one to this. */
  readonly sentence: (first: number, last: number) => string;
  readonly low?: number;
  readonly high?: number;
}

export interface StreakOptions {
  /** Undefined: says nothing of the rule. `value` is a number, maybe infinite. */
  readonly reading: (series: Series, value: number) => Reading | undefined;
  readonly band?: () => { readonly low: number; readonly high: number } | undefined;
  readonly why: Why;
}

/** Each series on its own, until so many values in a row are bad as the rule's setting `points` says. */
export function watchStreaks(world: RuleWorld, { reading, band, why }: StreakOptions): Watch {
  return watchSeries({
    judge: (series) => {
      const streak = streakOf(numberOf(world, 'points'));
      let first = Number.NaN;
      return {
        point(step, value) {
          const seen = Number.isNaN(value) ? undefined : reading(series, value);
          if (seen === undefined) return undefined;
          const { bad, sentence, ...violation } = seen;
          const enough = streak.next(bad, step);
          if (streak.length === 1) first = value;
          if (!enough) return 'seen';
          return { ...violation, sentence: sentence(streak.from, step), step: streak.from, value: first };
        },
        ...(band === undefined ? {} : { band }),
      };
    },
    why,
  });
}

export interface CourseWatchOptions {
  /** Undefined: this series is not for the rule, as far as is known now. `ended`: the log is at its end. */
  readonly judge: (series: Series, course: Course, ended: boolean) => Violation | 'seen' | undefined;
  /** Finite values of a series before it is judged the first time. */
  readonly least: number;
  readonly why: Why;
}

/**
 * The whole course of each series, looked at again whenever it has grown by a sixteenth, and at the end: 16 ln(n) looks at n
 * points, each at most 240 values long.
 */
export function watchCourses(world: RuleWorld, { judge, least, why }: CourseWatchOptions): Watch {
  interface State {
    count: number;
    next: number;
    silent: boolean;
  }
  const states = new Map<Series, State>();
  let judged = 0;
  const look = (series: Series, state: State, ended: boolean): Violation | undefined => {
    const course = world.courseOf(series);
    const said = course === undefined ? undefined : judge(series, course, ended);
    if (said === undefined) return undefined;
    judged++;
    if (said === 'seen') return undefined;
    state.silent = true;
    return { series, ...said };
  };
  return {
    point(series, _step, value) {
      const state = states.get(series) ?? { count: 0, next: least, silent: false };
      states.set(series, state);
      if (Number.isFinite(value)) state.count++;
      if (state.silent || state.count < state.next) return undefined;
      state.next = state.count + Math.max(1, state.count >> 4);
      return look(series, state, false);
    },
    end() {
      return [...states]
        .filter(([, { silent, count }]) => !silent && count >= least)
        .flatMap(([series, state]) => look(series, state, true) ?? []);
    },
    judged: () => judged,
    why: () =>
      reasonOf(why, {
        counts: new Map([...states].map(([series, { count }]) => [series, count])),
        aside: [],
      }),
  };
}

/** One rule that looks at the same thing in several ways: it speaks of a series once, by whichever is first. */
export function watchAnyOf(...watches: readonly Watch[]): Watch {
  const said = new Set<Series | undefined>();
  const first = (violations: readonly Violation[]): Violation[] =>
    violations.filter(({ series }) => !said.has(series) && said.add(series));
  return {
    point(...point) {
      const violations = watches.flatMap((watch) => watch.point?.(...point) ?? []);
      return first(violations)[0];
    },
    end: () => first(watches.flatMap((watch) => watch.end?.() ?? [])),
    judged: () => watches.reduce((most, watch) => Math.max(most, watch.judged()), 0),
    why: () => watches[0]?.why?.(),
    band(series) {
      for (const watch of watches) {
        const band = watch.band?.(series);
        if (band !== undefined) return band;
      }
      return undefined;
    },
  };
}

/** A row of joined series, with the series behind each key for the sentence. */
export interface Row<Key extends string> extends JoinedRow<Key> {
  readonly seriesOf: (key: Key) => Series | undefined;
}

export interface JoinedWatchOptions<Key extends string> {
  /** The key of a series; undefined: not for this rule. Of several with one key, the first that was seen counts. */
  readonly keyOf: (series: Series) => Key | undefined;
  readonly row: (row: Row<Key>) => Violation | 'seen' | undefined;
  readonly why: Why;
}

/** A kind of violation is said once. */
export function watchJoined<Key extends string>({ keyOf, row, why }: JoinedWatchOptions<Key>): Watch {
  const join = joinSteps<Key>();
  const keys = new Map<Series, Key | undefined>();
  const first = new Map<Key, Series>();
  const counts = new Map<Series, number>();
  const told = new Set<string>();
  const waiting: Violation[] = [];
  let judged = 0;
  const judge = (rows: readonly JoinedRow<Key>[]): void => {
    for (const each of rows) {
      const outcome = row({ ...each, seriesOf: (key) => first.get(key) });
      if (outcome === undefined) continue;
      judged++;
      if (outcome === 'seen' || told.has(outcome.kind)) continue;
      told.add(outcome.kind);
      waiting.push(outcome);
    }
  };
  return {
    point(series, step, value) {
      if (!keys.has(series)) {
        const key = keyOf(series);
        const taken = key !== undefined && first.has(key);
        keys.set(series, taken ? undefined : key);
        if (key !== undefined && !taken) first.set(key, series);
      }
      const key = keys.get(series);
      // Only until something is judged is it asked why nothing was.
      if (judged === 0 && Number.isFinite(value)) counts.set(series, (counts.get(series) ?? 0) + 1);
      if (key !== undefined) judge(join.add(key, step, value));
      return waiting.shift();
    },
    end() {
      judge(join.end());
      return waiting.splice(0);
    },
    judged: () => judged,
    why: () => reasonOf(why, { counts, keys, aside: [] }),
  };
}

/** Counts how often in a row something was so, and remembers where it began. */
export interface Streak {
  readonly length: number;
  readonly from: number;
  /** True when the streak is `needed` long. */
  next(holds: boolean, step: number): boolean;
}

export function streakOf(needed: number): Streak {
  let length = 0;
  let from = Number.NaN;
  return {
    get length() {
      return length;
    },
    get from() {
      return from;
    },
    next(holds, step) {
      if (!holds) length = 0;
      else if (length++ === 0) from = step;
      return length >= needed;
    },
  };
}

/** `train/loss at step 12` */
export const at = ({ name }: Series, step: number): string => `${name} at step ${step}`;

/** `train/loss at step 12` or `train/loss from step 10 to 12`. */
export function from({ name }: Series, first: number, last: number): string {
  return first === last ? `${name} at step ${first}` : `${name} from step ${first} to ${last}`;
}

/** A number of a log as people read it: NaN and infinities by name. */
export const read = (value: number): string => (Number.isFinite(value) ? show(value) : String(value));

export type { RuleWorld };
