// Golden cases of losses on completions that are labelled one by one.
import { type GoldenCase, goldenCase } from '../../case.ts';

const ROWS = {
  logprobs: [[-0.5, -1], [-0.25, -0.75, -1.5], [-2]],
  ref_logprobs: [[-1, -0.75], [-0.5, -0.5, -1.25], [-1]],
  desirable: [1, 0, 1],
  kl_logprobs: [[-1], [-0.5, -0.25], [-1, -1.5]],
  ref_kl_logprobs: [[-2], [-1, -0.5], [-1.25, -1.25]],
} as const;

export const unpairedLossCases: readonly GoldenCase[] = [
  goldenCase('unpaired_preference_loss/three-rows', 'unpaired_preference_loss', () => ROWS),
  // What stands for the KL is below 0.
  goldenCase('unpaired_preference_loss/negative-kl', 'unpaired_preference_loss', () => ({
    ...ROWS,
    kl_logprobs: ROWS.ref_kl_logprobs,
    ref_kl_logprobs: ROWS.kl_logprobs,
  })),
  goldenCase('unpaired_preference_loss/desirable-rows-alone', 'unpaired_preference_loss', () => ({
    ...ROWS,
    desirable: [1, 1, 1],
  })),
  goldenCase('unpaired_preference_loss/undesirable-rows-alone', 'unpaired_preference_loss', () => ({
    ...ROWS,
    desirable: [0, 0, 0],
  })),
];
