// Filters of rollouts: which rows go on to the advantages, and which of them train. What a filter is for is the trainer's choice;
// that it takes whole groups, keeps rows once and reads no other group is not.
import {
  answersOf,
  describeFilter,
  discard,
  type Fate,
  type Filtered,
  type FilterInput,
  fatesIn,
  filtered,
  filteredLabels,
  filterRule,
  formulaOf,
  isPlain,
  knownFormula,
  many,
  type Ok,
  type Property,
  relations,
  rolloutsOf,
  type Subject,
  show,
  unlikeRule,
  type World,
} from '../../src/index.ts';

const shapeOf = ({ hello }: World) => ({
  size: hello.ops.filter_rollouts?.group_size,
  interleaved: hello.ops.filter_rollouts?.interleaved_groups,
});

const base = {
  stage: 'reward',
  ops: ['filter_rollouts'],
  given: (world: World) => filtered(shapeOf(world)),
  labels: filteredLabels,
} as const;

/** A trainer may refuse a batch of which nothing is left, and rewards of NaN. */
async function ask(subject: Subject, args: FilterInput): Promise<Ok<'filter_rollouts'>> {
  const outcome = await subject.attempt('filter_rollouts', args);
  return 'ok' in outcome ? outcome.ok : discard(`it refuses: ${outcome.refused}`, 'trainer');
}

const fatesOf = async (subject: Subject, args: FilterInput): Promise<readonly Fate[]> =>
  fatesIn(await ask(subject, args), args.rewards.length);

const ITEMS = ['filter_equal_rewards', 'filter_truncated', 'filter_long', 'filter_rewards'] as const;
const WORDS = { keep: 'kept', mask: 'masked', drop: 'dropped' } as const;

const rowsOf = ({ group_ids: groups }: FilterInput, group: number | undefined): number[] =>
  groups.flatMap((id, row) => (id === group ? [row] : []));

const rewardsIn = ({ rewards }: FilterInput, rows: readonly number[]): string =>
  rows.map((row) => show(rewards[row])).join(', ');

/** Three times the first of each, divided by three, is another number in binary. The second, near it, has an exact mean. */
const INEXACT = [
  [0.1, 0.125],
  [0.7, 0.6875],
  [1.1, 1.125],
] as const;
const LEAST_INEXACT = 3;

export const filterProperties: readonly Property<Filtered>[] = [
  {
    ...base,
    level: 'must',
    id: 'reward/filter-keeps-a-row-once',
    title: 'A filter keeps each row at most once',
    why: 'A row that is kept twice counts twice in its group and in the step: another one was kept in its place, or the batch was filled up.',
    catches: ['VAL-12'],
    coverage: { 'several groups': 0.3 },
    async check(subject, drawn) {
      const { kept } = await ask(subject, rolloutsOf(drawn));
      const again = kept.find((row, at) => kept.indexOf(row) < at);
      return again === undefined
        ? undefined
        : {
            kind: 'twice',
            sentence: `Row ${again} is kept ${many(kept.filter((row) => row === again).length, 'time')}: kept is [${kept.join(', ')}].`,
          };
    },
  },
  {
    ...base,
    level: 'should',
    id: 'reward/filter-keeps-the-order',
    title: 'The rows that a filter keeps are in the order in which they came',
    why: 'The next step may read groups off the order of rows, or pair the rows with a list that was not filtered.',
    catches: ['VAL-12'],
    async check(subject, drawn) {
      const { kept } = await ask(subject, rolloutsOf(drawn));
      const at = kept.findIndex((row, place) => place > 0 && row < (kept[place - 1] ?? 0));
      return at < 0
        ? undefined
        : {
            kind: 'order',
            sentence: `Row ${kept[at]} comes after row ${kept[at - 1]}: kept is [${kept.join(', ')}].`,
          };
    },
  },
  {
    ...base,
    level: 'must',
    id: 'reward/filter-takes-whole-groups',
    title: 'The rows of a group that are whole, short enough and within the bounds stay or go together',
    why: 'A baseline is the mean of a group. If a group loses some of its rows for their rewards, the mean of the others is another baseline.',
    catches: ['VAL-12'],
    needs: [formulaOf(['filter_rollouts'])],
    given: (world) => filtered({ ...shapeOf(world), plain: true }),
    coverage: { 'rewards that differ': 0.4, 'equal rewards': 0.2 },
    async check(subject, drawn) {
      const args = rolloutsOf(drawn);
      const fates = await fatesOf(subject, args);
      for (const group of new Set(args.group_ids)) {
        const rows = rowsOf(args, group).filter((row) => isPlain(args, row));
        const [first = 0] = rows;
        const other = rows.find((row) => fates[row] !== fates[first]);
        if (other === undefined) continue;
        return {
          kind: 'part of a group',
          sentence: `Row ${first} of a group is ${WORDS[fates[first] ?? 'drop']} and row ${other} is ${WORDS[fates[other] ?? 'drop']}: the rewards are ${rewardsIn(args, rows)}, and no row is cut off, too long or out of bounds.`,
          advice: 'Decide once per group, and apply the decision to all of its rows.',
          ...answersOf(subject, 'filter_rollouts', ITEMS),
        };
      }
      return undefined;
    },
  },
  {
    ...base,
    level: 'must',
    id: 'reward/filter-follows-the-rule',
    title: 'A filter treats equal rewards, truncated and long rows, and rewards out of bounds by its rule',
    why: 'A filter that keeps what it should drop trains on groups without a signal only, and the curves of rewards look as before.',
    catches: ['VAL-12'],
    settles: ITEMS,
    needs: [formulaOf(['filter_rollouts']), knownFormula('filter_rollouts')],
    coverage: {
      'equal rewards': 0.3,
      'rewards that differ': 0.3,
      'a mean of 0': 0.05,
      'a truncated row': 0.2,
      'a long row': 0.2,
      'a reward out of bounds': 0.2,
    },
    async check(subject, drawn) {
      const args = rolloutsOf(drawn);
      const rule = filterRule(subject.semantics);
      if (rule === undefined) return discard('the rule is not known');
      const fates = await fatesOf(subject, args);
      const wrong = unlikeRule(rule, args, fates);
      if (wrong === undefined) return undefined;
      const { rows, allowed } = wrong;
      const words = (all: readonly (Fate | undefined)[]): string =>
        all.map((fate) => WORDS[fate ?? 'drop']).join(', ');
      return {
        kind: 'rule',
        sentence: `The rows of the group with the rewards ${rewardsIn(args, rows)} are ${words(rows.map((row) => fates[row]))}; expected ${allowed.map(words).join('; or ')}, by ${describeFilter(rule)}.`,
        ...answersOf(subject, 'filter_rollouts', ITEMS),
      };
    },
  },
  {
    ...base,
    level: 'must',
    id: 'reward/filter-nan-stays-in-its-group',
    title: 'A reward that is NaN changes nothing for other groups, or is refused',
    why: 'A grader that fails once leaves a NaN. A statistic over the batch makes it the fate of every group: nothing is left, or nothing is filtered.',
    catches: ['VAL-12', 'NUM-01'],
    given: (world) => filtered({ ...shapeOf(world), minGroups: 2 }),
    async check(subject, drawn) {
      const args = rolloutsOf(drawn);
      const before = await fatesOf(subject, args);
      const broken = args.group_ids[0];
      const after = await fatesOf(subject, { ...args, rewards: args.rewards.with(0, Number.NaN) });
      const row = before.findIndex((fate, at) => args.group_ids[at] !== broken && fate !== after[at]);
      if (row < 0) return undefined;
      return {
        kind: 'other groups',
        sentence: `Row ${row} is ${WORDS[before[row] ?? 'drop']}, and ${WORDS[after[row] ?? 'drop']} where the reward of row 0, in another group, is NaN.`,
        advice: 'Decide about each group from its own rewards only.',
      };
    },
  },
  {
    ...base,
    level: 'should',
    id: 'reward/filter-sees-through-rounding',
    title: 'Rewards that are equal count as equal, whatever their value',
    why: 'The deviation of three rewards of 0.1 is 1e-17, which is above 0: groups without a signal stay, and take the place of others.',
    catches: ['VAL-12'],
    needs: [formulaOf(['filter_rollouts'])],
    given: (world) => filtered({ ...shapeOf(world), plain: true }),
    async check(subject, drawn) {
      const rows = Math.max(LEAST_INEXACT, drawn.groups[0]?.length ?? 0);
      const { max_length, min_reward, max_reward } = drawn;
      const rewards = INEXACT.flatMap((pair) => pair.flatMap((reward) => Array<number>(rows).fill(reward)));
      const fates = await fatesOf(subject, {
        rewards,
        group_ids: rewards.map((_, row) => Math.floor(row / rows)),
        lengths: rewards.map(() => 1),
        truncated: rewards.map(() => 0),
        max_length,
        min_reward,
        max_reward,
      });
      const pair = INEXACT.findIndex((_, at) => fates[2 * rows * at] !== fates[rows * (2 * at + 1)]);
      const [inexact, exact] = [2 * rows * pair, rows * (2 * pair + 1)];
      return pair < 0
        ? undefined
        : {
            kind: 'rounding',
            sentence: `A group of ${rows} rewards of ${rewards[exact]} is ${WORDS[fates[exact] ?? 'drop']}, and one of as many rewards of ${rewards[inexact]} is ${WORDS[fates[inexact] ?? 'drop']}: its deviation is what rounding leaves.`,
            advice: 'Compare the largest reward with the smallest, or the deviation with 1e-6.',
          };
    },
  },
  ...relations<'filter_rollouts', Filtered>({
    ...base,
    op: 'filter_rollouts',
    prefix: 'reward/filter-',
    noun: 'The fate of a row in a filter',
    args: rolloutsOf,
    ask,
    allBut: [],
  }),
];
