// How per-token losses become one number, and whether denominators count the batch or each micro-batch alone.
// Everything is on policy, where the slope of a token is its factor times its row's advantage, and nothing else.

import fc from 'fast-check';
import { type LossSettings, localPolicyLoss, type PolicyLoss, policyLoss } from '../../../reference/index.ts';
import { CHOICES, type Semantics } from '../../../vocabulary.ts';
import { bandOf } from '../../numbers.ts';
import type { World } from '../../property.ts';
import { layTracks } from '../../rows/tracks.ts';
import { draw, misfitOf, type Probe, settled, type Variant } from '../probe.ts';
import { effectPairs, onPolicy, policyEffect, unitFactor } from './policy.ts';

/** Completion tokens, advantage and micro-batch of each row. */
interface Shape {
  readonly lengths: readonly number[];
  readonly advantages: readonly number[];
  readonly parts: readonly number[];
}

interface AggregationWay extends Variant {
  readonly settings: LossSettings;
  /** Weight of a token alone: what rounding is measured against. */
  readonly unit: number;
}

export const lossAggregation: Probe<Shape> = {
  id: 'loss_aggregation',
  items: ['loss_aggregation', 'loss_norm'],
  ops: ['loss'],
  variants: async (subject) => {
    const declared = subject.semantics.loss_norm;
    const blur = Math.max(SOLVED, bandOf(subject).relative);
    const unit = await unitFactor(subject);
    const norm = settled(1 / unit, blur, declared);
    const norms = [...new Set([norm, ...(declared === undefined ? [] : [declared])])];
    return CHOICES.loss_aggregation.values.flatMap((aggregation) =>
      (aggregation === 'token-sum-norm' ? norms : [1]).flatMap((value): AggregationWay[] => {
        const constant = aggregation === 'token-sum-norm';
        const settings = settingsOf({ loss_aggregation: aggregation, loss_norm: value });
        return normsPer(settings).map(({ normPer }) => ({
          name: constant
            ? `${aggregation} (divided by ${normPer === 'row' ? 'rows times ' : ''}${value})`
            : aggregation,
          items: { loss_aggregation: aggregation, ...(constant ? { loss_norm: value } : {}) },
          settings: { ...settings, normPer },
          unit,
        }));
      }),
    );
  },
  cases: (_, drawn) => [...SHAPES, ...draw(shape(), drawn)],
  async fits(subject, given, variants) {
    const rows = onPolicy(given.lengths, given.advantages);
    const observed = await policyEffect(subject, rows);
    const input = inputOf(given);
    const band = bandOf(subject, given.lengths.length);
    return (variants as readonly AggregationWay[]).map(({ settings, unit }) =>
      misfitOf(
        effectPairs(observed, policyLoss(input, settings)),
        (want) => unit * band.allowed(want / unit),
      ),
    );
  },
};

interface NormalizationWay extends Variant {
  readonly unit: number;
  readonly expect: (given: Shape) => PolicyLoss;
}

export const lossNormalization: Probe<Shape> = {
  id: 'loss_normalization',
  items: ['loss_normalization'],
  ops: ['loss'],
  lack: (world) => lackOfParts('loss', world),
  variants: async ({ semantics }) => {
    const settings = settingsOf(semantics);
    const unit = semantics.loss_aggregation === 'token-sum-norm' ? 1 / settings.norm : 1;
    return normsPer(settings).flatMap((way): NormalizationWay[] => [
      {
        unit,
        name: 'denominators of the whole batch',
        items: { loss_normalization: 'global' },
        expect: (given) => policyLoss(inputOf(given), way),
      },
      {
        unit,
        name: 'the mean of micro-batches with denominators of their own',
        items: { loss_normalization: 'local' },
        expect: (given) => localPolicyLoss(inputOf(given), way, partsOf(given)),
      },
    ]);
  },
  cases: (_, drawn) => [...SHAPES, ...draw(shape(), drawn)],
  async fits(subject, given, variants) {
    const observed = await policyEffect(
      subject,
      onPolicy(given.lengths, given.advantages, given.parts),
      false,
    );
    const band = bandOf(subject, given.lengths.length);
    return (variants as readonly NormalizationWay[]).map(({ expect, unit }) =>
      misfitOf(effectPairs(observed, expect(given)), (want) => unit * band.allowed(want / unit)),
    );
  },
};

/** Nothing to measure without micro-batches, nor without the denominator that they share. */
export function lackOfParts(op: 'loss' | 'sft_loss', { hello, semantics }: World): string | undefined {
  if (hello.ops[op]?.micro_batches !== true) return `op \`${op}\` does not offer micro_batches`;
  const { loss_aggregation: aggregation, loss_norm: norm } = semantics;
  return aggregation === undefined || (aggregation === 'token-sum-norm' && norm === undefined)
    ? 'the denominator itself could not be told'
    : undefined;
}

/** Unequal lengths in unequal parts, so that no two denominators agree; advantages that cancel nowhere. */
const SHAPES: readonly Shape[] = [
  { lengths: [1, 3, 2], advantages: [1, -0.75, 2], parts: [0, 1, 1] },
  { lengths: [2, 5, 1, 3], advantages: [0.5, 1, -2, 1.5], parts: [0, 0, 0, 1] },
  { lengths: [4, 1], advantages: [1, 2], parts: [0, 1] },
];
/** A division in float32 is far better than this; nobody's constant needs more digits. */
const SOLVED = 1e-5;

function shape(): fc.Arbitrary<Shape> {
  const row = fc.record({
    length: fc.integer({ min: 1, max: 5 }),
    advantage: fc.constantFrom(-2, -1, -0.5, 0.25, 1, 1.5, 3),
    part: fc.nat(1),
  });
  return fc.array(row, { minLength: 3, maxLength: 4 }).map((rows) => ({
    lengths: rows.map(({ length }) => length),
    advantages: rows.map(({ advantage }) => advantage),
    // The first row alone in its part: there are always two.
    parts: rows.map(({ part }, at) => (at === 0 ? 0 : 1 + part)),
  }));
}

function settingsOf({ loss_aggregation, loss_norm }: Semantics): LossSettings {
  return {
    aggregation: loss_aggregation ?? 'token-mean',
    norm: loss_norm ?? 1,
    clipLow: Number.POSITIVE_INFINITY,
    clipHigh: Number.POSITIVE_INFINITY,
    klCoef: 0,
    kl: null,
  };
}

/**
 * A constant divides the sum over the batch, or that of each row, averaged over rows: both go by one name. Divided by
 * 1, the latter is the mean over rows of sums.
 */
function normsPer(settings: LossSettings): (LossSettings & { normPer: 'batch' | 'row' })[] {
  const rows = settings.aggregation === 'token-sum-norm' && settings.norm !== 1;
  const per = rows ? (['batch', 'row'] as const) : (['batch'] as const);
  return per.map((normPer) => ({ ...settings, normPer }));
}

function inputOf({ lengths, advantages }: Shape) {
  const laid = layTracks({ rows: onPolicy(lengths, advantages) });
  return { ...laid, mask: laid.completion_mask };
}

function partsOf({ lengths, advantages, parts }: Shape) {
  return layTracks({ rows: onPolicy(lengths, advantages, parts) }).micro_batches;
}
