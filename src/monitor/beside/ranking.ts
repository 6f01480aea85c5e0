// Runs beside each other, a row each: how far they came, and what is wrong with them. The best stands first, by what all of
// them log: the reward at the end, else the best evaluation, else the loss at the end; what no run is without counts.

import type { RunHistory } from '../history/history.ts';
import type { BaselineRun, SeriesSummary } from './beside.ts';
import { summaryOf } from './summary.ts';

export interface RankedRun {
  readonly name: string;
  readonly baseline: boolean;
  /** The last step. */
  readonly steps: number | undefined;
  /** Of the main loss. */
  readonly start: number | undefined;
  readonly best: number | undefined;
  readonly end: number | undefined;
  /** The best of an evaluation loss. */
  readonly evaluation: number | undefined;
  /** The median. */
  readonly gradNorm: number | undefined;
  /** At the end. */
  readonly reward: number | undefined;
  /** Rules that it breaks. */
  readonly findings: number;
}

/** Runs without any loss, reward or gradient norm are left out: nothing ranks them. None for fewer than two. */
export function rankingOf(
  runs: readonly RunHistory[],
  baselines: readonly RunHistory[] = [],
): readonly RankedRun[] {
  const rows = [
    ...runs.map((run) => rankedRun(run, false)),
    // One that is among the runs as well is shown as what it is.
    ...baselines.map((run) => rankedRun(run, true)),
  ].filter(({ end, reward, gradNorm, evaluation }) =>
    [end, reward, gradNorm, evaluation].some((each) => each !== undefined),
  );
  const names = new Set(rows.filter(({ baseline }) => baseline).map(({ name }) => name));
  const told = rows.filter(({ name, baseline }) => baseline || !names.has(name));
  if (told.length < 2) return [];
  const measure = MEASURES.find(({ of }) => told.every((row) => of(row) !== undefined));
  if (measure === undefined) return told;
  const { of, higher } = measure;
  return told.toSorted((a, b) => ((of(a) ?? 0) - (of(b) ?? 0)) * (higher ? -1 : 1));
}

/** What the rows are ordered by, in words; undefined where no measure is logged by all. */
export function rankedBy(rows: readonly RankedRun[]): string | undefined {
  return MEASURES.find(({ of }) => rows.every((row) => of(row) !== undefined))?.words;
}

// --- helpers ---

interface Measure {
  readonly of: (row: RankedRun) => number | undefined;
  readonly higher: boolean;
  readonly words: string;
}

const MEASURES: readonly Measure[] = [
  { of: ({ reward }) => reward, higher: true, words: 'the reward at the end' },
  { of: ({ evaluation }) => evaluation, higher: false, words: 'the best evaluation loss' },
  { of: ({ end }) => end, higher: false, words: 'the loss at the end' },
];

function rankedRun(run: RunHistory, baseline: boolean): RankedRun {
  const summary = summaryOf(run);
  const loss = find(summary, ({ role, part, evaluation }) => !evaluation && part === '' && isLoss(role));
  return {
    name: run.name,
    baseline,
    steps: run.steps?.[1],
    start: loss?.start,
    best: loss?.best,
    end: loss?.end,
    evaluation: find(summary, ({ role, evaluation }) => evaluation && isLoss(role))?.best,
    gradNorm: find(
      summary,
      ({ role, part, evaluation }) => role === 'grad_norm' && part === '' && !evaluation,
    )?.median,
    reward: find(summary, ({ role, evaluation }) => role === 'reward' && !evaluation)?.end,
    findings: run.rules.filter(({ violations }) => violations.length > 0).length,
  };
}

function isLoss(role: SeriesSummary['role']): boolean {
  return role === 'loss' || role === 'sft_loss' || role === 'policy_loss';
}

function find({ series }: BaselineRun, holds: (series: SeriesSummary) => boolean): SeriesSummary | undefined {
  return series.find(holds);
}
