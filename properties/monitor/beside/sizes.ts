// Numbers of another order than in healthy runs: gradient norms, and lengths of completions.
import { type MonitorRule, median, type RuleWorld, type Violation } from '../../../src/index.ts';
import { numberOf } from '../world.ts';
import { type Beside, brief, onsetOf, rangeWords, watchBeside } from './levels.ts';
import { whose } from './losses.ts';

export const gradNormBeside: MonitorRule = {
  id: 'monitor/grad-norm-beside-baseline',
  title: 'The gradient norm is of the order of that of healthy runs',
  stage: 'monitor',
  level: 'should',
  why: 'The norm of the gradient follows from model, data and the scale of the loss. One of another order is a loss that is summed where it should be averaged, a scale that is not undone, weights that have left their place, or parameters without a gradient.',
  catches: ['NUM-05'],
  advice:
    'Compare the scale of the loss (mean over tokens or sum, division by accumulation steps), the number of trained parameters, and the learning rate with those of the healthy run.',
  roles: ['grad_norm'],
  settings: {
    times: {
      default: 10,
      what: 'Times the highest level of any baseline, or that part of the lowest. Seeds and batch sizes make less than 3.',
    },
    peak: {
      default: 50,
      what: 'Times the highest single value of any baseline: norms have heavy tails, of which other seeds see others.',
    },
  },
  baseline: true,
  watch: (world) =>
    watchBeside(world, {
      suits: ({ part, evaluation }) => part === '' && !evaluation,
      judge: (beside) =>
        judgePeak(world, beside) ?? judgeOrder(world, beside, 'of another order than in the baseline'),
      least: 10,
      why: 'no gradient norm of the whole model is logged',
    }),
};

export const lengthBeside: MonitorRule = {
  id: 'monitor/length-beside-baseline',
  title: 'Completions are about as long as those of healthy runs have been',
  stage: 'monitor',
  level: 'should',
  why: 'Completions that grow or shrink far beyond what healthy runs have seen are a stop token that is no longer sampled, a length that is rewarded, or a prompt that ends elsewhere.',
  catches: [],
  advice:
    'Read the longest and the shortest completions of this step; compare the stop tokens, the limit of length, and what the reward does with length.',
  roles: ['completion_length'],
  settings: {
    times: {
      default: 2,
      what: 'Times the longest mean that any baseline has had at any step, or that part of the shortest.',
    },
  },
  baseline: true,
  watch: (world) =>
    watchBeside(world, {
      suits: ({ part, evaluation }) => part === '' && !evaluation,
      judge: (beside) => judgeOrder(world, beside, 'far from any length in the baseline'),
      least: 10,
      why: 'no length of completions is logged',
    }),
};

/** Levels against anything that the baselines had at any step: healthy courses differ in when they move. */
function judgeOrder(world: RuleWorld, beside: Beside, words: string): Violation | 'seen' | undefined {
  const { series, baselines, now, last, from, expectedAt } = beside;
  const { low, high, spread } = expectedAt(Number.MAX_VALUE, Number.POSITIVE_INFINITY);
  // Of micro-steps, most norms are logged as 0; one that is always 0 is for gradient-flows.
  if (!(low > 0) || now === 0) return undefined;
  const times = numberOf(world, 'times');
  const [least, most] = [low / times, (high + spread) * times];
  const wrong = (level: number): boolean => level < least || level > most;
  // A few steps without anything to learn have next to no gradient: small is what the whole run is.
  if (!wrong(now) || (now < least && median(beside.course.means) >= least)) return 'seen';
  const onset = onsetOf(beside, (level) => level > most === now > most && wrong(level));
  const usual = rangeWords(baselines.map((each) => each.median));
  return {
    kind: now > most ? 'larger' : 'smaller',
    sentence: `${series.name} is ${words}: ${brief(now)} from step ${from} to ${last}, ${onset < from ? `so from step ${onset} on` : 'and not so before'}; ${whose(world)} at ${usual} (median).`,
    step: onset,
    value: now,
    low: least,
    high: most,
  };
}

function judgePeak(world: RuleWorld, { series, course, baselines }: Beside): Violation | undefined {
  const peak = Math.max(...baselines.map((each) => each.peak));
  const most = numberOf(world, 'peak') * peak;
  const at = course.means.findIndex((mean) => mean > most);
  if (at < 0 || !(peak > 0)) return undefined;
  const step = course.steps[at] as number;
  const value = course.means[at] as number;
  return {
    kind: 'peak',
    sentence: `${series.name} at step ${step} is ${brief(value)}; the highest of the baseline is ${brief(peak)}.`,
    step,
    value,
    high: most,
  };
}
