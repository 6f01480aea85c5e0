// A run that learns next to nothing where healthy runs have learnt.
import {
  isHigherBetter,
  type MonitorRule,
  median,
  type RuleWorld,
  type Violation,
} from '../../../src/index.ts';
import { isMainLoss } from '../losses/main-loss.ts';
import { isReinforced } from '../run-kind.ts';
import { numberOf } from '../world.ts';
import { type Beside, brief, watchBeside } from './levels.ts';
import { whose } from './losses.ts';

/**
 * What the run gained, level at the start less level now, over what the baseline that gained least had gained in the middle of
 * the steps from a `behind`-th of its own on; of a reward, which begins to rise when it may, at their worst. Judged where that is
 * `clear` times the noise of single values: the difference of a median of `FIRST` and of one of more values has a deviation of 0.8
 * of that, so that a healthy run which gains as much is 3.7 deviations away from a quarter of it.
 */
export const improvementBeside: MonitorRule = {
  id: 'monitor/improvement-beside-baseline',
  title: 'A run improves where healthy runs have improved',
  stage: 'monitor',
  level: 'should',
  why: 'A rate of 0, a detached loss, frozen weights or an optimiser that holds other parameters leave a curve that is only noise. A healthy run tells how much there was to gain by this step.',
  catches: [],
  advice:
    'Check the learning rate and its schedule, that the optimiser holds the parameters that are trained, and that rewards tell good completions from bad ones.',
  roles: ['loss', 'sft_loss', 'reward'],
  settings: {
    share: { default: 0.25, what: 'Smallest share of the gain of the baselines that a run must reach.' },
    clear: {
      default: 4,
      what: 'Times the noise of single values, that the baselines must have gained for it to be told.',
    },
    least: { default: 0.05, what: 'A share of the level at the start, that the baselines must have gained.' },
    behind: {
      default: 2,
      what: 'A run may be so many times slower than the baselines, and twice as many times where rewards are sparse.',
    },
  },
  baseline: true,
  watch: (world) =>
    watchBeside(world, {
      suits: (series) =>
        !series.evaluation &&
        (series.role === 'reward'
          ? series.part === ''
          : isMainLoss(series) && !isPolicyLoss(world, series.role)),
      judge: (beside) => judgeGain(world, beside),
      least: 24,
      why: 'no loss that has a size of its own, and no reward, is logged',
    }),
};

const FIRST = 5;
/** Where the level at the start is that of the baselines: a share of what they gained. */
const SAME_START = 0.25;

function isPolicyLoss(world: RuleWorld, role: string | undefined): boolean {
  return role === 'loss' && isReinforced(world);
}

function judgeGain(world: RuleWorld, beside: Beside): Violation | 'seen' | undefined {
  const { series, course, baselines, noise, now, from, last, expectedAt } = beside;
  const higher = isHigherBetter(series.role);
  const behind = numberOf(world, 'behind') * (higher ? 2 : 1);
  const { low, middle } = expectedAt(from, behind);
  // And at the last values themselves: a stage of a curriculum may have begun.
  const { middle: there } = expectedAt(last, last / Math.max(1, from));
  // Of each baseline the start; the level of the one that has come least far.
  const starts = baselines.map(({ start }) => start);
  const theirs = higher ? low - Math.max(...starts) : Math.min(...starts) - Math.max(middle[1], there[1]);
  const start = median(course.means.slice(0, FIRST));
  const size = Math.max(...starts.map(Math.abs));
  if (theirs < Math.max(numberOf(world, 'clear') * noise, numberOf(world, 'least') * size)) return undefined;
  // Who begins where the others have come to has less to gain.
  const ahead = higher ? start - Math.max(...starts) : Math.min(...starts) - start;
  if (ahead > SAME_START * theirs) return undefined;
  const gained = higher ? now - start : start - now;
  if (gained >= numberOf(world, 'share') * theirs) return 'seen';
  return {
    kind: 'no gain',
    sentence: `${series.name} goes from ${brief(start)} to ${brief(now)} by step ${last}; ${whose(world)} ${brief(theirs)} better at that step than at the start.`,
    step: course.steps[0] as number,
    value: now,
    ...(higher ? { low: start + theirs } : { high: start - theirs }),
  };
}
