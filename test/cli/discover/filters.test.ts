// Functions that decide which rollouts stay: by the rewards of their groups, by length, by the limit of generation. A filter that is
// turned round, and one that parts groups, are bound to nothing.
import { beforeEach, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { makeWorld } from '../world.ts';
import { found } from './found.ts';
import { ownTemporaryFolder } from './left-behind.ts';

beforeEach(ownTemporaryFolder);

const SPREAD = `from collections import defaultdict


def filter_groups(rewards, group_ids):
    by = defaultdict(list)
    for reward, group in zip(rewards, group_ids):
        by[group].append(reward)
    return [row for row, group in enumerate(group_ids) if max(by[group]) - min(by[group]) > 1e-6]


def keep_informative(rewards, group_ids):
    of = lambda group: [reward for reward, other in zip(rewards, group_ids) if other == group]
    return [max(of(group)) > min(of(group)) for group in group_ids]


def groups_with_signal(rewards, num_generations):
    parts = [rewards[at : at + num_generations] for at in range(0, len(rewards), num_generations)]
    return [at for at, part in enumerate(parts) if max(part) > min(part)]
`;

const ROWS = `def drop_overlong(rewards, lengths, max_length):
    return [row for row, length in enumerate(lengths) if length <= max_length]


def filter_truncated(rewards, truncated):
    return [row for row, cut in enumerate(truncated) if not cut]
`;

async function of(code: string) {
  const world = makeWorld(properties);
  world.write('filters.py', code);
  return found(world, 'filters.py', '--only', 'filter_rollouts');
}

const names = (all: readonly { readonly function: string }[]): string[] =>
  all.map((each) => each.function).sort();

test('filters are bound, whether they answer rows, flags or numbers of groups', async () => {
  const { bound, misfits } = await of(SPREAD);
  expect(names(bound)).toEqual(['filter_groups', 'groups_with_signal', 'keep_informative']);
  expect(misfits).toEqual([]);
});

test('filters of single rows are bound', async () => {
  const { bound, misfits } = await of(ROWS);
  expect(names(bound)).toEqual(['drop_overlong', 'filter_truncated']);
  expect(misfits).toEqual([]);
});

test('filters that are turned round are not bound', async () => {
  const turned = SPREAD.replace('> 1e-6', '<= 1e-6')
    .replace('max(of(group)) > min', 'max(of(group)) == min')
    .replace('max(part) > min', 'max(part) == min');
  const { bound, misfits } = await of(turned);
  expect(bound).toEqual([]);
  expect(names(misfits)).toContain('filter_groups');
  const { bound: rows } = await of(ROWS.replace('if not cut', 'if cut').replace('<= max', '> max'));
  expect(rows).toEqual([]);
});

test('a filter that takes every n-th row for a group is not bound', async () => {
  const { bound, misfits } = await of(`def filter_groups(rewards, num_generations):
    parts = [rewards[at :: len(rewards) // num_generations] for at in range(len(rewards) // num_generations)]
    good = [max(part) > min(part) for part in parts]
    return [row for row in range(len(rewards)) if good[row % len(parts)]]
`);
  expect(bound).toEqual([]);
  expect(names(misfits)).toEqual(['filter_groups']);
});

test('what picks rows for another reason is no filter', async () => {
  const { bound, misfits } = await of(`def best_of_n(rewards, group_ids):
    groups = sorted(set(group_ids))
    return [max((row for row, own in enumerate(group_ids) if own == group), key=lambda row: rewards[row]) for group in groups]


def by_reward(rewards):
    return sorted(range(len(rewards)), key=lambda row: -rewards[row])


def above_mean(scores):
    return [score > sum(scores) / len(scores) for score in scores]
`);
  expect([...bound, ...misfits]).toEqual([]);
});
