// Spikes of losses and of their gradients. Those of a policy's series are in policy/levels.ts.
import type { MonitorRule, RuleWorld, Series, SeriesRole } from '../../../src/index.ts';
import { judgeDepartures } from '../departures.ts';
import { watchSeries } from '../watches.ts';
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
  /** The least spread, as a share of the median. */
  readonly leastSpread?: number;
  readonly fits?: (series: Series, world: RuleWorld) => boolean;
  /** Asked when it would speak, since what else a run logs may be known late. */
  readonly speaks?: (world: RuleWorld) => boolean;
}

/** Steps of which is remembered what is usual: enough for percentiles, few enough to follow a run that changes. */
const WINDOW = 64;
/** Before that a percentile is a guess. */
const WARM_UP = 20;

function spikeRule(sketch: SpikeSketch): MonitorRule {
  const { times, floor, floorWhat, points, medians, largest, leastSpread, fits, speaks, ...facts } = sketch;
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
        judge: (series) =>
          fits?.(series, world) === false
            ? undefined
            : judgeDepartures(world, series, {
                window: numberOf(world, 'window'),
                departures: [
                  {
                    times: numberOf(world, 'times'),
                    floor: numberOf(world, 'floor'),
                    points: numberOf(world, 'points'),
                    warmUp: numberOf(world, 'warm_up'),
                    medians,
                    largest,
                    ...(leastSpread === undefined ? {} : { leastSpread }),
                  },
                ],
                ...(speaks === undefined ? {} : { speaks }),
              }),
        why: { least: numberOf(world, 'warm_up') + 1, otherwise: 'none of its values could be judged' },
      }),
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

export const spikeRules: readonly MonitorRule[] = [gradNorm];
