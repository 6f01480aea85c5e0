// Golden cases of the loss of a reward model.
import { type GoldenCase, goldenCase } from '../../case.ts';
import { offered } from '../inputs/tracks.ts';

const SCORES = { chosen_scores: [1.5, -0.25, 2], rejected_scores: [0.5, 0.75, -1] } as const;

export const rewardLossCases: readonly GoldenCase[] = [
  goldenCase('reward_loss/three-pairs', 'reward_loss', () => SCORES),
  // Scores that a centring sees, and differences as before.
  goldenCase('reward_loss/high-scores', 'reward_loss', () => ({
    chosen_scores: SCORES.chosen_scores.map((score) => score + 8),
    rejected_scores: SCORES.rejected_scores.map((score) => score + 8),
  })),
  goldenCase('reward_loss/far-apart', 'reward_loss', () => ({
    chosen_scores: [1000, -1000],
    rejected_scores: [-1000, 1000],
  })),
  goldenCase(
    'reward_loss/margins',
    'reward_loss',
    (world) => offered('reward_loss', 'margins', world) ?? { ...SCORES, margins: [0.5, 1, 3] },
  ),
];
