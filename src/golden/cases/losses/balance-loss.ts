// Golden cases of the loss that balances experts.
import { type GoldenCase, goldenCase } from '../../case.ts';

const TWO_LAYERS = {
  router_logits: [
    [
      [2, 1, -1, -2, 0, 0.5],
      [1, -0.5, 2, -2, 0.25, 1.75],
      [0.75, 2, -2, 0, 1, -1],
    ],
    [
      [-2, 1.5, 0.5, 2, -1.5, 1],
      [1.75, 0.5, -2, 0.25, -0.5, 2],
      [2, 1.25, -1, -2, -1, 0.5],
    ],
  ],
  attention_mask: [
    [1, 1, 1],
    [1, 1, 0],
  ],
  experts: 3,
  top_k: 2,
  micro_batches: [[0, 1]],
} as const;

export const balanceLossCases: readonly GoldenCase[] = [
  goldenCase('balance_loss/two-layers', 'balance_loss', () => TWO_LAYERS),
  goldenCase('balance_loss/one-choice', 'balance_loss', () => ({ ...TWO_LAYERS, top_k: 1 })),
  goldenCase('balance_loss/three-layers', 'balance_loss', () => ({ ...TWO_LAYERS, experts: 2, top_k: 1 })),
];
