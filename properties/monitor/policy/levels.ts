// Series of a policy that change their level from one logged point to the next, and stay there. The statistic is that of
// departures.ts; the numbers say what healthy runs do not reach between two points, each beside its rule.
import type { MonitorRule, RuleWorld, Series, Setting, Watch } from '../../../src/index.ts';
import { type Departure, judgeDepartures } from '../departures.ts';
import { isPolicyKl } from '../run-kind.ts';
import { at, read, watchCourses, watchSeries } from '../watches.ts';
import { hasRollouts, inARow, numberOf } from '../world.ts';
import { rewardRose } from './reward-beside.ts';
import { type SuddenOptions, suddenChange } from './sudden.ts';

interface LevelSketch
  extends Pick<MonitorRule, 'id' | 'title' | 'level' | 'why' | 'catches' | 'advice' | 'roles'> {
  readonly departures: (world: RuleWorld, series: Series) => readonly Departure[];
  readonly settings: Readonly<Record<string, Setting>>;
  readonly fits?: (series: Series) => boolean;
  readonly speaks?: (world: RuleWorld) => boolean;
}

/** Steps of which is remembered what is usual: enough for percentiles, few enough to follow a run that changes. */
const WINDOW = 64;
/** Before that a level is a guess: eight values bound the median of what they are drawn from at 99 %. */
const WARM_UP = 8;
/** For a few wild points, by percentiles, more are needed. */
const SPIKE_WARM_UP = 20;

function levelRule({ departures, settings, fits, speaks, ...facts }: LevelSketch): MonitorRule {
  return {
    ...facts,
    stage: 'monitor',
    settings: {
      ...settings,
      window: { default: WINDOW, what: 'Logged steps that make the baseline.' },
      warm_up: { default: WARM_UP, what: 'Logged steps before the first is judged.' },
    },
    watch: (world) =>
      watchSeries({
        judge: (series) =>
          fits?.(series) === false
            ? undefined
            : judgeDepartures(world, series, {
                window: numberOf(world, 'window'),
                departures: departures(world, series),
                ...(speaks === undefined ? {} : { speaks }),
              }),
        why: {
          least: numberOf(world, 'warm_up') + 1,
          otherwise: 'none of its values could be compared with those before',
        },
      }),
  };
}

const spikes = (times: number, floor: number, points: number, floorWhat: string) => ({
  times: {
    default: times,
    what: 'Robust spreads (percentiles of the window) away from the median. Chosen so that heavy tails (log-normal, sigma 1.5) reach it in a row once in some million steps.',
  },
  floor: { default: floor, what: floorWhat },
  points: inARow(points, 'One odd step is no spike.'),
});

const lasting = (points: number): Setting => ({
  default: points,
  what: 'So many logged steps at the new level, of which one in four may be at the old one.',
});

/** A whole completion has hundreds of tokens; a sum over them is held to as many times what a token is. */
const OF_COMPLETIONS = 100;

const klSpike = levelRule({
  id: 'monitor/kl-spike',
  title: 'The KL does not rise far above what it has been',
  level: 'should',
  why: 'The policy left what it was in a few updates; what follows is usually text without sense.',
  catches: ['LP-16', 'PPO-06', 'KL-09'],
  advice:
    'Go back to a checkpoint before this step and lower the learning rate, or raise the coefficient of the KL. Look at samples of these steps.',
  roles: ['kl', 'approx_kl'],
  settings: {
    ...spikes(20, 1, 2, 'Nats per token that are no spike.'),
    lasting_share: {
      default: 0.1,
      what: 'Multiple of that floor at which the new level stays: runs with a coefficient of 0.001 to 0.04 slowly reach 0.1 nats per token. Growth from point to point does not count, however far it goes: see kl-size.',
    },
    lasting_points: lasting(8),
  },
  departures: (world, { part }) => {
    const scale = part === 'sequence' ? OF_COMPLETIONS : 1;
    return [
      {
        times: numberOf(world, 'times'),
        floor: scale * numberOf(world, 'floor'),
        points: numberOf(world, 'points'),
        medians: 0,
        largest: 5,
        warmUp: Math.max(SPIKE_WARM_UP, numberOf(world, 'warm_up')),
      },
      {
        // Updates of one size make a KL grow with the square of their number, and a warm-up with its fourth power: by a
        // factor of 1.6 at most from the eighth point to the ninth.
        times: 8,
        floor: scale * numberOf(world, 'floor') * numberOf(world, 'lasting_share'),
        points: numberOf(world, 'lasting_points'),
        medians: 8,
        largest: 3,
        warmUp: numberOf(world, 'warm_up'),
        mostly: true,
      },
    ];
  },
  fits: ({ part }) => part === '' || part === 'sequence',
  speaks: isPolicyKl,
});

const rewardSpike = levelRule({
  id: 'monitor/reward-spike',
  title: 'The reward does not jump far out of what it has been',
  level: 'may',
  why: 'Rewards that jump up are often a hole in the reward, found by the policy; rewards that drop are a policy, a judge or a tool that broke.',
  catches: ['ADV-05', 'ADV-15'],
  advice: 'Read samples from before and after this step, with their rewards.',
  roles: ['reward'],
  settings: spikes(20, 0, 3, 'Rewards closer to 0 than this are never a jump.'),
  departures: (world) => [
    {
      times: numberOf(world, 'times'),
      floor: numberOf(world, 'floor'),
      points: numberOf(world, 'points'),
      medians: 0,
      largest: 0,
      warmUp: Math.max(SPIKE_WARM_UP, numberOf(world, 'warm_up')),
      both: true,
    },
  ],
  fits: ({ part }) => part === '',
});

const lengthSpike: MonitorRule = {
  id: 'monitor/length-spike',
  title: 'The length of completions does not jump and stay',
  stage: 'monitor',
  level: 'should',
  why: 'Completions that suddenly run on have lost their stop token or learnt that length pays; those that suddenly end have found that saying nothing pays. Learning changes the length slowly.',
  catches: ['EOS-05', 'EOS-07', 'EOS-01', 'PEN-01'],
  advice:
    'Read samples of these steps to their end. Check which stop ids the sampler was given, and whether the stop token is trained.',
  roles: ['completion_length'],
  settings: {
    factor: { default: 3, what: 'Between the level before and the new one, which stays.' },
    floor: { default: 8, what: 'Tokens: where neither level has as many, nothing is a jump.' },
  },
  watch: (world) => watchSudden(world, 'both', () => true),
};

/** Sudden changes that stay; where the reward rose with them, other prompts have come, or the policy found what is asked for. */
export function watchSudden(
  world: RuleWorld,
  direction: SuddenOptions['direction'],
  fits: (series: Series) => boolean,
): Watch {
  return watchCourses(world, {
    judge: (series, course) => {
      if (series.part !== '' || !fits(series) || !hasRollouts(world)) return undefined;
      const change = suddenChange(course, { factor: numberOf(world, 'factor'), direction });
      if (change === undefined || Math.max(change.before, change.now) < numberOf(world, 'floor'))
        return 'seen';
      const { step, value } = change;
      if (rewardRose(world, step)) return 'seen';
      const way = change.rises ? 'rises' : 'falls';
      return {
        kind: way,
        sentence: `${at(series, step)} ${way} from ${read(change.before)} and stays, now ${read(change.now)}.`,
        step,
        value,
      };
    },
    least: SUDDEN,
    why: { least: SUDDEN, otherwise: 'the run has no rollouts' },
  });
}

/** Before that there are not enough on both sides. */
const SUDDEN = 20;

export const levelRules: readonly MonitorRule[] = [klSpike, rewardSpike, lengthSpike];
