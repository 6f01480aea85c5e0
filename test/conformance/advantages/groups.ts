// Legal advantages of groups, most of them undeclared.
import type { Args, Ok } from '../../../src/index.ts';
import { type Legal, legal, mean, repeat, sum } from '../legal.ts';

const deviation = (values: readonly number[], ddof: number): number =>
  Math.sqrt(sum(values.map((value) => (value - mean(values)) ** 2)) / (values.length - ddof));
const groupOf = ({ rewards, group_ids: ids }: Args<'advantages'>, row: number): number[] =>
  rewards.filter((_, other) => ids[other] === ids[row]);
const advantages =
  (scale: (group: readonly number[], all: readonly number[]) => number) =>
  (args: Args<'advantages'>): Ok<'advantages'> => ({
    advantages: args.rewards.map((reward, row) => {
      const group = groupOf(args, row);
      return (reward - mean(group)) / scale(group, args.rewards);
    }),
  });

/** Against the mean of the group's other rows (Ahmadian et al. 2024). */
const leaveOneOut = (args: Args<'advantages'>): Ok<'advantages'> => ({
  advantages: args.rewards.map((reward, row) => {
    const others = args.group_ids.flatMap((id, other) =>
      id === args.group_ids[row] && other !== row ? [args.rewards[other] ?? Number.NaN] : [],
    );
    return reward - mean(others);
  }),
});
/** Against the mean over the tokens of the group, each with the reward of its row (OPO). */
const lengthWeighted = (args: Args<'advantages'>): Ok<'advantages'> => {
  const lengths = args.lengths ?? args.rewards.map(() => 1);
  return {
    advantages: args.rewards.map((reward, row) => {
      const tokens = args.rewards.flatMap((other, at) =>
        args.group_ids[at] === args.group_ids[row] ? repeat(other, lengths[at] ?? 1) : [],
      );
      return reward - mean(tokens);
    }),
  };
};
/** The best of a group has its lead over the second (pass@k). */
const lead = (args: Args<'advantages'>, scale = (_: readonly number[]): number => 1): Ok<'advantages'> => ({
  advantages: args.rewards.map((reward, row) => {
    const group = groupOf(args, row).toSorted((a, b) => b - a);
    const [best = 0, second = 0] = group;
    return reward === best ? (best - second) / scale(group) : 0;
  }),
});
/** The group's mean goes first, and what is left is divided by the batch's deviation of it. */
const overCentredBatch = (args: Args<'advantages'>): Ok<'advantages'> => {
  const centred = args.rewards.map((reward, row) => reward - mean(groupOf(args, row)));
  return { advantages: centred.map((value) => value / (deviation(centred, 1) + 1e-8)) };
};
/** Groups without spread say nothing, and the others count for them (GPG). */
const sharedOut = (args: Args<'advantages'>): Ok<'advantages'> => {
  const centred = args.rewards.map((reward, row) => reward - mean(groupOf(args, row)));
  const speaking = args.rewards.filter((_, row) => new Set(groupOf(args, row)).size > 1).length;
  return { advantages: centred.map((value) => (speaking === 0 ? 0 : (value * centred.length) / speaking)) };
};
const oddEpsilon = advantages((group) => deviation(group, 1) + 0.0375);

const f32 = Math.fround;
const mean32 = (values: readonly number[]): number =>
  f32(values.reduce((total, value) => f32(total + value), 0) / values.length);
/** As tensors of float32 do it, with the rounding of every step, and no word about equal rewards (verl's GRPO). */
const advantages32 = (args: Args<'advantages'>): Ok<'advantages'> => ({
  advantages: args.rewards.map((reward, row) => {
    const group = groupOf(args, row).map(f32);
    const centre = mean32(group);
    const squares = group.map((value) => f32(f32(value - centre) ** 2));
    const variance = f32((mean32(squares) * group.length) / (group.length - 1));
    return f32(f32(f32(reward) - centre) / f32(f32(Math.sqrt(variance)) + f32(1e-6)));
  }),
});

/** Every row has `tokens` of them, and all are whitened together (verl's REINFORCE++, and its baseline with `centre`). */
const whitenedTokens =
  (tokens: number, centre: (args: Args<'advantages'>, row: number) => number) =>
  (args: Args<'advantages'>): Ok<'advantages'> => {
    const scores = args.rewards.map((reward, row) => reward - centre(args, row));
    const all = scores.flatMap((score) => repeat(score, tokens));
    return { advantages: scores.map((score) => (score - mean(all)) / (deviation(all, 1) + 1e-8)) };
  };

export const groupAdvantages: readonly Legal[] = [
  legal('advantages over the batch deviation', {
    advantages: advantages((_, all) => deviation(all, 1) + 1e-4),
  }),
  legal('advantages with ddof 0 and 1e-6', { advantages: advantages((group) => deviation(group, 0) + 1e-6) }),
  legal('advantages with 1e-8, without a word for equal rewards', {
    advantages: advantages((group) => deviation(group, 0) + 1e-8),
  }),
  legal('advantages that are not scaled', { advantages: advantages(() => 1) }),
  legal('leave-one-out advantages, not scaled (RLOO)', { advantages: leaveOneOut }),
  legal(
    'leave-one-out advantages, declared',
    { advantages: leaveOneOut },
    { semantics: { advantage_baseline: 'leave-one-out', advantage_scaling: 'none' } },
  ),
  legal(
    'advantages that groups without spread leave to the others (GPG), declared',
    { advantages: sharedOut },
    { semantics: { own_formulas: ['advantages'] } },
  ),
  legal('advantages against the mean over tokens (OPO)', { advantages: lengthWeighted }),
  legal(
    'advantages against the mean over tokens, declared',
    { advantages: lengthWeighted },
    { semantics: { advantage_baseline: 'length-weighted', advantage_scaling: 'none' } },
  ),
  legal('the lead of the best for an advantage (pass@k)', { advantages: (args) => lead(args) }),
  legal(
    'the lead of the best over the deviation, declared',
    { advantages: (args) => lead(args, (group) => deviation(group, 1) + 1e-6) },
    { semantics: { advantage_baseline: 'leave-one-out-max', advantage_scaling: 'group' } },
  ),
  legal('advantages with 1e-6 under the root', {
    advantages: advantages((group) => Math.sqrt(deviation(group, 0) ** 2 + 1e-6)),
  }),
  legal(
    'advantages with 1e-4 under the root, declared',
    { advantages: advantages((group) => Math.sqrt(deviation(group, 1) ** 2 + 1e-4)) },
    {
      semantics: {
        advantage_ddof: 1,
        advantage_epsilon: 1e-4,
        advantage_epsilon_placement: 'variance',
        advantage_scaling: 'group',
      },
    },
  ),
  legal('advantages with 1e-2', { advantages: advantages((group) => deviation(group, 1) + 1e-2) }),
  legal(
    'advantages with an epsilon of its own, in float32',
    { advantages: (args) => ({ advantages: oddEpsilon(args).advantages.map(f32) }) },
    { dtype: 'float32' },
  ),
  legal('advantages over the deviation of the centred batch (REINFORCE++ baseline)', {
    advantages: overCentredBatch,
  }),
  legal(
    'advantages over the deviation of the centred batch, declared',
    { advantages: overCentredBatch },
    {
      semantics: {
        advantage_baseline: 'group-mean',
        advantage_ddof: 1,
        advantage_epsilon: 1e-8,
        advantage_scaling: 'batch',
      },
    },
  ),
  legal(
    'advantages against the mean of the batch, declared',
    {
      advantages: ({ rewards }) => ({
        advantages: rewards.map((reward) => (reward - mean(rewards)) / (deviation(rewards, 1) + 1e-8)),
      }),
    },
    { semantics: { advantage_baseline: 'batch-mean', advantage_scaling: 'batch', advantage_ddof: 1 } },
  ),
  legal('advantages whitened over tokens, three a row (REINFORCE++)', {
    advantages: whitenedTokens(3, () => 0),
  }),
  legal('advantages of the group whitened over tokens, three a row (REINFORCE++ baseline)', {
    advantages: whitenedTokens(3, (args, row) => mean(groupOf(args, row))),
  }),
  legal(
    'advantages against the mean of the batch, only their scaling declared',
    {
      advantages: ({ rewards }) => ({
        advantages: rewards.map((reward) => (reward - mean(rewards)) / (deviation(rewards, 1) + 1e-8)),
      }),
    },
    { semantics: { advantage_scaling: 'batch' } },
  ),
  legal(
    'advantages of almost equal rewards are 0, declared',
    {
      advantages: (args) => ({
        advantages: args.rewards.map((reward, row) => {
          const group = groupOf(args, row);
          const std = deviation(group, 1);
          return std < 0.01 ? 0 : (reward - mean(group)) / (std + 1e-4);
        }),
      }),
    },
    { semantics: { advantage_min_std: 0.01, advantage_scaling: 'group' } },
  ),
  legal(
    'rewards as they are for advantages, declared (REINFORCE)',
    { advantages: ({ rewards }) => ({ advantages: [...rewards] }) },
    { semantics: { advantage_baseline: 'none', advantage_scaling: 'none' } },
  ),
  legal(
    'advantages in float32, without a word for equal rewards',
    { advantages: advantages32 },
    { dtype: 'float32' },
  ),
];
