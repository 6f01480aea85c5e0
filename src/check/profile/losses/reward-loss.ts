// By how much the loss of a reward model keeps its scores around 0: read off a pair of equal scores, then held against pairs
// apart, and batches.
import { type ScoredPairs, scoredPairs } from '../../../generators/losses/reward-loss.ts';
import { describeRewardLoss, rewardLoss } from '../../../reference/index.ts';
import { bandOf } from '../../numbers.ts';
import type { Subject } from '../../property.ts';
import { draw, misfitOf, type Probe, settled } from '../probe.ts';

export const rewardCentering: Probe<ScoredPairs> = {
  id: 'reward_centering',
  items: ['reward_centering'],
  ops: ['reward_loss'],
  variants: async (subject) => {
    const { reward_centering: declared } = subject.semantics;
    const blur = Math.max(SOLVED, bandOf(subject).relative);
    // Both at S, and both at 0: all that is between them is the square of 2 S.
    const raised = (await lossOf(subject, tied(HIGH))) - (await lossOf(subject, tied(0)));
    const solved = raised / (2 * HIGH) ** 2;
    const known = Math.abs(solved) > LEAST ? [settled(solved, blur, declared)] : [];
    return [...new Set([0, ...known, ...(declared === undefined ? [] : [declared])])]
      .filter(Number.isFinite)
      .map((centering) => {
        const items = { reward_centering: centering };
        return { name: describeRewardLoss(items), items };
      });
  },
  cases: (_, drawn) => [...BY_HAND, ...draw(scoredPairs({ minRows: 2 }), drawn)],
  async fits(subject, given, variants) {
    const observed = await lossOf(subject, given);
    const band = bandOf(subject, given.rows.length);
    const where = `the loss of ${given.rows.length === 1 ? 'a pair' : `a batch of ${given.rows.length} pairs`}`;
    return variants.map(({ items: { reward_centering: centering = 0 } }) => {
      const expected = rewardLoss(scoresOf(given), centering).loss;
      return misfitOf([{ where, expected, observed }], band.allowed);
    });
  },
};

/** Without margins, which not every trainer takes. */
const scoresOf = ({ rows }: ScoredPairs) => ({
  chosen_scores: rows.map(({ chosen }) => chosen),
  rejected_scores: rows.map(({ rejected }) => rejected),
});

async function lossOf(subject: Subject, given: ScoredPairs): Promise<number> {
  const { loss } = await subject.ask('reward_loss', scoresOf(given));
  return loss;
}

const pair = (chosen: number, rejected: number) => ({ chosen, rejected, margin: 0 });
const tied = (score: number): ScoredPairs => ({ rows: [pair(score, score)] });

/** So high that a coefficient of 0.001 shows beside log 2 in bfloat16. */
const HIGH = 16;
/** Nobody's coefficient is as small. */
const LEAST = 1e-5;
const SOLVED = 1e-5;
/** Right and wrong, near and far; both scores high; and two pairs of which one weighs more. */
const BY_HAND: readonly ScoredPairs[] = [
  tied(0),
  tied(HIGH),
  { rows: [pair(1, -1)] },
  { rows: [pair(-2, 2)] },
  { rows: [pair(-20, 20)] },
  { rows: [pair(20, -20)] },
  { rows: [pair(9, 8)] },
  { rows: [pair(3, 0), pair(-1, 2)] },
];
