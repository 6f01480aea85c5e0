// The critic's loss of PPO: squared errors of its values, clipped around the values at sampling as in PPO2 of OpenAI
// baselines (Engstrom et al. 2020, "Implementation Matters in Deep Policy Gradients", section 3), or not clipped. No
// normalisation of returns, no Huber loss.
import type { Matrix, Semantics, ValueAggregation } from '../../vocabulary.ts';
import { at, cell } from '../shape.ts';
import { selected, tokenFactors } from './aggregation.ts';
import { meanOfParts, pick, type TokenLoss } from './parts.ts';

/** Matrices are (B, T), token-aligned: what stands at a token speaks of the state before it. */
export interface ValueLossInput {
  readonly values: Matrix;
  readonly old_values: Matrix;
  readonly returns: Matrix;
  readonly mask: Matrix;
}

export interface ValueLossSettings {
  readonly aggregation: ValueAggregation;
  /** Whether rows without any masked-in token count in the number of rows (default: they do). */
  readonly emptyRows?: 'count' | 'skip';
  /** What a squared error is multiplied by. */
  readonly factor: number;
  /** A value is clipped to this far from its old value; null: not at all, and old values are not read. */
  readonly clip: number | null;
}

/** Weights are dL/dvalues. */
export type ValueLoss = TokenLoss;

/**
 * L_t = factor max((v - R)^2, (clip(v) - R)^2) with clip(v) = old + min(max(v - old, -c), c), aggregated. The larger error
 * is kept: a value that has moved beyond the clip towards its return has no slope, one that has moved away has all of it.
 */
export function valueLoss(input: ValueLossInput, settings: ValueLossSettings): ValueLoss {
  const { aggregation, emptyRows = 'count' } = settings;
  const factors = tokenFactors(input.mask, { aggregation, norm: 1, emptyRows });
  let loss = 0;
  const weights = input.mask.map((row, b) =>
    row.map((m, t) => {
      if (!selected(m)) return 0;
      const { error, slope } = squaredError(
        cell(input.values, b, t),
        cell(input.old_values, b, t),
        cell(input.returns, b, t),
        settings.clip,
      );
      const factor = settings.factor * at(at(factors, b), t);
      loss += factor * error;
      return factor * slope + 0;
    }),
  );
  return { loss, weights, tokens: input.mask.flat().filter(selected).length };
}

/** What a trainer with `loss_normalization: local` arrives at: each micro-batch (row indices) is aggregated alone. */
export function localValueLoss(
  input: ValueLossInput,
  settings: ValueLossSettings,
  microBatches: readonly (readonly number[])[],
): ValueLoss {
  return meanOfParts(input.mask, microBatches, (rows) => valueLoss(valueRows(input, rows), settings));
}

/** The input restricted to some rows, in the order given. */
export function valueRows(input: ValueLossInput, rows: readonly number[]): ValueLossInput {
  return {
    values: pick(input.values, rows),
    old_values: pick(input.old_values, rows),
    returns: pick(input.returns, rows),
    mask: pick(input.mask, rows),
  };
}

/** The larger of the two squared errors of one token, and its slope by the value. */
function squaredError(
  value: number,
  old: number,
  target: number,
  clip: number | null,
): { error: number; slope: number } {
  const free = { error: (value - target) ** 2, slope: 2 * (value - target) };
  if (clip === null) return free;
  const held = clipped(value, old, clip);
  return (held - target) ** 2 > free.error ? { error: (held - target) ** 2, slope: 0 } : free;
}

const clipped = (value: number, old: number, clip: number): number =>
  old + Math.min(Math.max(value - old, -clip), clip);

/**
 * The two squared errors of a token are equal to `slack`, and one of them has no slope: the value is at the edge of its
 * clip, or as far beyond its return as the edge is before it. Any slope between none and all of it is then right.
 */
export function atValueCorner(
  { values, old_values, returns }: ValueLossInput,
  clip: number | null,
  [b, t]: readonly [number, number],
  slack: number,
): boolean {
  if (clip === null) return false;
  const [value, old, target] = [cell(values, b, t), cell(old_values, b, t), cell(returns, b, t)];
  const free = (value - target) ** 2;
  const held = (clipped(value, old, clip) - target) ** 2;
  return Math.abs(value - old) >= clip - slack && Math.abs(free - held) <= slack * Math.max(1, free);
}

/**
 * The settings that agree with what is declared; none where a piece is missing. Whether a row without tokens counts in a mean over
 * rows is nobody's to declare, so both are there.
 */
export function valueLossVariants({
  value_aggregation: aggregation,
  value_loss_factor: factor,
  value_clip: clip,
}: Semantics): ValueLossSettings[] {
  if (aggregation === undefined || factor === undefined || clip === undefined) return [];
  const rows = aggregation === 'token-mean' ? (['count'] as const) : (['count', 'skip'] as const);
  return rows.map((emptyRows) => ({ aggregation, emptyRows, factor, clip }));
}

/** "token-mean of 0.5 times squared errors, values clipped to 0.2 from their old ones". */
export function describeValueLoss({ aggregation, emptyRows, factor, clip }: ValueLossSettings): string {
  const rows = emptyRows === 'skip' ? ', rows without tokens not counted' : '';
  const round = (x: number): number => Number(x.toPrecision(6));
  const way = clip === null ? 'not clipped' : `clipped to ${round(clip)} from their old ones`;
  return `${aggregation} of ${round(factor)} times squared errors${rows}, values ${way}`;
}
