// Values far outside of what a series has been so far. What it has been is told by ranks over a window, so that heavy
// tails widen the band instead of breaking it; and one odd step is no spike, it takes several in a row.
import {
  baseline,
  type MonitorRule,
  type RuleWorld,
  type Series,
  type SeriesRole,
} from '../../../src/index.ts';
import { isPolicyKl } from '../run-kind.ts';
import { from, read, type SeriesJudge, streakOf, watchSeries } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';

interface SpikeSketch extends Pick<MonitorRule, 'id' | 'title' | 'level' | 'why' | 'catches' | 'advice'> {
  readonly roles: readonly SeriesRole[];
  /** Spreads above the median. */
  readonly times: number;
  /** Below this nothing is a spike. */
  readonly floor: number;
  readonly floorWhat: string;
  readonly points: number;
  /** At least so many medians. */
  readonly medians: number;
  /** At least so many times the largest of the window. */
  readonly largest: number;
  /** Falls count as well. */
  readonly both?: boolean;
  readonly fits?: (series: Series, world: RuleWorld) => boolean;
  /** Asked when it would speak, since what else a run logs may be known late. */
  readonly speaks?: (world: RuleWorld) => boolean;
}

/** Steps of which is remembered what is usual: enough for percentiles, few enough to follow a run that changes. */
const WINDOW = 64;
/** Before that a percentile is a guess. */
const WARM_UP = 20;

function spikeRule(sketch: SpikeSketch): MonitorRule {
  const { times, floor, floorWhat, points, medians, largest, both, fits, speaks, ...facts } = sketch;
  return {
    ...facts,
    stage: 'monitor',
    settings: {
      times: {
        default: times,
        what: 'Robust spreads (percentiles of the window) away from the median. Chosen so that heavy tails (log-normal, sigma 1.5) reach it in a row once in some million steps.',
      },
      floor: { default: floor, what: floorWhat },
      points: inARow(points, 'One odd step is no spike.'),
      window: { default: WINDOW, what: 'Logged steps that make the baseline.' },
      warm_up: { default: WARM_UP, what: 'Logged steps before the first is judged.' },
    },
    watch: (world) =>
      watchSeries({
        judge: (series) => (fits?.(series, world) === false ? undefined : judgeSpikes(sketch, world, series)),
        why: `fewer than ${numberOf(world, 'warm_up')} steps are logged`,
      }),
  };
}

/** For a series that never moved, and for values that no limit can exclude. */
const NO_BAND = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };

function judgeSpikes(sketch: SpikeSketch, world: RuleWorld, series: Series): SeriesJudge {
  const usual = baseline(numberOf(world, 'window'));
  const [times, floor, warmUp] = [
    numberOf(world, 'times'),
    numberOf(world, 'floor'),
    numberOf(world, 'warm_up'),
  ];
  const streak = streakOf(numberOf(world, 'points'));
  let held: number[] = [];
  /** What does not need the spread, which is what costs: nearly all values end here. */
  const surely = (): number =>
    Math.max(floor, sketch.medians * Math.abs(usual.median()), sketch.largest * usual.quantile(1));
  const bandOf = (): { readonly low: number; readonly high: number } | undefined => {
    const middle = usual.median();
    const spread = usual.spread(sketch.both);
    if (usual.count < warmUp || !(spread > 0)) return undefined;
    return {
      low: sketch.both === true ? Math.min(-floor, middle - times * spread) : Number.NEGATIVE_INFINITY,
      high: Math.max(surely(), middle + times * spread),
    };
  };
  return {
    point(step, value) {
      if (!Number.isFinite(value)) return undefined;
      if (usual.count < warmUp) {
        usual.add(value);
        return undefined;
      }
      const usualValue = value <= usual.quantile(1) && value >= usual.quantile(0);
      const cheap = usualValue || (sketch.both !== true && value <= surely());
      const { low, high } = (cheap ? undefined : bandOf()) ?? NO_BAND;
      const outside = value > high || value < low;
      const broken = streak.next(outside, step);
      // While it is outside it does not become usual; if it comes back it was one of the tails, and does.
      if (broken) held = [];
      else if (outside) held.push(value);
      else {
        for (const each of held) usual.add(each);
        held = [];
        usual.add(value);
      }
      if (!broken || sketch.speaks?.(world) === false) return 'seen';
      const middle = usual.median();
      return {
        kind: value > high ? 'spike' : 'fall',
        sentence: `${from(series, streak.from, step)} is ${value > high ? 'above' : 'below'} ${read(value > high ? high : low)}, now ${read(value)}; the median of the steps before is ${read(middle)}.`,
        step: streak.from,
        value,
        ...(sketch.both === true ? { low } : {}),
        high,
      };
    },
    band: bandOf,
  };
}

const gradNorm = spikeRule({
  id: 'monitor/grad-norm-spike',
  title: 'The gradient norm does not rise far above what it has been',
  level: 'should',
  why: 'A gradient norm that jumps and stays is the first sign of a run that diverges; clipping hides it from the loss for a while.',
  catches: ['NUM-05', 'LOSS-12'],
  advice:
    'Look at the batches of these steps, lower the learning rate, and go back to a checkpoint before. Check that gradients are clipped and that accumulated ones are cleared.',
  roles: ['grad_norm'],
  times: 30,
  floor: 10,
  floorWhat: 'A norm below it is no spike: runs begin with as much.',
  points: 2,
  medians: 0,
  largest: 5,
});

const klSpike = spikeRule({
  id: 'monitor/kl-spike',
  title: 'The KL does not rise far above what it has been',
  level: 'should',
  why: 'The policy left what it was in a few updates; what follows is usually text without sense.',
  catches: ['LP-16', 'PPO-06', 'KL-09'],
  advice:
    'Go back to a checkpoint before this step and lower the learning rate, or raise the coefficient of the KL. Look at samples of these steps.',
  roles: ['kl', 'approx_kl'],
  times: 20,
  floor: 1,
  floorWhat: 'Nats a token that are no spike.',
  points: 2,
  medians: 0,
  largest: 5,
  fits: ({ part }) => part === '',
  speaks: isPolicyKl,
});

const rewardSpike = spikeRule({
  id: 'monitor/reward-spike',
  title: 'The reward does not jump far out of what it has been',
  level: 'may',
  why: 'Rewards that jump up are often a hole in the reward, found by the policy; rewards that drop are a policy, a judge or a tool that broke.',
  catches: ['ADV-05', 'ADV-15'],
  advice: 'Read samples from before and after this step, with their rewards.',
  roles: ['reward'],
  times: 20,
  floor: 0,
  floorWhat: 'Rewards closer to 0 than this are never a jump.',
  points: 3,
  medians: 0,
  largest: 0,
  both: true,
  fits: ({ part }) => part === '',
});

const lengthSpike = spikeRule({
  id: 'monitor/length-spike',
  title: 'The length of completions does not jump',
  level: 'may',
  why: 'Completions that suddenly run on have lost their stop token, or learnt that length pays.',
  catches: ['EOS-05', 'EOS-07', 'EOS-01'],
  advice:
    'Read samples of these steps to their end. Check which stop ids the sampler was given, and whether the stop token is trained.',
  roles: ['completion_length'],
  times: 20,
  floor: 16,
  floorWhat: 'Tokens that are no jump.',
  points: 3,
  medians: 3,
  largest: 2,
});

export const spikeRules: readonly MonitorRule[] = [gradNorm, klSpike, rewardSpike, lengthSpike];
