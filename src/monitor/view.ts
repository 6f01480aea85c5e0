// What a screen or a page shows of a history: run by run, the series with a role, how far they are, and what is wrong with them.

import type { CurvePoint } from './history/curve.ts';
import type { History, RuleState, RunHistory } from './history/history.ts';
import type { Series } from './series.ts';

export interface SeriesView {
  readonly series: Series;
  readonly count: number;
  readonly step: number;
  readonly value: number;
  readonly lowest: number;
  readonly highest: number;
  /** Thinned; none where there were too many series to keep them all. */
  readonly points: () => readonly CurvePoint[];
  /** Rules that it breaks. */
  readonly broken: readonly string[];
  /** Step of the first violation that names one. */
  readonly brokenAt?: number;
}

export interface RunView {
  readonly name: string;
  /** With a role, or with something wrong, in the order in which they were logged. */
  readonly series: readonly SeriesView[];
  /** All others. */
  readonly others: readonly SeriesView[];
  readonly samples: number;
  readonly steps: readonly [number, number] | undefined;
}

export function viewsOf(history: History): readonly RunView[] {
  return history.runs().map(viewOf);
}

/** Rules and how they stand in all runs, for a view that is looked at while they are judged. */
export interface Standing {
  readonly broken: readonly RuleState[];
  /** Rules that judged something somewhere and are broken nowhere. */
  readonly holding: number;
  /** Rules that have judged nothing so far. */
  readonly waiting: number;
}

export function standingOf(history: History): Standing {
  const rules = new Map<string, { broken: boolean; judged: boolean }>();
  const broken: RuleState[] = [];
  for (const { rules: states } of history.runs()) {
    for (const state of states) {
      const known = rules.get(state.rule.id) ?? { broken: false, judged: false };
      rules.set(state.rule.id, known);
      if (state.watch.judged() > 0) known.judged = true;
      if (state.violations.length === 0) continue;
      known.broken = true;
      broken.push(state);
    }
  }
  const all = [...rules.values()];
  return {
    broken,
    holding: all.filter((rule) => rule.judged && !rule.broken).length,
    waiting: all.filter((rule) => !rule.judged && !rule.broken).length,
  };
}

export function viewOf(run: RunHistory): RunView {
  const broken = new Map<Series, { rules: string[]; step: number }>();
  for (const { rule, violations } of run.rules) {
    for (const { series, step = Number.POSITIVE_INFINITY } of violations) {
      if (series === undefined) continue;
      const known = broken.get(series) ?? { rules: [], step: Number.POSITIVE_INFINITY };
      broken.set(series, known);
      if (!known.rules.includes(rule.id)) known.rules.push(rule.id);
      known.step = Math.min(known.step, step);
    }
  }
  const views = run.series.map((series): SeriesView => {
    const { curve, ...state } = run.stateOf(series);
    const trouble = broken.get(series);
    return {
      series,
      ...state,
      points: () => curve?.points() ?? [],
      broken: trouble?.rules ?? [],
      ...(trouble !== undefined && Number.isFinite(trouble.step) ? { brokenAt: trouble.step } : {}),
    };
  });
  const told = ({ series, broken: rules }: SeriesView): boolean =>
    series.role !== undefined || rules.length > 0;
  return {
    name: run.name,
    series: views.filter(told),
    others: views.filter((view) => !told(view)),
    samples: run.samples,
    steps: run.steps,
  };
}
