// What trainers were seen to compute in place of the clipped policy loss: the formula on other settings or inputs, or all of
// it times a factor that has a name.
import type { Mistake } from '../mistake.ts';
import { otherAggregations, otherCounts, otherParts, scaled } from './denominators.ts';
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
    ...otherAggregations(settings.aggregation, (aggregation) => of({ aggregation })),
    ...otherCounts(of({}), input.mask),
    ...(microBatches.length > 1
      ? otherParts(
          localPolicyLoss(input, settings, microBatches),
          policyLoss(rowsOf(input, microBatches.at(-1) ?? []), settings),
          microBatches,
        )
      : []),
  ];
}

const round = (value: number): number => Number(value.toPrecision(6));
