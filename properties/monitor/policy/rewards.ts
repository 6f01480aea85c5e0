// Rewards that tell nothing apart: then no completion is better than another, and nothing is learnt.
import {
  type MonitorRule,
  mannKendall,
  median,
  type RuleWorld,
  rolling,
  type Series,
  type Violation,
} from '../../../src/index.ts';
import { from, type Row, read, streakOf, watchJoined } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';

type Key = 'reward' | 'reward std' | 'dead' | 'grad';

const keyOf = ({ role, part }: Series): Key | undefined => {
  if (part !== '') return undefined;
  if (role === 'reward') return 'reward';
  if (role === 'reward_std') return 'reward std';
  if (role === 'grad_norm') return 'grad';
  return role === 'dead_groups' ? 'dead' : undefined;
};

/** Equal rewards have a deviation of float32 noise: 0.1 is not 0.1 there. */
const NOISE = 1e-6;
const isNoise = (difference: number, reward: number): boolean =>
  Math.abs(difference) <= NOISE * Math.max(1, Math.abs(reward));

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
      'Rare rewards make such steps by chance. If a share p of the earlier steps was like it, and half of all groups had no spread, it takes so many that p to their power is below 1 in 100,000.',
    ),
    points_from_start: inARow(
      20,
      'From the first step on. If one completion in a hundred solves the task, a batch of 16 has no reward in 85 of 100 steps, and no earlier step shows it.',
    ),
    points_of_means: inARow(
      30,
      'Where neither the deviation of the rewards nor the share of groups without spread is logged, and only their mean tells. Rare rewards have a mean of 0 now and then.',
    ),
  },
  watch: (world) =>
    watchJoined<Key>({
      keyOf,
      row: judgeEqual(world),
      why: {
        keys: { reward: 'reward' },
        otherwise:
          'no step has a reward together with its deviation or its share of groups without spread, and means alone need 30 steps',
      },
    }),
};

/** Chance of as many steps without spread in a row, below which it is none. */
const CHANCE = 1e-5;
/** Steps in a row that chance does not explain, where so many of the steps before were like them. */
const beyondChance = (alike: number, steps: number): number =>
  Math.log(CHANCE) / Math.log((alike + 1) / (steps + 2));

/** Steps before that tell whether groups lost their spread by and by, and the share that had none by then. */
const BEFORE = 10;
const FADED = 0.5;
/** Rewards before that tell whether it came near by itself, and how much of the way that is. */
const RECENT = 4;
const NEAR = 0.45;
/** Of that way: resumed runs and means of few are off by as much. */
const CEILING = 0.05;
/** Of all that the reward has moved through, what lies between it and its best. */
const AT_BEST = 0.2;

function judgeEqual(world: RuleWorld): (row: Row<Key>) => Violation | 'seen' | undefined {
  const least = numberOf(world, 'points');
  const fromStart = numberOf(world, 'points_from_start');
  let steps = 0;
  let equalSteps = 0;
  let highest = Number.NEGATIVE_INFINITY;
  let start: number | undefined;
  let run = { length: 0, first: Number.NaN, value: Number.NaN };
  const deadBefore = rolling(BEFORE);
  const rewardBefore = rolling(RECENT);
  /** With one group per step its share is 0 or 1, and says nothing of how groups lost their spread. */
  let severalGroups = false;
  /** Steps in a row that are needed, for chance not to explain them; 0 where it explains none. */
  const byChance = (): number => {
    // From the start on there is nothing to go by; and where most groups had a spread, none having one is no chance.
    if (steps === 0 || (severalGroups && deadBefore.median() < FADED)) return 0;
    return beyondChance(equalSteps, steps);
  };
  /** Nothing says how rewards spread: then only a mean that does not move tells that all are equal. */
  let meansOnly = true;
  let before: number | undefined;
  return (row) => {
    const reward = row.values.get('reward');
    const deviation = row.values.get('reward std');
    const dead = row.values.get('dead');
    if (reward === undefined || !Number.isFinite(reward)) return undefined;
    if (deviation !== undefined || dead !== undefined) meansOnly = false;
    else if (!meansOnly) return undefined;
    const equal = meansOnly
      ? before === undefined || Math.abs(reward - before) <= NOISE * Math.abs(reward)
      : deviation === undefined
        ? dead === 1
        : isNoise(deviation, reward);
    before = reward;
    if (!equal || (run.length > 0 && !isNoise(reward - run.value, reward))) {
      // A mean that moved is itself the first of those that may not move from here on.
      steps += run.length + (meansOnly ? 0 : 1);
      equalSteps += meansOnly ? Math.max(0, run.length - 1) : run.length + (equal ? 1 : 0);
      run = meansOnly
        ? { length: 1, first: row.step, value: reward }
        : { length: 0, first: Number.NaN, value: Number.NaN };
      highest = Math.max(highest, reward);
      start ??= reward;
      rewardBefore.add(reward);
      if (dead !== undefined) deadBefore.add(dead);
      severalGroups ||= dead !== undefined && dead > 0 && dead < 1;
      return 'seen';
    }
    run = { length: run.length + 1, first: run.length === 0 ? row.step : run.first, value: reward };
    // All rewards equal, the best so far, and groups lost their spread one after the other, or the reward came near: solved.
    const better = start !== undefined && reward > start && reward >= highest - CEILING * (highest - start);
    const near = start !== undefined && rewardBefore.quantile(1) - start >= NEAR * (reward - start);
    if (better && (near || deadBefore.median() >= FADED)) return 'seen';
    const needed = Math.max(
      meansOnly ? numberOf(world, 'points_of_means') : least,
      // As long as little is known, a drought is as likely as at the start.
      start === undefined || (byChance() > 0 && steps < BEFORE) ? fromStart : 0,
      byChance(),
    );
    const series = row.seriesOf('reward');
    if (run.length < needed || series === undefined)
      return meansOnly && start === undefined ? undefined : 'seen';
    return {
      kind: 'all equal',
      sentence: meansOnly
        ? `${from(series, run.first, row.step)} is exactly ${read(reward)} each time: the mean of rewards that differ moves, and this one does not.`
        : `${from(series, run.first, row.step)} is exactly ${read(reward)} for every completion: there was nothing to learn from.`,
      series,
      step: run.first,
      value: reward,
    };
  };
}

const groupsAlive: MonitorRule = {
  id: 'monitor/groups-alive',
  title: 'Some groups have a spread in their rewards, step after step',
  stage: 'monitor',
  level: 'should',
  why: 'A group whose completions all have the same reward has no advantage. Where all are like that, all of the sampling is thrown away, and the steps train nothing.',
  catches: ['ZL-04', 'ADV-04', 'ADV-12'],
  advice:
    'Filter prompts that are always or never solved, enlarge groups, raise the temperature, and check that a group has the completions of one prompt. If the reward rises all the same, check that spread, gradient and reward are logged from the same completions.',
  roles: ['dead_groups', 'reward', 'reward_std', 'grad_norm'],
  settings: {
    most: {
      default: 0.99,
      what: 'Share of groups, 0 to 1, that may be without spread. For a task that is hardly ever solved, 95 of 100 groups are; the others train.',
    },
    points: inARow(
      20,
      'Hard prompts have long droughts: where a share p of the steps before was like it, so many that p to their power is below 1 in 100,000.',
    ),
  },
  watch: (world) =>
    watchJoined<Key>({
      keyOf,
      row: judgeDead(world),
      why: 'neither the share of groups without spread nor the deviation of the rewards is logged',
    }),
};

function judgeDead(world: RuleWorld): (row: Row<Key>) => Violation | 'seen' | undefined {
  const most = numberOf(world, 'most');
  const streak = streakOf(numberOf(world, 'points'));
  let steps = 0;
  let deadSteps = 0;
  let first: number | undefined;
  const recent: number[] = [];
  let [lowest, highest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  /**
   * Prompts that are solved have no spread either, and need none: the reward is above its first, and stays at its best, which
   * noise does not.
   */
  const solved = (): boolean =>
    median(recent) > (first ?? Number.NaN) && median(recent) >= highest - AT_BEST * (highest - lowest);
  /** One and the same reward: rewards-differ says so. */
  let same: number | undefined;
  /** Rewards of the steps in a row without spread and without a gradient. */
  let still: number[] = [];
  return (row) => {
    const reward = row.values.get('reward');
    const grad = row.values.get('grad');
    if (reward !== undefined && Number.isFinite(reward)) {
      first ??= reward;
      recent.push(reward);
      if (recent.length > BEFORE) recent.shift();
      lowest = Math.min(lowest, reward);
      highest = Math.max(highest, reward);
    }
    const dead = row.values.get('dead');
    const deviation = row.values.get('reward std');
    const series = row.seriesOf(dead === undefined ? 'reward std' : 'dead');
    const measured = dead ?? deviation;
    if (measured === undefined || Number.isNaN(measured) || series === undefined) return undefined;
    const bad = dead === undefined ? isNoise(measured, reward ?? 0) : dead > most;
    if (!bad) {
      steps += streak.length + 1;
      deadSteps += streak.length;
    }
    const needed = steps === 0 ? 0 : beyondChance(deadSteps, steps);
    const enough = streak.next(bad, row.step);
    if (streak.length <= 1) same = reward;
    else if (same !== undefined && reward !== undefined && Math.abs(reward - same) > NOISE * Math.abs(same))
      same = undefined;
    const all = dead === undefined || dead === 1;
    if (!bad || !all || (grad !== undefined && grad !== 0)) still = [];
    else if (reward !== undefined && Number.isFinite(reward)) still = [...still, reward].slice(-MOST_STILL);
    if (rises(still)) return withoutSpread(series, streak.from, row, still);
    if (!enough || streak.length < needed || solved() || (all && same !== undefined)) return 'seen';
    return {
      kind: 'dead groups',
      sentence:
        dead === undefined
          ? `${from(series, streak.from, row.step)} is 0 each time: no completion was better than another.`
          : `${from(series, streak.from, row.step)}: ${Math.round(dead * 100)} % of the groups have no spread in their rewards.`,
      series,
      step: streak.from,
      value: measured,
      ...(dead === undefined ? {} : { high: most }),
    };
  };
}

/** What is left of an optimiser's momentum moves a policy for some ten steps. */
const LEAST_STILL = 12;
/** Enough for any trend that matters; Mann-Kendall compares all pairs. */
const MOST_STILL = 60;
/** Standard deviations of Mann-Kendall's statistic; it is computed again at each step, so that chance has many tries. */
const SURELY = 4.5;

const rises = (rewards: readonly number[]): boolean =>
  rewards.length >= LEAST_STILL && mannKendall(rewards).z > SURELY;

function withoutSpread(series: Series, first: number, row: Row<Key>, rewards: readonly number[]): Violation {
  const reward = row.seriesOf('reward')?.name ?? 'the reward';
  const grad = row.values.has('grad')
    ? `, and ${row.seriesOf('grad')?.name ?? 'the gradient norm'} is 0`
    : '';
  return {
    kind: 'rises without spread',
    sentence: `${from(series, first, row.step)} says that no completion was better than another${grad}, while ${reward} rises from ${read(rewards[0] ?? Number.NaN)} to ${read(rewards.at(-1) ?? Number.NaN)}: steps without a gradient teach nothing.`,
    series,
    step: first,
    value: row.values.get('dead') ?? 0,
  };
}

export const rewardRules: readonly MonitorRule[] = [rewardsDiffer, groupsAlive];
