// What the reward did meanwhile: the same fall of entropy or of length is what a policy has learnt where the reward rises
// with it, and a collapse where it does not.
import { median, noiseOf, type RuleWorld } from '../../../src/index.ts';

/** Points before and behind that are compared: what rises over the whole run has not risen by much in so few. */
const BESIDE = 10;
/** Of single values: the medians of 10 differ by 0.6 of it once in seven times without any change. */
const BETTER = 1.5;

/** The reward behind this step is better than before it, by more than its noise. False where no reward is logged. */
export function rewardRose(world: RuleWorld, step: number): boolean {
  const reward = world
    .series()
    .find(({ role, part, evaluation }) => role === 'reward' && part === '' && !evaluation);
  const course = reward === undefined ? undefined : world.courseOf(reward);
  if (course === undefined) return false;
  const { means, steps } = course;
  const behind = steps.findIndex((each) => each >= step);
  const split = behind < 0 ? means.length : behind;
  const before = means.slice(Math.max(0, split - BESIDE), split);
  const after = means.slice(split, split + BESIDE);
  if (before.length === 0 || after.length === 0) return false;
  return median(after) - median(before) > BETTER * noiseOf(means);
}
