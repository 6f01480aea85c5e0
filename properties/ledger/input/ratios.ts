// Old log-probabilities that are not those of the policy that sampled, read off the weights: A times the ratio, token by token.
import {
  commonOf,
  type Ledger,
  type LedgerNotice,
  type LedgerRow,
  many,
  type RowIds,
  realIds,
  sameIds,
  scaled,
  type Target,
  targetsOf,
  weightsOf,
} from '../../../src/index.ts';
import { isSampled } from '../tokens/trained.ts';
import { withoutKl } from '../weights/without-kl.ts';
import { placeOf } from '../words.ts';
import { misplacedNotices } from './misplaced.ts';
import { trainsPolicy } from './policy.ts';

export function ratioNotices(ledger: Ledger): readonly LedgerNotice[] {
  if (!trainsPolicy(ledger)) return [];
  const rows = ledger.rows.filter((row) => row.reached && isSampled(row) && row.dropout === undefined);
  return [...behind(ledger, rows), ...renewed(ledger, rows), ...misplaced(ledger, rows)];
}

// --- helpers ---

/** Rows that were just sampled by the model that is trained, whose weights hold a ratio to another one. */
function behind(ledger: Ledger, rows: readonly LedgerRow[]): LedgerNotice[] {
  const found = rows.flatMap((row) => {
    if (!isFresh(ledger, row)) return [];
    const targets = targetsOf(row);
    const other = ledger.scored.find(
      (each) =>
        each.by === 'reference' &&
        each.step === row.step &&
        sameIds(realIds(each), realIds(row)) &&
        holdsRatio(targets, gapsOf(targets, row, each)),
    );
    return other === undefined ? [] : [{ row, other }];
  });
  const [first] = found;
  // One row may be so by chance.
  if (first === undefined || found.length < 2) return [];
  return [
    {
      sentence: `The tokens of ${many(found.length, 'completion')} weigh an advantage times the ratio to model ${first.other.model} (from ${placeOf(ledger, first.row)}), and model ${first.row.model}, which is trained, sampled them in the same step: the first ratio is not 1. The old log-probabilities come from a copy that does not follow the policy, or follows it too late.`,
      answers: [],
      asked: true,
    },
  ];
}

/** It was sampled in the step by the model that is trained. */
function isFresh({ generations }: Ledger, row: LedgerRow): boolean {
  const of = row.spans.origin.kind === 'generation' ? row.spans.origin.generations : [];
  return of.map((at) => generations[at]).every((each) => each?.step === row.step && each.model === row.model);
}

/** Rows that were just sampled, whose weights hold a ratio to scores that are not their own. */
const misplaced = (ledger: Ledger, rows: readonly LedgerRow[]): LedgerNotice[] =>
  misplacedNotices(ledger, rows, {
    isOpen: (row) => isFresh(ledger, row) && !isEven(targetsOf(row)),
    targetsOf,
    mayBe: () => true,
    explains: (row, scored, columns, targets) => holdsRatio(targets, gapsOf(targets, row, scored, columns)),
    sentence: (where, says) =>
      `The tokens of ${where} weigh an advantage times the ratio to scores that are not their own: ${says}. They were sampled in the same step, so that the first ratio is 1. Order, pad and shift the old log-probabilities as those of the policy.`,
  });

/** Rows that are trained again after a step, as if it had not been: their ratios are 1 once more, or they have none. */
function renewed(ledger: Ledger, rows: readonly LedgerRow[]): LedgerNotice[] {
  const found = rows.filter((row) => {
    const targets = targetsOf(row);
    return (
      hasOneWeight(ledger, row) &&
      rows.some(
        (each) =>
          each.step < row.step &&
          each.model === row.model &&
          sameIds(realIds(each), realIds(row)) &&
          hasOneWeight(ledger, each) &&
          movesOf(targets, row, each).some((gap) => Math.abs(gap) > MOVED),
      )
    );
  });
  const [first] = found;
  if (first === undefined || found.length < 2) return [];
  const anew = found.every((row) => isScoredAnew(ledger, row));
  const why = anew
    ? 'they were scored anew after that step. Old log-probabilities are those from before the first step; without them nothing is clipped.'
    : 'no ratio to the policy that sampled them is in their weights. Old log-probabilities are those from before the first step, and not those of the same pass without a gradient (`logp.detach()`).';
  return [
    {
      sentence: `${many(found.length, 'completion')} (from ${placeOf(ledger, first)}) are trained again after a step, with ${anew ? 'ratios of 1' : 'one weight for all of their tokens'} although their log-probabilities have moved: ${why}`,
      answers: [],
      asked: true,
    },
  ];
}

/** Once a KL term is taken off. */
const hasOneWeight = (ledger: Ledger, row: LedgerRow): boolean => {
  const targets = targetsOf(row);
  return targets.length >= LEAST && (isEven(targets) || withoutKl(ledger, row, targets) !== undefined);
};

function isScoredAnew(ledger: Ledger, row: LedgerRow): boolean {
  const targets = targetsOf(row);
  return ledger.scored.some(
    (each) =>
      each.by === 'policy' &&
      each.model === row.model &&
      each.step === row.step &&
      sameIds(realIds(each), realIds(row)) &&
      movesOf(targets, row, each).every((gap) => Math.abs(gap) < SAME),
  );
}

/** Nats: rounding of two passes, and what a step does. */
const SAME = 1e-3;
const MOVED = 0.02;
const LEAST = 4;
/** Temperatures this near to 1 are 1: log-probabilities of a ledger are those of the bare logits. */
const NEAR_ONE = 1e-3;

/** What the row scores above the other one, at each target, (n,). NaN: not known. */
function gapsOf(targets: readonly Target[], row: LedgerRow, other: RowIds, columns?: number): number[] {
  const shift = columns ?? other.real.indexOf(true) - row.real.indexOf(true);
  return targets.map(({ column, trained: { temperature = 1 } }) =>
    Math.abs(temperature - 1) > NEAR_ONE
      ? Number.NaN
      : (row.logprobs?.[column] ?? Number.NaN) - (other.logprobs?.[column + shift] ?? Number.NaN),
  );
}

/** The same without temperature: what the bare logits say, whatever the loss makes of them. */
function movesOf(targets: readonly Target[], row: LedgerRow, other: RowIds): number[] {
  const shift = other.real.indexOf(true) - row.real.indexOf(true);
  return targets.map(
    ({ column }) => (row.logprobs?.[column] ?? Number.NaN) - (other.logprobs?.[column + shift] ?? Number.NaN),
  );
}

const isEven = (targets: readonly Target[]): boolean =>
  targets.length >= LEAST && commonOf(weightsOf(targets)) !== undefined;

/** The weights differ as these ratios do, and by nothing else. */
function holdsRatio(targets: readonly Target[], gaps: readonly number[]): boolean {
  const weights = weightsOf(targets);
  if (weights.length < Math.max(LEAST, targets.length) || commonOf(weights) !== undefined) return false;
  return (
    gaps.some((gap) => Math.abs(gap) > MOVED) &&
    commonOf(weights.map((weight, at) => scaled(weight, Math.exp(-(gaps[at] ?? Number.NaN))))) !== undefined
  );
}
