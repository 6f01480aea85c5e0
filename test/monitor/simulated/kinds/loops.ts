// What loops of somebody's own log, and half precision: perplexities that overflow, steps that a loss scaler skips.
import { type Dice, make } from '../../rules/logs.ts';
import { type Column, called, type Simulation } from '../simulation.ts';
import { PLAIN, supervised } from './supervised.ts';

/** A perplexity that overflows in the beginning. */
export function plainLoop(by: Dice): Simulation {
  const run = supervised(
    by,
    { peak: [-4.5, -2.5] },
    {
      start: by.pick([3, 6, 10]),
      floor: by.pick([1.2, 2, 2.5]),
      quick: 0.7,
      soon: by.pick([3, 15]),
      noise: by.pick([0.02, 0.1]),
      stair: 0,
    },
  );
  const { loss = [] } = run.columns;
  const ppl: Column = loss.map((value = 0) => (value > 8 ? Number.POSITIVE_INFINITY : Math.exp(value)));
  return { plan: run.plan, columns: { ...run.columns, ppl }, naming: by.pick(PLAIN) };
}

/** A few rows only, as a run that has just begun. */
export function short(by: Dice): Simulation {
  return supervised(
    by,
    { peak: [-5, -3], rows: [1, 6] },
    {
      start: by.pick([2, 10]),
      floor: 1,
      quick: 0.5,
      soon: 5,
      noise: 0.2,
      stair: 0,
    },
  );
}

/** Under a loss scaler, which skips the first steps while it finds its scale, and one now and then; it is declared. */
export function halfPrecision(by: Dice): Simulation {
  const run = half(by);
  const { rows, peak } = run.plan;
  const skipped = by.whole(0, Math.min(12, rows >> 1));
  return {
    ...run,
    columns: {
      ...run.columns,
      grad_norm: overflown(run.columns.grad_norm, (row) =>
        row < skipped || by.uniform() < 0.02 ? by.pick([Number.POSITIVE_INFINITY, Number.NaN]) : undefined,
      ),
      learning_rate: make(rows, (row) => (row < skipped ? 0 : peak)),
    },
    declared: { fp16: true },
  };
}

/**
 * The same of which nothing says that it is fp16, as where `trainer_state.json` is all there is. Its beginning tells, or the
 * schedule, which stands still at a skipped step; or else its norms overflow to infinity and come back.
 */
export function undeclaredScaler(by: Dice): Simulation {
  const run = half(by);
  const { rows, peak } = run.plan;
  const told = by.pick(['beginning', 'schedule', 'infinity'] as const);
  const first = told === 'beginning' ? by.whole(1, Math.min(12, rows >> 1)) : 0;
  let before = 0;
  const norms = overflown(run.columns.grad_norm, (row) => {
    // A scale that was just halved is seldom too large for three steps in a row.
    const skipped = row < first || (before < 2 && row > 2 && by.uniform() < 0.03);
    before = skipped ? before + 1 : 0;
    if (!skipped) return undefined;
    return told === 'infinity' || first > 2
      ? Number.POSITIVE_INFINITY
      : by.pick([Number.NaN, Number.POSITIVE_INFINITY]);
  });
  let done = 0;
  const rates = norms.map((norm = 0) => {
    if (told !== 'schedule') return peak;
    if (Number.isFinite(norm)) done++;
    return peak * (1 - done / rows);
  });
  return { ...run, columns: { ...run.columns, grad_norm: norms, learning_rate: rates }, declared: {} };
}

// --- helpers ---

const half = (by: Dice): Simulation => ({
  ...supervised(
    by,
    { peak: [-5, -3.5], rows: [30, 120], every: [1] },
    {
      start: by.pick([1.5, 3]),
      floor: by.pick([0.5, 1.2]),
      quick: 0.5,
      soon: by.pick([5, 20]),
      noise: by.pick([0.03, 0.1]),
      stair: 0.1,
    },
  ),
  naming: called({}),
});

const overflown = (norms: Column = [], odd: (row: number) => number | undefined): Column =>
  norms.map((norm, row) => odd(row) ?? norm);
