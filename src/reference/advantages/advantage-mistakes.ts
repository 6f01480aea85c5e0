// What trainers were seen to compute in place of group-relative advantages.
import type { Mistake } from '../mistake.ts';
import { at } from '../shape.ts';
import { type AdvantageVariant, groupAdvantages } from './advantages.ts';

/** Advantages (B,) of rewards (B,) by mistakes in this variant; groups as the rows name them, completions so long. */
export function advantageMistakes(
  rewards: readonly number[],
  groupIds: readonly number[],
  variant: AdvantageVariant,
  lengths?: readonly number[],
): Mistake<readonly number[]>[] {
  const right = groupAdvantages(rewards, groupIds, variant, lengths);
  const of = (other: Partial<AdvantageVariant>, ids = groupIds): number[] =>
    groupAdvantages(rewards, ids, { ...variant, ...other }, lengths);
  const raw = of({ scaling: 'none' });
  /** What divided each row; 1 where nothing is left to divide. */
  const divisor = raw.map((value, row) => (value === 0 ? 1 : value / at(right, row)));
  const groups = new Set(groupIds).size;
  const size = rewards.length / groups;
  const interleaved = rewards.map((_, row) => row % groups);
  const consecutive = rewards.map((_, row) => Math.floor(row / size));
  return [
    { words: 'its sign is turned', answer: right.map((value) => -value) },
    ...(variant.scaling === 'none'
      ? []
      : [
          {
            words: 'it is divided by the variance',
            answer: raw.map((value, row) => value / at(divisor, row) ** 2),
          },
          {
            words: 'it is multiplied by the deviation',
            answer: raw.map((value, row) => value * at(divisor, row)),
          },
          {
            words: 'the reward alone is divided, and the mean subtracted from that',
            answer: rewards.map((reward, row) => reward / at(divisor, row) - (reward - at(raw, row))),
          },
          {
            bug: 'ADV-05',
            words: 'nothing guards the division',
            answer: of({ epsilon: 0 }),
            legal: true as const,
          },
        ]),
    {
      words: 'the mean is added',
      answer: rewards.map((reward, row) => (2 * reward - at(raw, row)) / at(divisor, row)),
    },
    ...(variant.baseline === 'length-weighted'
      ? [{ words: 'lengths are not weighed', answer: of({ baseline: 'group-mean' }), legal: true as const }]
      : []),
    ...(Number.isInteger(size)
      ? [
          { bug: 'ADV-04', words: 'every n-th row is taken for a group', answer: of({}, interleaved) },
          { bug: 'ADV-04', words: 'neighbouring rows are taken for a group', answer: of({}, consecutive) },
        ]
      : []),
    {
      bug: 'ADV-03',
      words: 'the whole batch is taken for one group',
      answer: of(
        {},
        rewards.map(() => 0),
      ),
      legal: true as const,
    },
  ];
}
