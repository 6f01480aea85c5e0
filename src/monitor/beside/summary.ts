// A run that was read, in a few numbers.

import type { Course } from '../history/curve.ts';
import type { RunHistory } from '../history/history.ts';
import type { Series } from '../series.ts';
import { median, noiseOf } from '../statistics.ts';
import { type BaselineRun, edgeOf, isHigherBetter, type SeriesSummary } from './beside.ts';

/** Series with a role of which anything finite was logged. */
export function summaryOf(run: RunHistory): BaselineRun {
  return {
    name: run.name,
    declared: (name) => run.declared.get(name),
    series: run.series.flatMap((series) => {
      const { curve, highest } = run.stateOf(series);
      const course = series.role === undefined ? undefined : curve?.course();
      return course === undefined || course.points === 0 ? [] : [summed(series, course, highest)];
    }),
  };
}

// --- helpers ---

function summed(series: Series, course: Course, peak: number): SeriesSummary {
  const { name, role, part, evaluation } = series;
  const { means, steps } = course;
  const edge = edgeOf(means.length);
  const better = isHigherBetter(role) ? (a: number, b: number) => a > b : (a: number, b: number) => a < b;
  let best = 0;
  for (const [at, mean] of means.entries()) if (better(mean, means[best] as number)) best = at;
  return {
    name,
    ...(role === undefined ? {} : { role }),
    part,
    evaluation,
    points: course.points,
    start: median(means.slice(0, Math.min(edge, FIRST))),
    end: median(means.slice(-edge)),
    best: means[best] as number,
    bestStep: steps[best] as number,
    median: median(means),
    peak,
    noise: noiseOf(means),
    course,
  };
}

/** A loss may fall within a few steps: its level at the start is that of its very first values. */
const FIRST = 5;
