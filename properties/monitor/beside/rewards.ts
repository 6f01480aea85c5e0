// Rewards that are lower than those of healthy runs.
import type { MonitorRule, RuleWorld, Violation } from '../../../src/index.ts';
import { numberOf } from '../world.ts';
import { type Beside, brief, onsetOf, rangeWords, watchBeside } from './levels.ts';
import { behind, whose } from './losses.ts';

export const rewardBeside: MonitorRule = {
  id: 'monitor/reward-beside-baseline',
  title: 'The reward does not stay below that of healthy runs',
  stage: 'monitor',
  level: 'should',
  why: 'A reward that collapses, or stays below that of other seeds at the same step, points to a changed grader, parser or template. Or the policy is pushed away from what it could do.',
  catches: [],
  advice:
    'Read completions of this step beside those of the healthy run: another template, a cut answer and a grader that no longer finds it are seen at once. Then compare rate, KL coefficient and the size of groups.',
  roles: ['reward'],
  settings: {
    gain: {
      default: 0.5,
      what: 'A share of what the baselines gain over their whole course, by which a level may be lower: seeds begin to rise at other steps.',
    },
    margin: { default: 0.2, what: 'A share of the level of the baselines, by which it may be lower.' },
    noise: { default: 4, what: 'Times the noise of single values that a level may lie off besides.' },
    behind: behind(4, 'Seeds of sparse rewards differ by so much.'),
  },
  baseline: true,
  watch: (world) =>
    watchBeside(world, {
      suits: ({ part, evaluation }) => part === '' && !evaluation,
      judge: (beside) => judgeReward(world, beside),
      least: 10,
      why: 'no reward of the whole batch is logged',
    }),
};

function judgeReward(world: RuleWorld, beside: Beside): Violation | 'seen' | undefined {
  const { series, baselines, noise, now, from, last, expectedAt } = beside;
  const gain = Math.max(...baselines.map(({ start, end }) => Math.max(0, end - start)));
  const allowedAt = (step: number): number => {
    const { low, spread } = expectedAt(step, numberOf(world, 'behind'));
    const off = [
      numberOf(world, 'gain') * gain,
      numberOf(world, 'margin') * Math.abs(low),
      numberOf(world, 'noise') * noise,
    ];
    return low - spread - Math.max(...off);
  };
  const allowed = allowedAt(from);
  if (!(now < allowed)) return 'seen';
  const onset = onsetOf(beside, (level, step) => level < allowedAt(step));
  return {
    kind: 'lower',
    sentence: `${series.name} is below the baseline from step ${onset} on, now ${brief(now)} at step ${last}; ${whose(world)} there at ${rangeWords(expectedAt(last, 1).middle)}.`,
    step: onset,
    value: now,
    low: allowed,
  };
}
