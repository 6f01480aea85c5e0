// The learning rate where a run is resumed: steps go back, and each of them has been logged with its rate before.
import type { MonitorRule, RuleWorld, Series } from '../../../src/index.ts';
import { at, read, type SeriesJudge, watchSeries } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';

export const scheduleResumes: MonitorRule = {
  id: 'monitor/schedule-resumes',
  title: 'Where a run is resumed, its schedule goes on and does not begin anew',
  stage: 'monitor',
  level: 'should',
  why: 'A scheduler that is not restored with the checkpoint warms up again, or begins again at its peak, in the middle of a run: other rates than chosen, and often a loss that jumps.',
  catches: [],
  advice:
    'Save and load the state of the scheduler (and of the optimiser) with the checkpoint; in a loop of your own, `last_epoch`.',
  roles: ['learning_rate'],
  settings: {
    tolerance: {
      default: 0.1,
      what: 'Share of the peak. After the step to which the run went back, the rates are that near to those of its first steps, and over twice as far from those that these steps had before. A deliberate new rate does not repeat the beginning.',
    },
    points: inARow(3, 'Rates of a beginning and of a resumed step may be alike by chance.'),
  },
  watch: (world) => {
    const asked = new Map<Series, string>();
    const watch = watchSeries({
      judge: (series) =>
        series.part === '' ? judgeResumed(world, series, (said) => asked.set(series, said)) : undefined,
      why: { otherwise: 'the run was not resumed: its steps do not go back' },
    });
    return { ...watch, remarks: () => [...asked.values()] };
  },
};

/** Of the peak: rates are computed, and a log may be of the step beside. */
const ANOTHER = 0.05;
/** Rates that are remembered; beyond, every other is dropped. */
const MOST = 512;

interface Rates {
  readonly steps: number[];
  readonly values: number[];
}

function judgeResumed(world: RuleWorld, series: Series, ask: (said: string) => void): SeriesJudge {
  const known: Rates = { steps: [], values: [] };
  let resumed: { readonly at: number; readonly before: Rates; same: number; first: number } | undefined;
  /** Steps behind the resumption whose rate is not the one that they had before. */
  let others: { readonly before: Rates; readonly at: number; count: number } | undefined;
  let peak = 0;
  const differs = (step: number, value: number): void => {
    if (others === undefined || step > (others.before.steps.at(-1) ?? 0)) return;
    const due = rateAt(others.before, step);
    others.count = Math.abs(value - due) > ANOTHER * peak ? others.count + 1 : 0;
    if (others.count < numberOf(world, 'points')) return;
    ask(
      `${series.name} goes back to step ${others.at} and has other rates from there on: ${read(value)} at step ${step}, which had ${read(due)} before. Was the schedule restored, and is it stepped once per step?`,
    );
    others = undefined;
  };
  const remember = (step: number, value: number): void => {
    while (known.steps.length > 0 && (known.steps.at(-1) as number) >= step) {
      known.steps.pop();
      known.values.pop();
    }
    known.steps.push(step);
    known.values.push(value);
    if (known.steps.length > MOST)
      for (const list of [known.steps, known.values]) list.splice(0, MOST + 1, ...list.filter(even));
  };
  return {
    point(step, value) {
      if (!Number.isFinite(value)) return undefined;
      const furthest = known.steps.at(-1) ?? Number.NEGATIVE_INFINITY;
      if (step < furthest) {
        const before = { steps: [...known.steps], values: [...known.values] };
        resumed = { at: step, before, same: 0, first: Number.NaN };
        others = { at: step, before, count: 0 };
      }
      remember(step, value);
      peak = Math.max(peak, value);
      differs(step, value);
      if (resumed === undefined) return undefined;
      const { before } = resumed;
      const [start = Number.NaN] = before.steps;
      const anew = rateAt(before, start + step - resumed.at);
      const due = rateAt(before, step);
      const near = numberOf(world, 'tolerance') * peak;
      const begins = Math.abs(value - anew) <= near && Math.abs(value - due) > 2 * near;
      // It begins anew at once, or not at all: later, a schedule may restart by itself.
      if (!begins) resumed = undefined;
      if (resumed === undefined) return 'seen';
      if (resumed.same++ === 0) resumed.first = value;
      if (resumed.same < numberOf(world, 'points')) return 'seen';
      return {
        kind: 'begins anew',
        sentence: `${at(series, resumed.at)}, where the run was resumed, is ${read(resumed.first)}, as at its first step ${start}; the same step had ${read(rateAt(before, resumed.at))} before. The schedule begins anew.`,
        step: resumed.at,
        value: resumed.first,
      };
    },
  };
}

const even = (_: number, index: number): boolean => index % 2 === 0;

/** Between two logged steps on the line from one to the other; behind the last, what it was. */
function rateAt({ steps, values }: Rates, step: number): number {
  const behind = steps.findIndex((each) => each >= step);
  if (behind < 0) return values.at(-1) ?? Number.NaN;
  if (behind === 0) return values[0] ?? Number.NaN;
  const [low, high] = [steps[behind - 1] as number, steps[behind] as number];
  const [from, to] = [values[behind - 1] as number, values[behind] as number];
  return from + ((to - from) * (step - low)) / (high - low);
}
