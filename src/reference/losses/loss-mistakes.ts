// What trainers were seen to compute in place of the clipped policy loss: the formula on other settings or inputs, or all of
// it times a factor that has a name.
import type { Mistake } from '../mistake.ts';
import { selected } from './aggregation.ts';
import {
  type LossSettings,
  localPolicyLoss,
  type PolicyLoss,
  type PolicyLossInput,
  policyLoss,
  rowsOf,
} from './loss.ts';

/** Each in these settings; `microBatches` are lists of rows, as they were sent. */
export function lossMistakes(
  input: PolicyLossInput,
  settings: LossSettings,
  microBatches: readonly (readonly number[])[],
): Mistake<PolicyLoss>[] {
  const of = (other: Partial<LossSettings>, changed: Partial<PolicyLossInput> = {}): PolicyLoss =>
    policyLoss({ ...input, ...changed }, { ...settings, ...other });
  const turned = input.advantages.map((advantage) => -advantage);
  const { clipLow, clipHigh, klCoef } = settings;
  const hasKl = klCoef !== 0 && settings.kl !== null;
  return [
    ...(Number.isFinite(clipLow) && clipLow <= 1
      ? [
          {
            words: `the bound itself stands below, ${clipLow} instead of ${round(1 - clipLow)}`,
            answer: of({ clipLow: 1 - clipLow }),
          },
        ]
      : []),
    ...(Number.isFinite(clipHigh)
      ? [
          {
            words: 'the ratio is not clipped',
            answer: of({ clipLow: Infinity, clipHigh: Infinity }),
            legal: true as const,
          },
        ]
      : []),
    ...(clipLow === clipHigh
      ? []
      : [
          { words: 'both sides have the lower width', answer: of({ clipHigh: clipLow }) },
          { words: 'both sides have the upper width', answer: of({ clipLow: clipHigh }) },
          { words: 'the two widths are swapped', answer: of({ clipLow: clipHigh, clipHigh: clipLow }) },
        ]),
    {
      bug: 'PPO-03',
      words: 'the larger of the two objectives is taken, not the smaller',
      answer: scaled(of({ klCoef: -klCoef }, { advantages: turned }), -1),
    },
    { words: "the advantage's sign is turned", answer: of({}, { advantages: turned }) },
    { words: 'the sign of the whole loss is turned', answer: scaled(of({}), -1) },
    ...(hasKl
      ? [
          { bug: 'KL-01', words: 'the KL term is subtracted', answer: of({ klCoef: -klCoef }) },
          { bug: 'KL-09', words: 'the KL term is missing', answer: of({ klCoef: 0 }), legal: true as const },
          { bug: 'LOSS-08', words: 'the KL term counts twice', answer: of({ klCoef: 2 * klCoef }) },
          {
            bug: 'KL-03',
            words: 'the KL is taken to old_logprobs instead of the reference',
            answer: of({}, { ref_logprobs: input.old_logprobs }),
          },
        ]
      : []),
    {
      words: 'the mask is shifted by one to the left',
      answer: of({}, { mask: input.mask.map((row) => [...row.slice(1), 0]) }),
    },
    {
      words: 'the mask is shifted by one to the right',
      answer: of({}, { mask: input.mask.map((row) => [0, ...row.slice(0, -1)]) }),
    },
    ...otherAggregations(of, settings),
    ...otherCounts(of({}), input.mask),
    ...(microBatches.length > 1
      ? [
          {
            bug: 'LOSS-01',
            words: 'the means of the micro-batches are averaged, whatever their counts',
            answer: localPolicyLoss(input, settings, microBatches),
            legal: true as const,
          },
          {
            bug: 'LOSS-01',
            words: 'the losses of the micro-batches are added up, not averaged',
            answer: scaled(localPolicyLoss(input, settings, microBatches), microBatches.length),
          },
          {
            words: 'only the last micro-batch counts',
            answer: spread(input, settings, microBatches.at(-1) ?? []),
          },
        ]
      : []),
  ];
}

const round = (value: number): number => Number(value.toPrecision(6));

type Of = (other: Partial<LossSettings>) => PolicyLoss;

const AGGREGATIONS = ['token-mean', 'seq-mean-token-mean', 'seq-mean-token-sum'] as const;

function otherAggregations(of: Of, { aggregation }: LossSettings): Mistake<PolicyLoss>[] {
  return AGGREGATIONS.filter((other) => other !== aggregation).map((other) => ({
    bug: 'LOSS-04',
    words: `it is aggregated as ${other}`,
    answer: of({ aggregation: other }),
    legal: true as const,
  }));
}

/** The sum over tokens, divided by something else than it should be. */
function otherCounts(right: PolicyLoss, mask: PolicyLossInput['mask']): Mistake<PolicyLoss>[] {
  const [rows, columns] = [mask.length, mask[0]?.length ?? 0];
  const used = mask.flatMap((row) => row.flatMap((m, t) => (selected(m) ? [t] : [])));
  const completion = columns - Math.min(columns, ...used);
  const counts: readonly (readonly [string, number, string?])[] = [
    ['1, so that it is a sum', 1],
    ['the number of rows', rows],
    ['all columns of all rows, padding as well', rows * columns, 'LOSS-11'],
    ['the completion columns of all rows, padding as well', rows * completion, 'LOSS-11'],
    ['one token more than there are', right.tokens + 1],
    ['the number of tokens twice', right.tokens ** 2, 'LOSS-08'],
  ];
  return counts
    .filter(([, count]) => count > 0 && count !== right.tokens)
    .map(([what, count, bug]) => ({
      ...(bug === undefined ? {} : { bug }),
      words: `it is divided by ${what}, instead of by the trained tokens`,
      answer: scaled(right, right.tokens / count),
    }));
}

function scaled({ loss, weights, tokens }: PolicyLoss, by: number): PolicyLoss {
  return { loss: by * loss + 0, weights: weights.map((row) => row.map((weight) => by * weight + 0)), tokens };
}

/** The loss of some rows, the others without a gradient. */
function spread(input: PolicyLossInput, settings: LossSettings, rows: readonly number[]): PolicyLoss {
  const part = policyLoss(rowsOf(input, rows), settings);
  return {
    ...part,
    weights: input.mask.map((row, b) => part.weights[rows.indexOf(b)] ?? row.map(() => 0)),
  };
}
