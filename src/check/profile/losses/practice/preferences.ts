// What practice does with the losses of preference pairs and of labelled completions.
import { isOfMeans } from '../../../../reference/index.ts';
import { above, isNumber, type Practice } from '../../practice-row.ts';

export const PREFERENCE_PRACTICE: readonly Practice[] = [
  {
    item: 'preference_objective',
    weight: 'ask',
    beyond: 'dpo_norm with a beta below 1',
    isBeyond: (value, { preference_beta: beta }) =>
      value === 'dpo_norm' && isNumber(beta ?? null) && Number(beta) < 1,
    why: 'Means over tokens are compared with a beta for sums, so that the loss hardly falls: LN-DPO uses 2 to 10. Often a mean stands where a sum is meant.',
    source: 'https://arxiv.org/abs/2411.15124',
  },
  {
    item: 'preference_label_smoothing',
    weight: 'ask',
    beyond: 'at least 0.5',
    isBeyond: above(0.4999),
    why: 'Half of the labels or more are taken for wrong: the preference is trained backwards, or not at all.',
    source: 'https://arxiv.org/abs/2305.18290',
  },
  {
    item: 'preference_beta',
    weight: 'note',
    beyond: 'above 1, but for means over tokens',
    isBeyond: (value, { preference_objective: of }) =>
      (of === undefined || !isOfMeans(of)) && above(1)(value),
    why: 'Papers and trainers use 0.01 to 0.5: with more, the loss saturates on pairs that the reference already ranks.',
    source: 'https://arxiv.org/abs/2305.18290',
  },
  {
    item: 'unpaired_beta',
    weight: 'note',
    beyond: 'above 1',
    isBeyond: above(1),
    why: 'The paper and trainers use 0.01 to 0.5: with more, the sigmoid is flat as soon as the policy has moved, and nothing is learnt.',
    source: 'https://arxiv.org/abs/2402.01306',
  },
  {
    item: 'desirable_weight',
    weight: 'note',
    beyond: 'other than 1, and `undesirable_weight` as well',
    isBeyond: (value, { undesirable_weight: other }) =>
      isNumber(value) && isNumber(other ?? null) && value !== 1 && other !== 1,
    why: 'One of the two is 1, and the other makes up for rarer labels: what multiplies both may be a beta that belongs inside of the sigmoid.',
    source: 'https://arxiv.org/abs/2402.01306',
  },
];
