// A loss that lies above those of healthy runs: from the start, all along, or from some step on.
import type { MonitorRule, RuleWorld, Series, Violation } from '../../../src/index.ts';
import { isMainLoss } from '../losses/main-loss.ts';
import { isReinforced } from '../run-kind.ts';
import { numberOf } from '../world.ts';
import { type Beside, brief, firstOf, onsetOf, rangeWords, watchBeside } from './levels.ts';

const OF_POLICY = 'the loss of a policy has no size of its own';

/** How often slower a healthy run may be. */
export const behind = (times: number, why: string) => ({
  default: times,
  what: `How many times slower than the baselines a run may be: it is compared with their worst value from that share of its steps on. ${why}`,
});

const NOISE = {
  default: 4,
  what: 'Times the noise of single values that a level may lie off besides; the noise of a level is less than half of that.',
};

export const lossStartBeside: MonitorRule = {
  id: 'monitor/loss-start-beside-baseline',
  title: 'The loss begins where that of healthy runs begins',
  stage: 'monitor',
  level: 'should',
  why: 'The first losses are those of the model as it was loaded, on the data as it is fed. Where healthy runs begin elsewhere, the labels are others, or the weights, the template or the way of averaging; a loss that falls afterwards hides it.',
  catches: [],
  advice:
    "Look at the labels of one batch (`lossproof view`, `lossproof trace`): shifted or shuffled targets, a template that is not the model's, a prompt that is trained as well. Then check that the weights were loaded, and whether the loss is a mean or a sum.",
  roles: ['loss', 'sft_loss'],
  settings: {
    margin: {
      default: 0.5,
      what: 'A share of the highest loss that a baseline has had by then, by which it may be higher.',
    },
    noise: NOISE,
  },
  baseline: true,
  watch: (world) =>
    watchBeside(world, {
      suits: (series) => isLoss(world, series) && !series.evaluation,
      judge: (beside) => judgeStart(world, beside),
      least: FIRST,
      why: OF_POLICY,
    }),
};

/** Values at the start whose median is the level there. */
const FIRST = 5;

/** Once: later values say nothing of the start. Against anything that a baseline had up to there, however early. */
function judgeStart(world: RuleWorld, beside: Beside): Violation | 'seen' | undefined {
  const { series, course, baselines, noise, expectedAt } = beside;
  // Of a run that is logged more often, steps before the first of a baseline are not compared.
  const begins = firstOf(beside);
  const from = course.steps.findIndex((step) => step >= begins);
  const values = from < 0 ? [] : course.means.slice(from, from + FIRST);
  if (values.length < FIRST) return undefined;
  const [level = Number.NaN] = values.toSorted((a, b) => a - b).slice(FIRST >> 1);
  const step = course.steps[from] as number;
  const { high, spread } = expectedAt(course.steps[from + FIRST - 1] as number, Number.POSITIVE_INFINITY);
  const allowed =
    high + spread + Math.max(numberOf(world, 'margin') * Math.abs(high), numberOf(world, 'noise') * noise);
  if (!(level > allowed)) return 'seen';
  const usual = rangeWords(baselines.map(({ start }) => start));
  return {
    kind: 'start',
    sentence: `${series.name} begins at ${brief(level)} (median of ${FIRST} from step ${step} on); ${whose(world)} at ${usual}.`,
    step,
    value: level,
    high: allowed,
  };
}

export const lossBeside: MonitorRule = {
  id: 'monitor/loss-beside-baseline',
  title: 'The loss comes down to that of healthy runs, and stays there',
  stage: 'monitor',
  level: 'should',
  why: 'A loss may fall in a shapely curve and stop at a floor that no healthy run has, or leave it later. Alone the curve looks fine.',
  catches: [],
  advice:
    'A floor that is too high from the start is of the data: shuffled or shifted labels, another template. One that is left later is of the optimiser: rate, clipping, precision. Compare the settings of both runs.',
  roles: ['loss', 'sft_loss'],
  evaluations: true,
  settings: {
    margin: {
      default: 0.3,
      what: 'A share of the loss of the baselines at this step, by which a level may be higher.',
    },
    start: {
      default: 0.15,
      what: 'A share of the loss that the baselines began with, by which a level may be higher: near 0, losses of two seeds differ by more than a share of themselves.',
    },
    noise: NOISE,
    behind: behind(2, 'Warm-up and schedules of runs of other lengths do not make more.'),
  },
  baseline: true,
  watch: (world) =>
    watchBeside(world, {
      suits: (series) => isLoss(world, series),
      judge: (beside) => judgeLevel(world, beside),
      least: 16,
      why: OF_POLICY,
    }),
};

function judgeLevel(world: RuleWorld, beside: Beside): Violation | 'seen' | undefined {
  const { series, course, baselines, noise, now, from, last, ended, expectedAt, levelAt } = beside;
  if (from < firstOf(beside)) return undefined;
  // An evaluation turns in the end where training goes on: behind the baselines' last, nobody knows when.
  if (series.evaluation && from > Math.max(...baselines.map((each) => each.course.steps.at(-1) ?? 0)))
    return 'seen';
  const began = Math.max(...baselines.map(({ start }) => Math.abs(start)));
  const allowedAt = (step: number): number => {
    const { high, spread } = expectedAt(step, numberOf(world, 'behind'));
    return (
      high +
      spread +
      Math.max(
        numberOf(world, 'margin') * Math.abs(high),
        numberOf(world, 'start') * began,
        numberOf(world, 'noise') * noise,
      )
    );
  };
  // A stage of a curriculum may begin within the last values: what is allowed at any of them is.
  const allowed = Math.max(allowedAt(from), allowedAt(last));
  if (!(now > allowed)) return 'seen';
  const onset = onsetOf(beside, (level, step) => level > allowedAt(step));
  const there = rangeWords(expectedAt(last, 1).middle);
  const levels = course.means.map((_, at) => levelAt(at));
  const best = levels.reduce((at, level, each) => (level < (levels[at] as number) ? each : at), 0);
  const bestWords = `best ${brief(levels[best] as number)} at step ${course.steps[best]}, now ${brief(now)} at step ${last}`;
  const never = onset <= (course.steps[2] ?? onset);
  // What has not come down yet may: that is told when the baselines were half done, or nothing more will come.
  const half = Math.min(...baselines.map((each) => each.course.steps.at(-1) ?? 0)) / 2;
  if (never && !ended && last < half) return 'seen';
  return {
    kind: never ? 'above' : 'left',
    sentence: never
      ? `${series.name} never comes down to the baseline: ${bestWords}; ${whose(world)} there at ${there}.`
      : `${series.name} is above the baseline from step ${onset} on: ${bestWords}; ${whose(world)} there at ${there}.`,
    step: onset,
    value: now,
    high: allowed,
  };
}

/** `runs/good1 is`, `2 baselines are`. */
export function whose({ baseline }: RuleWorld): string {
  const [first, ...others] = baseline?.runs ?? [];
  return others.length === 0 ? `${first?.name ?? 'the baseline'} is` : `${others.length + 1} baselines are`;
}

/** That of a policy is of no size, unless it is said to be supervised. */
function isLoss(world: RuleWorld, series: Series): boolean {
  if (series.role === 'sft_loss') return series.part === '';
  return series.role === 'loss' && (isMainLoss(series) || series.evaluation) && !isReinforced(world);
}
