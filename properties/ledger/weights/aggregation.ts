// Weights against the declared aggregation: over one optimiser step with all its micro-batches and ranks, what each token,
// each row and each group weighs.
import {
  commonOf,
  type Ledger,
  type LedgerFinding,
  type LedgerProperty,
  type LedgerRow,
  type LossAggregation,
  type MicroBatch,
  many,
  type Rough,
  scaled,
  show,
  targetsOf,
  weightsOf,
} from '../../../src/index.ts';
import { NOTHING, type Part } from '../judged-part.ts';
import { type Found, judgementOf, placeOf, targetStrips } from '../words.ts';
import { ofGroups } from './balance.ts';
import { type DeclaredAggregation, policyAggregation, supervisedAggregation } from './declared.ts';
import { isParted, type LocalMeans, localMeans, sentenceOf } from './denominator.ts';
import { precisionOf } from './precision.ts';
import { OWN_LOSS, ofSteps } from './sums.ts';
import { taughtBatches } from './supervised.ts';

export const followsAggregation: LedgerProperty = {
  id: 'trace/weights-follow-the-aggregation',
  title: 'Over an optimiser step, the weights of tokens and rows are those of the declared aggregation',
  stage: 'trace',
  level: 'must',
  why: 'A loss that is divided otherwise than its name says trains long or short answers more than anybody decided.',
  catches: ['LOSS-03', 'LOSS-04', 'LOSS-08', 'LOSS-11', 'LOSS-01'],
  needs: ({ settings }) =>
    supervisedAggregation(settings) === undefined && policyAggregation(settings) === undefined
      ? 'nothing declares how token losses become one number: a known trainer of TRL does, or --semantics \'{"sft_aggregation":"token-mean"}\' for supervised rows, "loss_aggregation" for a policy loss'
      : undefined,
  judge: (ledger) => {
    const sums = ofSteps(ledger);
    const parts = [ofRows(ledger), sums, ofGroups(ledger), ofDenominators(ledger)];
    const judgement = judgementOf(
      parts.reduce((sum, { judged }) => sum + judged, 0),
      parts.flatMap(({ aside }) => aside),
      parts.flatMap(({ found }) => found),
    );
    return sums.notices.length === 0 ? judgement : { ...judgement, notices: sums.notices };
  },
};

/** A policy's mean over the step, declared, that is one over each micro-batch. */
function ofDenominators(ledger: Ledger): Part {
  const declared = policyAggregation(ledger.settings);
  if (declared?.aggregation !== 'token-mean' || declared.local) return NOTHING;
  const local = localMeans(ledger);
  // Groups that lie in several micro-batches have been judged one by one.
  if (local === undefined || isParted(local.first)) return NOTHING;
  return { judged: 1, aside: [], found: [perBatch(ledger, local, declared)] };
}

function perBatch(ledger: Ledger, local: LocalMeans, declared: DeclaredAggregation): Found {
  const [member] = local.first.members;
  return {
    harm: local.groups.length,
    tell: () => ({
      kind: 'denominator',
      sentence: sentenceOf(ledger, local),
      ...targetStrips(ledger, member?.row),
      note: `${declared.from} declares a token-mean. Divide the sum of each micro-batch by the tokens of the whole step. Where a mean of means is meant, --semantics '{"loss_normalization":"local"}' says so.`,
      given: local.groups.map(({ step, members }) => ({
        step,
        weights: members.map(({ weight }) => weight),
        micro_batch_tokens: members.map(({ batchTokens }) => batchTokens),
      })),
    }),
  };
}

/** What of a weight is the same for all rows of a micro-batch, where this is how they are aggregated. */
function shareOf(aggregation: LossAggregation, row: LedgerRow): number {
  return aggregation === 'seq-mean-token-mean' ? targetsOf(row).length : 1;
}

const shares = (aggregation: LossAggregation, { rows }: MicroBatch): Rough[] =>
  rows.flatMap((row) => {
    const factor = shareOf(aggregation, row);
    return weightsOf(targetsOf(row)).map((weight) => scaled(weight, factor));
  });

function ofRows(ledger: Ledger): Part {
  const declared = supervisedAggregation(ledger.settings);
  if (declared === undefined) return NOTHING;
  const aside: string[] = [];
  let judged = 0;
  const found: Found[] = [];
  for (const batch of taughtBatches(ledger.rows)) {
    const value = commonOf(shares(declared.aggregation, batch));
    if (value !== undefined && value > 0) judged++;
    else if (batch.weights.some((weight) => weight.value <= 0)) aside.push('some weights are not above 0');
    else if (!declared.explicit) aside.push(OWN_LOSS);
    else {
      judged++;
      found.push(misshared(ledger, batch, declared));
    }
  }
  return { judged, aside, found };
}

function misshared(ledger: Ledger, batch: MicroBatch, declared: DeclaredAggregation): Found {
  const other = OTHERS.find(
    (each) => each !== declared.aggregation && (commonOf(shares(each, batch)) ?? -1) > 0,
  );
  const sum = batch.weights.reduce((all, { value }) => all + value, 0);
  const whole = batch.rows.reduce(
    (all, row) => all + targetsOf(row).length / shareOf(declared.aggregation, row),
    0,
  );
  const rows = batch.rows.flatMap((row) => {
    const [weight] = weightsOf(targetsOf(row));
    if (weight === undefined) return [];
    return [{ row, weight, expected: sum / whole / shareOf(declared.aggregation, row) }];
  });
  const worst = rows.toSorted(
    (a, b) => Math.abs(b.weight.value / b.expected - 1) - Math.abs(a.weight.value / a.expected - 1),
  );
  const [first] = worst;
  return {
    harm: batch.count,
    tell: (): LedgerFinding => ({
      kind: 'share',
      sentence: `A token of ${first === undefined ? 'a row' : placeOf(ledger, first.row)} weighs ${show(first?.weight.value)}; as a ${declared.aggregation} of its micro-batch it would weigh ${show(first?.expected)}.${other === undefined ? '' : ` The weights are those of a ${other}.`}`,
      numbers: worst.map(({ row, weight, expected }) => ({
        where: `weight of a token of row ${row.row} (${many(targetsOf(row).length, 'token')})`,
        expected,
        observed: weight.value,
        allowed: weight.relative * expected,
      })),
      ...targetStrips(ledger, first?.row),
      note: `${precisionOf(first?.row.dtype ?? 'float32')} ${declared.from} declares a ${declared.aggregation}.`,
      given: {
        step: batch.step,
        rank: batch.rank,
        forward: batch.forward,
        rows: rows.map(({ row, weight }) => ({
          row: row.row,
          tokens: targetsOf(row).length,
          weight: weight.value,
        })),
      },
    }),
  };
}

const OTHERS: readonly LossAggregation[] = ['token-mean', 'seq-mean-token-mean'];
