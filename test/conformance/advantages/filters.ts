// Legal filters of rollouts: what public trainers drop or mask, in their own ways of comparing rewards.
import { type Args, type Ok, reject, type Semantics } from '../../../src/index.ts';
import { type Legal, legal, mean } from '../legal.ts';

type Given = Args<'filter_rollouts'>;
type Filter = (args: Given) => Ok<'filter_rollouts'>;
/** Whether a group stays, by the rewards of its rows. */
type Stays = (rewards: readonly number[], args: Given) => boolean;

const std = (values: readonly number[], ddof = 0): number =>
  Math.sqrt(values.reduce((sum, value) => sum + (value - mean(values)) ** 2, 0) / (values.length - ddof));
const all = ({ rewards }: Given): number[] => rewards.map((_, row) => row);
const isLong = ({ lengths, max_length: limit }: Given, row: number): boolean => (lengths[row] ?? 0) > limit;
const isCut = ({ truncated }: Given, row: number): boolean => truncated[row] === 1;

/** Those of `rows` whose group, as far as it is among them, stays. */
const groups = (args: Given, rows: readonly number[], stays: Stays): number[] =>
  rows.filter((row) =>
    stays(
      rows
        .filter((other) => args.group_ids[other] === args.group_ids[row])
        .map((at) => args.rewards[at] ?? 0),
      args,
    ),
  );

const differ: Stays = (rewards) => Math.max(...rewards) - Math.min(...rewards) > 1e-6;
const aboveThreshold: Stays = (rewards) => std(rewards) > 1e-6;
/** verl keeps a group whose metric has a deviation, and one of a single row. A rounded metric has a mean without rounding. */
const ofRoundMetric: Stays = (rewards) =>
  std(rewards.map((reward) => Math.round(reward * 1024) / 1024)) > 0 || rewards.length === 1;
const f32 = Math.fround;
const inFloat32: Stays = (rewards) => {
  const centre = f32(rewards.reduce((sum, reward) => f32(sum + f32(reward)), 0) / rewards.length);
  const squares = rewards.reduce((sum, reward) => f32(sum + f32(f32(reward - centre) ** 2)), 0);
  return f32(Math.sqrt(f32(squares / Math.max(1, rewards.length - 1)))) > 1e-4;
};
/** OpenRLHF keeps groups whose mean is within a range, its ends left out. */
const meanWithin: Stays = (rewards, { min_reward: low, max_reward: high }) =>
  low < mean(rewards) && mean(rewards) < high;

const whole =
  (stays: Stays): Filter =>
  (args) => ({ kept: groups(args, all(args), stays) });
/** Truncated rows train nothing (DAPO), and equal groups are dropped, by all of their rows or by those that train. */
const maskedCuts =
  (byTrained: boolean): Filter =>
  (args) => {
    const trains = (row: number): boolean => !isCut(args, row);
    const judged = byTrained ? all(args).filter(trains) : all(args);
    const staying = new Set(groups(args, judged, differ).map((row) => args.group_ids[row]));
    const kept = all(args).filter((row) => staying.has(args.group_ids[row] ?? -1));
    return { kept, trained: kept.map((row) => Number(trains(row))) };
  };

/** One row of a group is as good as the others, and what trains is told for each (SkyRL). */
const zeroVariance: Filter = (args) => {
  const staying = groups(args, all(args), differ);
  return { kept: all(args), trained: all(args).map((row) => Number(staying.includes(row))) };
};

const neverEmpty: Filter = (args) => {
  const { kept } = whole(differ)(args);
  return kept.length === 0 ? reject('every group of the batch has equal rewards') : { kept };
};

/** Groups of four, as a matrix with a row each. */
const reshaped: Filter = ({ rewards }) => ({
  kept: rewards.flatMap((_, row) => {
    const start = row - (row % SIZE);
    const group = rewards.slice(start, start + SIZE);
    return Math.max(...group) === Math.min(...group) ? [] : [row];
  }),
});
const SIZE = 4;

/** Rows without an advantage are dropped, one by one (prime-rl's filter of advantages). */
const byAdvantage: Filter = (args) => ({
  kept: all(args).filter((row) => {
    const group = args.rewards.filter((_, other) => args.group_ids[other] === args.group_ids[row]);
    return Math.abs((args.rewards[row] ?? 0) - mean(group)) > 1e-6;
  }),
});

const filter = (name: string, answer: Filter, declared: Parameters<typeof legal>[2] = {}): Legal =>
  legal(
    name,
    { filter_rollouts: answer },
    { can: { filter_rollouts: { interleaved_groups: true } }, ...declared },
  );

const KEEPS = {
  filter_equal_rewards: 'keep',
  filter_truncated: 'keep',
  filter_long: 'keep',
  filter_rewards: 'none',
} as const;

/** With its rule declared, and without. */
const either = (name: string, answer: Filter, semantics: Semantics): readonly Legal[] => [
  filter(name, answer),
  filter(`${name}, declared`, answer, { semantics: { ...KEEPS, ...semantics } }),
];

const DAPO = {
  filter_equal_rewards: 'drop',
  filter_truncated: 'mask',
  filter_long: 'keep',
  filter_rewards: 'none',
} as const;

export const filters: readonly Legal[] = [
  filter('a filter of deviations above 1e-6', whole(aboveThreshold)),
  filter("verl's filter of a metric, which is 0 or 1", whole(ofRoundMetric)),
  filter('a filter of deviations in float32', whole(inFloat32), { dtype: 'float32' }),
  filter('a filter that keeps everything', (args) => ({ kept: all(args) })),
  filter('groups of four, compared as a matrix', reshaped, {
    can: { filter_rollouts: { group_size: SIZE } },
  }),
  filter('equal rewards are dropped, never all of them', neverEmpty),
  ...either('equal rewards are masked', zeroVariance, { filter_equal_rewards: 'mask' }),
  filter("DAPO's filters, truncated rows masked first", maskedCuts(true)),
  filter("DAPO's filters, groups first", maskedCuts(false), { semantics: DAPO }),
  ...either(
    'truncated rows are dropped, then equal groups',
    (args) => ({
      kept: groups(
        args,
        all(args).filter((row) => !isCut(args, row)),
        differ,
      ),
    }),
    { filter_equal_rewards: 'drop', filter_truncated: 'drop' },
  ),
  ...either(
    'equal groups are dropped, then long rows',
    (args) => ({ kept: groups(args, all(args), differ).filter((row) => !isLong(args, row)) }),
    { filter_equal_rewards: 'drop', filter_long: 'drop' },
  ),
  ...either(
    'long rows are masked',
    (args) => ({ kept: all(args), trained: all(args).map((row) => Number(!isLong(args, row))) }),
    { filter_long: 'mask' },
  ),
  ...either(
    'rows within the bounds of rewards',
    (args) => ({
      kept: all(args).filter((row) => {
        const reward = args.rewards[row] ?? Number.NaN;
        return args.min_reward <= reward && reward <= args.max_reward;
      }),
    }),
    { filter_rewards: 'rows' },
  ),
  ...either('groups with a mean within the bounds', whole(meanWithin), { filter_rewards: 'groups' }),
  filter(
    'groups with a wide spread stay',
    whole((rewards) => std(rewards) > 0.3),
    { is: { own_formulas: ['filter_rollouts'] } },
  ),
  filter('rows without an advantage are dropped, declared', byAdvantage, {
    semantics: { own_formulas: ['filter_rollouts'] },
  }),
  filter('rows without an advantage are dropped', byAdvantage, { is: { own_formulas: ['filter_rollouts'] } }),
];
