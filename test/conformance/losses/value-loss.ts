// Legal losses of a critic: those of TRL, verl and OpenRLHF, and of older PPO, declared and not; and one of its own formula.
import type { Args, Ok, Semantics } from '../../../src/index.ts';
import { cell, type Legal, legal, sum } from '../legal.ts';

type Critic = (args: Args<'value_loss'>) => Ok<'value_loss'>;
/** A token's error, and its slope by the value. */
type TokenError = (value: number, old: number, target: number) => readonly [number, number];
/** What each token of a row weighs, of rows that stand together. */
type Shares = (counts: readonly number[]) => (row: number) => number;

const squared: TokenError = (value, _, target) => [(value - target) ** 2, 2 * (value - target)];
/** PPO2 of OpenAI baselines. */
export const clipped =
  (width: number): TokenError =>
  (value, old, target) => {
    const held = old + Math.min(Math.max(value - old, -width), width);
    const [free, slope] = squared(value, old, target);
    const bound = (held - target) ** 2;
    return bound > free ? [bound, 0] : [free, slope];
  };
/** Of two errors that are equal, torch.max hands half of the slope to each, and the clipped one has none beyond the clip. */
const clippedInTorch =
  (width: number): TokenError =>
  (value, old, target) => {
    const [error, slope] = clipped(width)(value, old, target);
    const held = old + Math.min(Math.max(value - old, -width), width);
    return held !== value && (held - target) ** 2 === error ? [error, slope / 2] : [error, slope];
  };
/** torch.nn.functional.huber_loss with delta 1. */
const huber: TokenError = (value, _, target) => {
  const error = value - target;
  return Math.abs(error) <= 1 ? [error ** 2 / 2, error] : [Math.abs(error) - 0.5, Math.sign(error)];
};

const overTokens: Shares = (counts) => () => 1 / Math.max(1, sum(counts));
const overRows: Shares = (counts) => (row) => 1 / counts.length / Math.max(1, counts[row] ?? 0);
const overFilledRows: Shares = (counts) => (row) =>
  1 / Math.max(1, counts.filter((count) => count > 0).length) / Math.max(1, counts[row] ?? 0);
const sumsOverRows: Shares = (counts) => () => 1 / counts.length;

interface Choices {
  readonly error: TokenError;
  readonly shares?: Shares;
  readonly factor?: number;
  /** Each micro-batch, or rank where there are several, has a denominator of its own. */
  readonly local?: boolean;
  readonly round?: (value: number) => number;
  readonly weights?: boolean;
}

export function critic(choices: Choices): Critic {
  const {
    error,
    shares = overTokens,
    factor = 0.5,
    local = false,
    round = (x) => x,
    weights = true,
  } = choices;
  return (args) => {
    const counts = args.completion_mask.map(sum);
    const split = args.ranks !== undefined && args.ranks.length > 1 ? args.ranks : args.micro_batches;
    const parts = local ? split : [counts.map((_, row) => row)];
    let loss = 0;
    const loss_weights = args.completion_mask.map((row) => row.map(() => 0));
    for (const rows of parts) {
      const share = shares(rows.map((row) => counts[row] ?? 0));
      for (const [at, row] of rows.entries()) {
        args.completion_mask[row]?.forEach((on, t) => {
          if (on !== 1) return;
          const [value, slope] = error(
            cell(args.values, row, t),
            cell(args.old_values, row, t),
            cell(args.returns, row, t),
          );
          const weight = (factor * share(at)) / parts.length;
          loss = round(loss + round(weight * round(value)));
          (loss_weights[row] as number[])[t] = round(weight * round(slope));
        });
      }
    }
    return { loss, trained_tokens: sum(counts), ...(weights ? { loss_weights } : {}) };
  };
}

const PARTS = { value_loss: { micro_batches: true, ranks: true } } as const;
const completion = { alignment: 'predictor', span: 'completion' } as const;
const declared = (
  value_clip: number | null,
  value_loss_factor = 0.5,
  value_aggregation: NonNullable<Semantics['value_aggregation']> = 'token-mean',
): Semantics => ({ value_clip, value_loss_factor, value_aggregation });

export const criticLosses: readonly Legal[] = [
  legal(
    "a critic like TRL's",
    { value_loss: critic({ error: clippedInTorch(0.2) }) },
    { can: PARTS, semantics: declared(0.2) },
  ),
  legal(
    "a critic like TRL's, undeclared",
    { value_loss: critic({ error: clippedInTorch(0.2) }) },
    { can: PARTS },
  ),
  legal(
    "a critic like TRL's with its vf_coef, undeclared",
    { value_loss: critic({ error: clipped(0.2), factor: 0.05 }) },
    { can: PARTS },
  ),
  legal(
    "a critic like verl's",
    { value_loss: critic({ error: clipped(0.5), round: Math.fround }) },
    { can: PARTS, dtype: 'float32', layout: completion, semantics: declared(0.5) },
  ),
  legal(
    "a critic like verl's, undeclared, without weights",
    { value_loss: critic({ error: clipped(0.5), round: Math.fround, weights: false }) },
    { can: PARTS, dtype: 'float32', layout: completion },
  ),
  legal(
    "a critic like verl's, sums of rows, undeclared",
    { value_loss: critic({ error: clipped(0.5), shares: sumsOverRows }) },
    { can: PARTS },
  ),
  legal(
    "a critic like OpenRLHF's, over rows",
    { value_loss: critic({ error: clipped(0.2), shares: overRows }) },
    { can: PARTS, semantics: declared(0.2, 0.5, 'seq-mean-token-mean') },
  ),
  legal(
    "a critic like OpenRLHF's without a clip, undeclared",
    { value_loss: critic({ error: squared, shares: overFilledRows }) },
    { can: PARTS },
  ),
  legal(
    'plain squared errors of a critic, undeclared',
    { value_loss: critic({ error: squared, factor: 1 }) },
    { can: PARTS },
  ),
  legal(
    'a critic with denominators of each micro-batch and rank',
    { value_loss: critic({ error: clipped(0.2), local: true }) },
    { can: PARTS, semantics: { ...declared(0.2), loss_normalization: 'local' } },
  ),
  legal(
    'a critic with denominators of each micro-batch and rank, undeclared',
    { value_loss: critic({ error: clipped(0.2), local: true }) },
    { can: PARTS, is: { loss_normalization: 'local' } },
  ),
  legal(
    'a critic that is clipped far, in bfloat16',
    { value_loss: critic({ error: clipped(1), factor: 1 }) },
    { can: PARTS, dtype: 'bfloat16', semantics: declared(1, 1) },
  ),
  legal(
    'a Huber loss of a critic',
    { value_loss: critic({ error: huber, factor: 1 }) },
    { can: PARTS, is: { own_formulas: ['value_loss'] } },
  ),
  legal(
    'a Huber loss of a critic, declared',
    { value_loss: critic({ error: huber, factor: 1 }) },
    { can: PARTS, semantics: { own_formulas: ['value_loss'] } },
  ),
];
