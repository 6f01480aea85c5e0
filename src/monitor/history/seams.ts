// Where the steps of a log go back to the beginning. A second run in the same place is judged apart, as a run of its own;
// passes that each count their own steps are counted on. Until some points tell which of them it is, they wait.

import type { Series } from '../series.ts';
import type { Course } from './curve.ts';
import { FEWEST_BEFORE, isBeginning, isSecondRun } from './restarts.ts';

/** What is asked of a run. */
export interface SeamedRun {
  readonly name: string;
  readonly steps: readonly [number, number] | undefined;
  readonly declared: Map<string, string | number | boolean>;
  readonly stateOf: (series: Series) => { readonly count: number; readonly step: number };
  /** Its points take the way through here. */
  detour: boolean;
}

export interface SeamOptions<Run extends SeamedRun> {
  readonly runOf: (name: string) => Run;
  readonly seriesOf: (run: string, name: string) => Series;
  readonly put: (series: Series, step: number, value: number, time: number) => void;
  readonly courseOf: (index: number) => Course | undefined;
}

export interface Seams<Run extends SeamedRun> {
  /** A point of a run that takes this way, or whose step went back. */
  point(run: Run, series: Series, step: number, value: number, time: number): void;
  /** This run and all that are logged in its place. */
  chain(run: Run): readonly Run[];
  /** A sentence for each seam. */
  remarks(): readonly string[];
  /** Nothing comes any more: what waits is decided. */
  end(): void;
}

/** Points of one series before it is decided. */
const ENOUGH_HELD = 6;
/** Held at most: a run may log thousands of series a step. */
const MOST_HELD = 50_000;
/** Times that lines of a beginning stood among later ones: there is more than one writer. */
const MOST_STRAYS = 2;

interface Held {
  readonly series: Series;
  readonly step: number;
  readonly value: number;
  readonly time: number;
}

interface Seam<Run> {
  /** Added to each logged step: those of the passes before. */
  offset: number;
  passes: number;
  /** The series that went back, and all points since. */
  held: { readonly series: Series; own: number; readonly points: Held[] } | undefined;
  next: Next<Run> | undefined;
  strays: number;
}

/** The run that is logged in the same place. */
interface Next<Run> {
  readonly run: Run;
  /** Both write at the same time. */
  readonly among: boolean;
  /** The last logged step of each series. */
  readonly last: Map<string, number>;
  /** Its first step. */
  readonly from: number;
}

export function openSeams<Run extends SeamedRun>({
  runOf,
  seriesOf,
  put,
  courseOf,
}: SeamOptions<Run>): Seams<Run> {
  const seams = new Map<Run, Seam<Run>>();

  const seamOf = (run: Run): Seam<Run> => {
    const known = seams.get(run);
    if (known !== undefined) return known;
    const seam = { offset: 0, passes: 0, held: undefined, next: undefined, strays: 0 };
    seams.set(run, seam);
    return seam;
  };

  function point(run: Run, series: Series, logged: number, value: number, time: number): void {
    const seam = seamOf(run);
    const { next } = seam;
    if (next !== undefined && !(next.among && isOfFirst(run, next, series, logged))) {
      next.last.set(series.name, logged);
      point(next.run, seriesOf(next.run.name, series.name), logged, value, time);
      return;
    }
    const step = logged + seam.offset;
    const before = run.stateOf(series);
    if (seam.held === undefined) {
      const returns =
        next === undefined &&
        step < before.step &&
        before.count >= FEWEST_BEFORE &&
        run.steps !== undefined &&
        isBeginning(step - seam.offset, [run.steps[0], run.steps[1] - seam.offset]);
      if (!returns) {
        put(series, step, value, time);
        return;
      }
      seam.held = { series, own: 0, points: [] };
      run.detour = true;
    }
    const { held } = seam;
    held.points.push({ series, step, value, time });
    if (series === held.series) held.own++;
    if (series === held.series && step > before.step) scatter(run, seam);
    else if (held.own > ENOUGH_HELD || held.points.length >= MOST_HELD) settle(run, seam);
  }

  /** Lines of a beginning stand among others: once, that is the order of a buffer; often, it is a second writer. */
  function scatter(run: Run, seam: Seam<Run>): void {
    const points = release(run, seam);
    seam.strays++;
    if (seam.strays < MOST_STRAYS)
      for (const each of points) put(each.series, each.step, each.value, each.time);
    else part(run, seam, points, true);
  }

  function settle(run: Run, seam: Seam<Run>): void {
    const points = release(run, seam);
    const values = new Map<Series, number[]>();
    for (const { series, value } of points) values.set(series, [...(values.get(series) ?? []), value]);
    const held = [...values].map(([series, own]) => ({
      role: series.role,
      course: courseOf(series.index),
      values: own,
    }));
    if (isSecondRun(held)) {
      part(run, seam, points, false);
      return;
    }
    const more = (run.steps?.[1] ?? 0) - seam.offset;
    seam.offset += more;
    seam.passes++;
    run.detour = true;
    for (const { series, step, value, time } of points) put(series, step + more, value, time);
  }

  function release(run: Run, seam: Seam<Run>): readonly Held[] {
    const points = seam.held?.points ?? [];
    seam.held = undefined;
    run.detour = seam.next !== undefined || seam.offset !== 0;
    return points;
  }

  function part(run: Run, seam: Seam<Run>, points: readonly Held[], among: boolean): void {
    const next = runOf(nameOfNext(run.name));
    for (const [name, value] of run.declared) next.declared.set(name, value);
    seam.next = { run: next, among, last: new Map(), from: (points[0]?.step ?? 0) - seam.offset };
    run.detour = true;
    for (const { series, step, value, time } of points) point(run, series, step - seam.offset, value, time);
  }

  function chain(run: Run): readonly Run[] {
    const next = seams.get(run)?.next;
    return next === undefined ? [run] : [run, ...chain(next.run)];
  }

  return {
    point,
    chain,
    remarks: () => [...seams].flatMap(([run, seam]) => wordsOf(run, seam)),
    end() {
      // What is decided of one may leave points that wait in the next.
      for (const [run, seam] of seams) if (seam.held !== undefined) settle(run, seam);
    },
  };
}

// --- helpers ---

/** Of two runs that write into one log, a line belongs to the one that it goes on from more closely. */
function isOfFirst<Run extends SeamedRun>(
  run: Run,
  { last }: Next<Run>,
  series: Series,
  step: number,
): boolean {
  const own = step - run.stateOf(series).step;
  const other = step - (last.get(series.name) ?? Number.NEGATIVE_INFINITY);
  return own > 0 && own <= other;
}

/** `runs/a.jsonl (start 2)`. */
function nameOfNext(name: string): string {
  const [, bare = name, number] = /^(.*) \(start (\d+)\)$/.exec(name) ?? [];
  return `${bare} (start ${Number(number ?? 1) + 1})`;
}

function wordsOf<Run extends SeamedRun>({ name }: Run, { next, passes }: Seam<Run>): string[] {
  const times = passes === 1 ? 'once' : `${passes} times`;
  return [
    ...(next === undefined
      ? []
      : [
          next.among
            ? `${name}: two runs write into this log at the same time; the lines that go on from step ${next.from} are judged apart, as ${next.run.name}.`
            : `${name}: the steps go back to ${next.from} and what is logged begins anew: a second run is logged in the same place. It is judged apart, as ${next.run.name}.`,
        ]),
    ...(passes === 0
      ? []
      : [
          `${name}: the steps go back to the beginning ${times} and what is logged goes on: each pass counts its own. They are counted on here.`,
        ]),
  ];
}
