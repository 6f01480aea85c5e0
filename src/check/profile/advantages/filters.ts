// What a filter of rollouts does with equal rewards, with rows that were cut off or are too long, and with rewards out of bounds:
// each told by a group of its own, so that no two rules meet.
import { type Filtered, filtered, rolloutsOf } from '../../../generators/advantages/filtered.ts';
import {
  describeFilter,
  type Fate,
  type FilterInput,
  fatesIn,
  filterRule,
  type GroupFates,
  unlikeRule,
} from '../../../reference/index.ts';
import { CHOICES } from '../../../vocabulary.ts';
import { discard } from '../../subject.ts';
import { draw, type Misfit, type Probe, type Variant } from '../probe.ts';

export const rolloutFilter: Probe<Filtered> = {
  id: 'rollout_filter',
  items: ['filter_equal_rewards', 'filter_truncated', 'filter_long', 'filter_rewards'],
  ops: ['filter_rollouts'],
  variants: async () => WAYS,
  cases: ({ hello }, drawn) => {
    const { group_size: size, interleaved_groups: interleaved } = hello.ops.filter_rollouts ?? {};
    return [...byHand(size ?? USUAL_SIZE), ...draw(filtered({ size, interleaved }), drawn)];
  },
  async fits(subject, given, variants) {
    const rollouts = rolloutsOf(given);
    const outcome = await subject.attempt('filter_rollouts', rollouts);
    if ('refused' in outcome) return discard(`it refuses: ${outcome.refused}`, 'trainer');
    const observed = fatesIn(outcome.ok, rollouts.rewards.length);
    return variants.map(({ items }) => {
      const rule = filterRule(items);
      const wrong = rule === undefined ? undefined : unlikeRule(rule, rollouts, observed);
      return wrong === undefined ? undefined : misfit(wrong, rollouts, observed);
    });
  },
};

function misfit(
  { rows, allowed: [expected = []] }: GroupFates,
  { rewards }: FilterInput,
  observed: readonly Fate[],
): Misfit {
  const own = rows.map((row) => observed[row] ?? 'drop');
  const trained = (fates: readonly Fate[]): number => fates.filter((fate) => fate === 'keep').length;
  const kept = (fates: readonly Fate[]): number => fates.filter((fate) => fate !== 'drop').length;
  const [what, count] =
    trained(own) === trained(expected) ? (['kept', kept] as const) : (['trained', trained] as const);
  return {
    where: `the number of rows ${what} of a group with the rewards ${rows.map((row) => rewards[row]).join(', ')}`,
    expected: count(expected),
    observed: count(own),
    off: 2,
  };
}

const FATES = CHOICES.filter_equal_rewards.values;
const WAYS: readonly Variant[] = FATES.flatMap((equal) =>
  FATES.flatMap((truncated) =>
    FATES.flatMap((long) =>
      CHOICES.filter_rewards.values.map((rewards) => ({
        name: describeFilter({ equal, truncated, long, rewards }),
        items: {
          filter_equal_rewards: equal,
          filter_truncated: truncated,
          filter_long: long,
          filter_rewards: rewards,
        },
      })),
    ),
  ),
);

const USUAL_SIZE = 4;
const LIMIT = 8;

/** Each rule by a group of its own: with spread, without, with a row cut off, with a long one, with a reward and a mean out of bounds. */
function byHand(size: number): readonly Filtered[] {
  const group = (reward: (at: number) => number, last: Partial<Filtered['groups'][number][number]> = {}) =>
    Array.from({ length: size }, (_, at) => ({
      reward: reward(at),
      length: 3 + (at % 2),
      truncated: false,
      ...(at === size - 1 ? last : {}),
    }));
  const apart = (at: number): number => (at === 0 ? 0.5 : at / (4 * size));
  const request = (...groups: Filtered['groups']): Filtered => ({
    groups,
    interleaved: false,
    max_length: LIMIT,
    min_reward: -1.1,
    max_reward: 1.1,
  });
  return [
    request(group(apart)),
    // A mean of 0, and rows that stand at it.
    request(group((at) => (at === 0 ? 0.5 : 0), { reward: -0.5 })),
    request(
      group(apart),
      group(() => 0),
      group(() => 1),
      group(() => -0.25),
    ),
    request(group(apart, { truncated: true }), group(apart)),
    request(group(apart), group(apart, { length: LIMIT + 4 })),
    // One reward of four is out of bounds, and their mean is not; and the other way round for none.
    request(group(apart, { reward: 1.5 }), group(apart)),
    request(
      group((at) => 1.5 + apart(at)),
      group(apart),
    ),
  ];
}
