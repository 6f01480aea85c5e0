// The KL term in the weights of one completion: w = f (A + beta s(d)), with d = ref - logprob, s the slope of the
// estimator with its sign turned, f the aggregation's factor. Where d is known, a line through the weights tells A f from
// beta f, without knowing either.
import {
  describeKl,
  type KlVariant,
  klTerm,
  klVariants,
  type Ledger,
  type LedgerRow,
  type Line,
  lineThrough,
  type RowIds,
  realIds,
  type Semantics,
  sameIds,
  straightThrough,
  type Target,
} from '../../../src/index.ts';

/** Fewer points than this lie on some line by chance, or nearly. */
export const FEWEST_POINTS = 4;
/** Temperatures this close to 1 are 1: log-probabilities are then those of the bare logits, which is what the trace has. */
const NEAR_ONE = 1e-3;

export type Known = { readonly d: readonly number[] } | { readonly unknown: string };

/** d = ref - logprob at each of these targets, (n,), or why it is not known. */
export function referenceGaps(ledger: Ledger, row: LedgerRow, targets: readonly Target[]): Known {
  const ids = realIds(row);
  const twin = ledger.scored.find(
    (each) =>
      each.by === 'reference' &&
      // A reference may follow the policy from step to step.
      each.step === row.step &&
      each.logprobs !== undefined &&
      sameIds(realIds(each), ids),
  );
  if (twin === undefined) return { unknown: 'no log-probabilities of a reference were seen for this row' };
  const d = gapsTo(twin, row, targets);
  if (d.some(Number.isNaN)) return { unknown: 'the log-probabilities of this row are not all known' };
  if (!d.every(isNoGap) && targets.some((target) => !atTemperatureOne(target)))
    return { unknown: 'scores at another temperature than 1 are not in the trace' };
  return { d };
}

/** ref - logprob at each of these targets, (n,), of this row of the reference, so many columns on. NaN: not known. */
export function gapsTo(
  reference: RowIds,
  row: LedgerRow,
  targets: readonly Target[],
  columns?: number,
): number[] {
  const shift = columns ?? reference.real.indexOf(true) - row.real.indexOf(true);
  return targets.map(
    ({ column }) =>
      (reference.logprobs?.[column + shift] ?? Number.NaN) - (row.logprobs?.[column] ?? Number.NaN),
  );
}

/** The same model scores a row a little differently in a batch of another shape: of float32 logits, a few units of the last digit. */
const SAME_SCORE = 1e-5;
export const isNoGap = (gap: number): boolean => Math.abs(gap) <= SAME_SCORE;

const atTemperatureOne = ({ trained: { temperature } }: Target): boolean =>
  temperature === undefined || Math.abs(temperature - 1) <= NEAR_ONE;

/** The line that one estimator gives, and which one it was. */
export interface KlFit extends Line {
  readonly variant: KlVariant;
  readonly name: string;
}

/** One line for each estimator that is declared, or known where none is; the one that fits best first. */
export function klFits(semantics: Semantics, d: readonly number[], weights: readonly number[]): KlFit[] {
  // What is estimated of a whole row has one slope for all of its tokens, and no line through them.
  if (semantics.kl_level === 'sequence') return [];
  const known = klVariants(semantics);
  return [...known, ...(semantics.loss_is_descended === false ? straightThrough(known) : [])]
    .flatMap((variant) => {
      const line = lineThrough(
        d.map((gap) => -klTerm(0, gap, 0, variant).slope),
        weights,
      );
      return line === undefined ? [] : [{ ...line, variant, name: describeKl(variant) }];
    })
    .sort((a, b) => a.residual - b.residual);
}
