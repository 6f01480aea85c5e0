// What a filter of rollouts is for is read off its answers; verl's filter, which is right but for rounding, fails that advice alone.
import { describe, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { profileTrainer } from '../../../src/check/profile/profile.ts';
import { type Args, objectTrainer, run, type Semantics } from '../../../src/index.ts';
import { CHOICES } from '../../../src/vocabulary.ts';

type Given = Args<'filter_rollouts'>;
const { filter_equal_rewards: FATES, filter_rewards: BOUNDS } = CHOICES;

const trainerOf = (answer: (args: Given) => { kept: number[]; trained?: number[] }) =>
  objectTrainer({
    hello: { protocol: 1, name: 'filter', dtype: 'float64', ops: { filter_rollouts: {} } },
    ops: { filter_rollouts: answer },
  });

const groupOf = ({ rewards, group_ids }: Given, row: number): number[] =>
  rewards.filter((_, other) => group_ids[other] === group_ids[row]);
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** A filter with these rules, each on its own. */
function ruled(semantics: Semantics) {
  return trainerOf((args) => {
    const outside = (reward: number): boolean => reward < args.min_reward || reward > args.max_reward;
    const fates = args.rewards.map((reward, row) => {
      const group = groupOf(args, row);
      const own = [
        new Set(group).size === 1 ? semantics.filter_equal_rewards : 'keep',
        args.truncated[row] === 1 ? semantics.filter_truncated : 'keep',
        (args.lengths[row] ?? 0) > args.max_length ? semantics.filter_long : 'keep',
        semantics.filter_rewards === 'rows' && outside(reward) ? 'drop' : 'keep',
        semantics.filter_rewards === 'groups' && outside(mean(group)) ? 'drop' : 'keep',
      ];
      return own.includes('drop') ? 'drop' : own.includes('mask') ? 'mask' : 'keep';
    });
    const kept = fates.flatMap((fate, row) => (fate === 'drop' ? [] : [row]));
    return { kept, trained: kept.map((row) => Number(fates[row] === 'keep')) };
  });
}

const USUAL: Semantics = {
  filter_equal_rewards: 'drop',
  filter_truncated: 'keep',
  filter_long: 'keep',
  filter_rewards: 'none',
};
const each = (item: keyof Semantics, values: readonly string[]) =>
  values.map((value): [string, Semantics] => [`${item} ${value}`, { ...USUAL, [item]: value }]);

describe('the rule of a filter is measured', () => {
  test.each([
    ...each('filter_equal_rewards', FATES.values),
    ...each('filter_truncated', FATES.values),
    ...each('filter_long', FATES.values),
    ...each('filter_rewards', BOUNDS.values),
  ])('%s', async (_, semantics) => {
    const { measured } = await profileTrainer({ trainer: ruled(semantics), tokenizer: undefined });
    expect(measured).toEqual(semantics);
  });

  test('and is unknown where a filter drops a mean of 0', async () => {
    const zero = trainerOf((args) => ({
      kept: args.rewards.flatMap((_, row) => (mean(groupOf(args, row)) === 0 ? [] : [row])),
    }));
    const { measured, probes } = await profileTrainer({ trainer: zero, tokenizer: undefined });
    expect(measured).toEqual({});
    expect(probes.find(({ probe }) => probe.id === 'rollout_filter')?.reading.state).toBe('unknown');
  });
});

test("verl's filter, a deviation above 0, fails the advice about rounding and nothing else", async () => {
  const deviation = (values: readonly number[]): number =>
    Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)));
  const results = await run(
    {
      trainer: trainerOf((args) => ({
        kept: args.rewards.flatMap((_, row) => {
          const group = groupOf(args, row);
          return deviation(group) > 0 || group.length === 1 ? [row] : [];
        }),
      })),
      tokenizer: undefined,
      semantics: USUAL,
      properties: properties.filter(({ ops }) => ops.includes('filter_rollouts')),
      seed: 3,
      cases: 60,
      command: 'test',
      shrinkMilliseconds: 0,
    },
    () => undefined,
  );
  const failing = results.filter(({ verdict }) => verdict !== 'pass');
  expect(failing.map(({ id, level, verdict }) => [id, level, verdict])).toEqual([
    ['reward/filter-sees-through-rounding', 'should', 'fail'],
  ]);
  expect(results.length).toBeGreaterThan(8);
});
