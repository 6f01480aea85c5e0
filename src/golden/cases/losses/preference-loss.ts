// Golden cases of losses on pairs.
import { type GoldenCase, goldenCase } from '../../case.ts';

const pairArgs = {
  chosen_logprobs: [
    [-0.5, -1],
    [-0.25, -0.75, -1.5],
  ],
  rejected_logprobs: [[-1.5, -1, -0.5], [-2]],
  ref_chosen_logprobs: [
    [-1, -0.75],
    [-0.5, -0.5, -1.25],
  ],
  ref_rejected_logprobs: [[-1, -1, -0.25], [-1.5]],
} as const;

export const preferenceLossCases: readonly GoldenCase[] = [
  goldenCase('preference_loss/two-pairs', 'preference_loss', () => pairArgs),
  goldenCase('preference_loss/equal-to-the-reference', 'preference_loss', () => ({
    ...pairArgs,
    ref_chosen_logprobs: pairArgs.chosen_logprobs,
    ref_rejected_logprobs: pairArgs.rejected_logprobs,
  })),
  // Of three lengths that no sorting leaves in this order, and a margin that clamps and tolerances meet.
  goldenCase('preference_loss/far-apart', 'preference_loss', () => ({
    chosen_logprobs: [[-64, -64], [-0.25], [-0.5, -1, -0.75]],
    rejected_logprobs: [[-0.5], [-64, -64, -32], [-1, -1.5]],
    ref_chosen_logprobs: [[-0.5, -0.75], [-0.5], [-1, -0.25, -0.5]],
    ref_rejected_logprobs: [[-1], [-0.75, -1, -0.25], [-0.5, -2]],
  })),
  goldenCase('preference_loss/settings', 'preference_loss', ({ hello }) => {
    const knobs = Object.entries(hello.ops.preference_loss?.knobs ?? {});
    if (knobs.length === 0) return 'op `preference_loss` lists no settings';
    const settings = Object.fromEntries(knobs.map(([name, values]) => [name, values.at(-1) ?? 0]));
    return { ...pairArgs, settings };
  }),
];
