// Rewards that tell nothing apart: then no completion is better than another, and nothing is learnt.
import {
  baseline,
  type MonitorRule,
  type RuleWorld,
  type Series,
  type Violation,
} from '../../../src/index.ts';
import { from, type Row, read, streakOf, watchJoined } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';

type Key = 'reward' | 'reward std' | 'dead';

const keyOf = ({ role, part }: Series): Key | undefined => {
  if (part !== '') return undefined;
  if (role === 'reward') return 'reward';
  if (role === 'reward_std') return 'reward std';
  return role === 'dead_groups' ? 'dead' : undefined;
};

/** Equal rewards have a deviation of float32 noise: 0.1 is not 0.1 there. */
const NOISE = 1e-6;

const rewardsDiffer: MonitorRule = {
  id: 'monitor/rewards-differ',
  title: 'Rewards are not all equal, step after step',
  stage: 'monitor',
  level: 'should',
  why: 'Where every completion has the same reward, every advantage is 0 and nothing is trained. A judge that does not answer, a parser that finds no answer, and a function that returns early look like this.',
  catches: ['ZL-04', 'ADV-14', 'ADV-05'],
  advice:
    'Call the reward function by hand on a right and on a wrong completion. If both get their due and the task is only hard, take easier prompts or larger groups: so far nothing was trained.',
  roles: ['reward', 'reward_std', 'dead_groups'],
  settings: {
    points: inARow(
      3,
      'Rare rewards make such steps by chance: where a share p of the steps before was like it, and half of all groups had no spread, so many that p to their power is below 1 in 100,000.',
    ),
  },
  watch: (world) =>
    watchJoined<Key>({
      keyOf,
      row: judgeEqual(world),
      why: 'no step has a reward together with its deviation or its share of groups without spread',
    }),
};

/** Chance of as many steps without spread in a row, below which it is none. */
const CHANCE = 1e-5;

/** Steps before that tell whether groups lost their spread by and by, and the share that had none by then. */
const BEFORE = 10;
const FADED = 0.5;

function judgeEqual(world: RuleWorld): (row: Row<Key>) => Violation | 'seen' | undefined {
  const least = numberOf(world, 'points');
  let steps = 0;
  let equalSteps = 0;
  let highest = Number.NEGATIVE_INFINITY;
  let start: number | undefined;
  let run = { length: 0, first: Number.NaN, value: Number.NaN };
  const deadBefore = baseline(BEFORE);
  /** With one group a step its share is 0 or 1, and says nothing of how groups lost their spread. */
  let severalGroups = false;
  /** Steps in a row that chance does not explain, from how often it made one before; 0: any number is none. */
  const byChance = (): number => {
    // From the start on there is nothing to go by; and where most groups had a spread, none having one is no chance.
    if (steps === 0 || (severalGroups && deadBefore.median() < FADED)) return 0;
    return Math.ceil(Math.log(CHANCE) / Math.log((equalSteps + 1) / (steps + 2)));
  };
  return (row) => {
    const reward = row.values.get('reward');
    const deviation = row.values.get('reward std');
    const dead = row.values.get('dead');
    if (reward === undefined || !Number.isFinite(reward)) return undefined;
    if (deviation === undefined && dead === undefined) return undefined;
    const equal =
      deviation === undefined ? dead === 1 : Math.abs(deviation) <= NOISE * Math.max(1, Math.abs(reward));
    if (!equal || (run.length > 0 && Math.abs(reward - run.value) > NOISE * Math.max(1, Math.abs(reward)))) {
      steps += run.length + 1;
      equalSteps += run.length + (equal ? 1 : 0);
      run = { length: 0, first: Number.NaN, value: Number.NaN };
      highest = Math.max(highest, reward);
      start ??= reward;
      if (dead !== undefined) deadBefore.add(dead);
      severalGroups ||= dead !== undefined && dead > 0 && dead < 1;
      return 'seen';
    }
    run = { length: run.length + 1, first: run.length === 0 ? row.step : run.first, value: reward };
    // All rewards equal, the best so far, and groups lost their spread one after the other: solved.
    const better = start !== undefined && reward > start && reward >= highest;
    if (better && !(deadBefore.median() < FADED)) return 'seen';
    const needed = Math.max(least, byChance());
    const series = row.seriesOf('reward');
    if (run.length < needed || series === undefined) return 'seen';
    return {
      kind: 'all equal',
      sentence: `${from(series, run.first, row.step)} is exactly ${read(reward)} for every completion: there was nothing to learn from.`,
      series,
      step: run.first,
      value: reward,
    };
  };
}

const groupsAlive: MonitorRule = {
  id: 'monitor/groups-alive',
  title: 'Not nearly all groups are without spread',
  stage: 'monitor',
  level: 'may',
  why: 'A group whose completions all have the same reward has no advantage. If nearly all are like that, most of the sampling is thrown away.',
  catches: ['ZL-04', 'ADV-04', 'ADV-12'],
  advice:
    'Filter prompts that are always or never solved, enlarge groups, raise the temperature, and check that a group has the completions of one prompt.',
  roles: ['dead_groups', 'reward'],
  settings: {
    most: { default: 0.95, what: 'Share of groups, 0 to 1, that may be without spread.' },
    points: inARow(20, 'Hard prompts have long droughts.'),
  },
  watch: (world) => {
    const streak = streakOf(numberOf(world, 'points'));
    let start: number | undefined;
    let reward: number | undefined;
    return watchJoined<'dead' | 'reward'>({
      keyOf: (series) => {
        const key = keyOf(series);
        return key === 'reward std' ? undefined : key;
      },
      row: (row) => {
        const dead = row.values.get('dead');
        reward = row.values.get('reward') ?? reward;
        start ??= reward;
        const series = row.seriesOf('dead');
        if (dead === undefined || Number.isNaN(dead) || series === undefined) return undefined;
        // Prompts that are solved have no spread either, and need none.
        const solved = start !== undefined && reward !== undefined && reward > start;
        if (!streak.next(dead > numberOf(world, 'most') && !solved, row.step)) return 'seen';
        return {
          kind: 'dead groups',
          sentence: `${from(series, streak.from, row.step)}: ${Math.round(dead * 100)} % of the groups have no spread in their rewards.`,
          series,
          step: streak.from,
          value: dead,
          high: numberOf(world, 'most'),
        };
      },
      why: 'the share of groups without spread is not logged',
    });
  },
};

export const rewardRules: readonly MonitorRule[] = [rewardsDiffer, groupsAlive];
