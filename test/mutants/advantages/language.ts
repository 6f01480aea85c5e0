// Wrong advantages whose mistake is one of JavaScript: right in the line above, wrong by a rule of the language.
import { type Mutant, wrong } from '../mutant.ts';

export const advantagesOfTheLanguage: readonly Mutant[] = [
  // Number.EPSILON is the distance from 1 to the next number, and no guard for a division: three times 0.1 is not 0.3,
  // so a group of equal rewards has a deviation of 1e-17, and its advantages are rounding noise divided by rounding
  // noise. Fix: an epsilon of the size of rewards, or zeros where the largest is the smallest.
  wrong({
    row: 'ADV-05',
    name: 'epsilon-of-the-language',
    title: 'The deviation is guarded by Number.EPSILON',
    semantics: { advantage_baseline: 'group-mean', advantage_scaling: 'group', advantage_ddof: 0 },
    ops: {
      advantages({ rewards, group_ids }) {
        const mean = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0) / all.length;
        return {
          advantages: rewards.map((reward, row) => {
            const group = rewards.filter((_, other) => group_ids[other] === group_ids[row]);
            const centre = mean(group);
            const deviation = Math.sqrt(mean(group.map((one) => (one - centre) ** 2)));
            return (reward - centre) / (deviation + Number.EPSILON);
          }),
        };
      },
    },
  }),
];
