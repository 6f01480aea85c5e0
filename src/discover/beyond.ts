// What the drawn cases of a property hold constant, varied: a formula that is another one only there must not pass for ours. A
// trainer under `check` answers with what it trains with; a function that was found may be anything.
import fc from 'fast-check';
import { defineProperty } from '../check/define-property.ts';
import { bandOf } from '../check/numbers.ts';
import type { Property } from '../check/property.ts';

/** Of a size that a function which clips its rewards, as many do at 5 or 10, does not leave alone. */
const LARGE = { scores: [-48, 40], kl: 24 } as const;

const largeScores = defineProperty({
  id: 'token_rewards/large-scores-count',
  title: 'A score of 40 counts for 40, and a KL of 24 for 24',
  why: 'Clipped rewards differ from those of the op, and look alike while they are small.',
  ops: ['token_rewards'],
  given: () => fc.constantFrom(0.125, 0.5),
  async check(subject, kl_coef) {
    // Every row is trained up to its end: a score has no slot behind it to stand in.
    const completion_mask = [
      [0, 1, 1, 1, 1],
      [0, 0, 1, 1, 1],
    ];
    const kl = completion_mask.map((row) => row.map((on, at) => (on === 1 && at === 3 ? LARGE.kl : 0)));
    const scores = [...LARGE.scores];
    const process_rewards = completion_mask.map((row) => row.map(() => 0));
    const asked = { scores, kl, completion_mask, kl_coef, process_rewards, prompt_width: 1 };
    const { rewards } = await subject.ask('token_rewards', asked);
    for (const [row, score] of scores.entries()) {
      const sum = (rewards[row] ?? []).reduce((a, b, at) => a + b * (completion_mask[row]?.[at] ?? 0), 0);
      const expected = score - kl_coef * LARGE.kl;
      if (bandOf(subject, Math.abs(score)).close(sum, expected)) continue;
      return {
        kind: 'sum',
        sentence: `The rewards of row ${row} add up to ${sum}; its score is ${score}, and ${kl_coef} times its KL ${kl_coef * LARGE.kl}: is something clipped?`,
      };
    }
    return undefined;
  },
});

/** Groups of two, three and five: some of a batch were filtered out. */
const UNEQUAL = [0, 0, 1, 1, 1, 2, 2, 2, 2, 2];

const unequalGroups = defineProperty({
  id: 'advantages/beside-groups-of-another-size',
  title: 'A group has the same advantages beside groups of other sizes as alone',
  why: 'A weight by the size of a group is no weight while all groups are of one size.',
  // Trainers whose groups are always of one size are right.
  level: 'should',
  ops: ['advantages'],
  needs: [
    ({ hello, semantics: { advantage_baseline: baseline, advantage_scaling: scaling } }) =>
      hello.ops.advantages?.group_size === undefined && baseline !== 'batch-mean' && scaling !== 'batch'
        ? undefined
        : 'rewards are not compared within their group alone, or all groups are of one size',
  ],
  given: () =>
    fc.array(fc.integer({ min: -8, max: 8 }), { minLength: UNEQUAL.length, maxLength: UNEQUAL.length }),
  async check(subject, drawn) {
    const rows = drawn.map((n, row) => ({ reward: n / 4 + 0, group: UNEQUAL[row] ?? 0 }));
    const ask = async (asked: typeof rows): Promise<readonly number[]> => {
      const rewards = asked.map(({ reward }) => reward);
      const group_ids = asked.map(({ group }) => group);
      const prompt_ids = asked.map(({ group }) => [group]);
      return (await subject.ask('advantages', { rewards, group_ids, prompt_ids })).advantages;
    };
    const together = await ask(rows);
    const band = bandOf(subject, rows.length);
    for (const group of new Set(UNEQUAL)) {
      const alone = await ask(rows.filter((row) => row.group === group));
      const beside = together.filter((_, row) => UNEQUAL[row] === group);
      const at = alone.findIndex((value, row) => !band.close(beside[row], value));
      if (at < 0) continue;
      return {
        kind: 'size',
        sentence: `A group of ${alone.length} rows has the advantage ${alone[at]} alone, and ${beside[at]} beside groups of other sizes.`,
      };
    }
    return undefined;
  },
});

/** Asked of whatever else holds. */
export const BEYOND: readonly Property[] = [largeScores, unequalGroups];
