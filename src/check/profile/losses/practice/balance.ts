// What practice does with the loss that balances experts.
import { isNumber, type Practice } from '../../practice-row.ts';

/** DeepSeek-V3 has 0.0001. */
const LEAST = 0.00005;
const TWICE = [0.001, 0.02, 0.05].map((coef) => coef ** 2);

export const BALANCE_PRACTICE: readonly Practice[] = [
  {
    item: 'balance_coef',
    weight: 'ask',
    beyond: 'above 1, or below 0.00005',
    isBeyond: (value) => isNumber(value) && (value > 1 || value < LEAST),
    why: 'Trainers use 0.0001 to 0.02, or answer the loss without a coefficient. Often it is applied twice, or its sign is lost.',
    source: 'https://github.com/NVIDIA-NeMo/Automodel/issues/1408',
  },
  {
    item: 'balance_counts',
    weight: 'ask',
    beyond: 'first',
    why: 'The first of the top_k experts of a token alone counts as load. GShard does so; elsewhere an argmax often stands where topk is meant.',
    source: 'https://arxiv.org/abs/2006.16668',
  },
  {
    item: 'balance_coef',
    weight: 'note',
    beyond: '1, or the square of a usual one',
    isBeyond: (value) => isNumber(value) && [1, ...TWICE].some((coef) => Math.abs(value / coef - 1) < ALIKE),
    why: 'A loss with this coefficient may be multiplied by the usual one elsewhere; where it is added as it stands, the coefficient was forgotten, or applied twice.',
    source: 'https://github.com/NVIDIA-NeMo/Automodel/issues/1408',
  },
  {
    item: 'balance_scope',
    weight: 'note',
    beyond: 'micro-batch',
    why: 'Experts are balanced within each micro-batch (Megatron does so unless told otherwise), so that experts of one topic are avoided where a micro-batch has one topic.',
    source: 'https://arxiv.org/abs/2501.11873',
  },
];

/** Half precision rounds what is measured. */
const ALIKE = 0.01;
