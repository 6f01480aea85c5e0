// What practice does with the loss of labelled completions.
import { above, isNumber, type Practice } from '../practice-row.ts';

export const UNPAIRED_PRACTICE: readonly Practice[] = [
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
