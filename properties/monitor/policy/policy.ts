// What an update does to the policy: its ratio to what was sampled from, how much of it is clipped, its advantages.
import type { MonitorRule, RuleWorld, Violation } from '../../../src/index.ts';
import { isPolicyRun } from '../run-kind.ts';
import { from, type Row, read, streakOf, watchJoined, watchStreaks } from '../watches.ts';
import { declaredNumber, declaredText, inARow, isOn, numberOf } from '../world.ts';
import { samplingGap } from './sampling-gap.ts';

const ratioOne: MonitorRule = {
  id: 'monitor/first-ratio-is-one',
  title: 'Where every batch is used for one update, the ratio is 1 and nothing is clipped',
  stage: 'monitor',
  level: 'must',
  why: 'The policy that is updated is the one that sampled. A ratio other than 1 means that the two passes scored different rows, temperatures, masks or dropouts, and the update is towards their difference.',
  catches: ['LP-16', 'LP-05', 'LP-11'],
  advice:
    'Score the same rows twice without a step between and compare token by token: dropout, padding, packing and temperature are the usual differences. `lossproof check --only "update/*"` does it.',
  roles: ['ratio', 'clip_fraction'],
  settings: {
    on_policy: {
      default: 'auto',
      what: '`true` where each batch is used for one update; `auto` judges where the run declares it (num_iterations 1 and one update a generation); `false` never.',
    },
    tolerance: {
      default: 0.02,
      what: 'Distance of a mean ratio from 1: two passes in bfloat16 differ by that much.',
    },
    clipped: {
      default: 0.01,
      what: 'Share of tokens, 0 to 1, that rounding may push over the bound of clipping.',
    },
    points: inARow(2, 'One batch may have been split unevenly.'),
  },
  watch: (world) =>
    watchStreaks(world, {
      reading: (series, value) => {
        if (series.part !== '' || !isOnPolicy(world)) return undefined;
        const ratio = series.role === 'ratio';
        const allowed = ratio ? numberOf(world, 'tolerance') : numberOf(world, 'clipped');
        const what = ratio
          ? `is ${read(value)}, not 1`
          : `is ${read(value)}: so much was clipped that should have a ratio of 1`;
        return {
          bad: ratio ? Math.abs(value - 1) > allowed : value > allowed,
          kind: ratio ? 'ratio' : 'clipped',
          sentence: (first, last) =>
            `${from(series, first, last)} ${what}, although each batch is used for one update.`,
          low: ratio ? 1 - allowed : 0,
          high: ratio ? 1 + allowed : allowed,
        };
      },
      why: 'the run does not declare that each batch is used for one update; `--set monitor/first-ratio-is-one.on_policy=true` does',
    }),
};

/** TRL: `steps_per_generation` micro-batches are generated at once, `gradient_accumulation_steps` of them make an update. */
function isOnPolicy(world: RuleWorld): boolean {
  if (isOn(world, 'on_policy')) return true;
  if (world.setting('on_policy') !== 'auto') return false;
  if (declaredNumber(world, 'num_iterations') !== 1) return false;
  const generated = declaredNumber(world, 'steps_per_generation');
  const accumulated = declaredNumber(world, 'gradient_accumulation_steps') ?? 1;
  // Where an inference engine samples, ratios may be corrected by what it said.
  return (
    generated !== undefined &&
    generated <= accumulated &&
    declaredText(world, 'use_vllm')?.toLowerCase() !== 'true'
  );
}

const meanRatio: MonitorRule = {
  id: 'monitor/mean-ratio',
  title: 'The mean ratio stays near 1',
  stage: 'monitor',
  level: 'should',
  why: 'Over what a policy sampled, the ratio of any other policy to it is 1 in the mean. Far from that, the ratio is to log-probabilities of other tokens or of another distribution.',
  catches: ['LP-16', 'LP-05', 'LP-11', 'PAD-08'],
  advice:
    'Check that old log-probabilities belong to the same rows after shuffling and re-ordering, and that both passes use the same temperature.',
  roles: ['ratio'],
  settings: {
    most: {
      default: 0.5,
      what: 'Distance of the mean from 1. Ratios have heavy tails, so that means of small batches are off.',
    },
    points: inARow(3, 'A batch may be off by chance.'),
  },
  watch: (world) =>
    watchStreaks(world, {
      reading: (series, value) => {
        if (series.part !== '') return undefined;
        const most = numberOf(world, 'most');
        return {
          bad: Math.abs(value - 1) > most,
          kind: 'far from 1',
          sentence: (first, last) =>
            `${from(series, first, last)} is ${read(value)}, more than ${read(most)} away from 1.`,
          low: 1 - most,
          high: 1 + most,
        };
      },
      why: { otherwise: 'no ratio that is a number was logged' },
    }),
};

const clipped: MonitorRule = {
  id: 'monitor/clip-fraction',
  title: 'Less than half of the tokens are clipped',
  stage: 'monitor',
  level: 'should',
  why: 'Clipped tokens are not trained. With half of all tokens beyond the bound, the policy has moved too far from what was sampled, or the two were scored differently.',
  catches: ['LP-16', 'PPO-01', 'PPO-05'],
  advice:
    'Use fewer updates a batch or a smaller learning rate, and check that the first update of a batch has a ratio of 1.',
  roles: ['clip_fraction'],
  settings: {
    most: {
      default: 0.5,
      what: 'Share of tokens, 0 to 1. Ratios of whole sequences are clipped for up to a fifth in healthy runs.',
    },
    points: inARow(5, 'A batch may be odd.'),
  },
  watch: (world) =>
    watchStreaks(world, {
      reading: (series, value) => {
        // Of a supervised run it is the share of steps whose gradient was clipped.
        if (!isPolicyRun(world)) return undefined;
        const high = numberOf(world, 'most');
        return {
          bad: value > high,
          kind: 'above',
          sentence: (first, last) => `${from(series, first, last)} is ${read(value)}, above ${read(high)}.`,
          high,
        };
      },
      why: 'the run has no policy: what is clipped there are gradients',
    }),
};

const centred: MonitorRule = {
  id: 'monitor/advantages-centred',
  title: 'Advantages are not all of one sign',
  stage: 'monitor',
  level: 'may',
  why: 'Advantages less a baseline spread around 0. If their mean is further from 0 than they spread, every completion is pushed the same way, and the update says nothing of which is better.',
  catches: ['ADV-03', 'ADV-06', 'VAL-01'],
  advice:
    'Check what the baseline is taken over (the group of the same prompt), and that padding is left out. Objectives without a baseline are like that by design: leave the rule out there.',
  roles: ['advantage_mean', 'advantage_std'],
  settings: {
    times: {
      default: 1,
      what: 'Standard deviations. Means over tokens are off 0 where long completions are the worse ones, by a fraction of one.',
    },
    normalised: {
      default: 'auto',
      what: '`true` where advantages are divided by their deviation, so that a mean is judged without one; `auto` where the run declares an estimator that does (`adv_estimator` gae, grpo).',
    },
    points: inARow(10, 'With the same sign. Small batches are off by chance.'),
  },
  watch: (world) => {
    const streak = streakOf(numberOf(world, 'points'));
    let sign = 0;
    return watchJoined<'mean' | 'std'>({
      keyOf: ({ role, part }) =>
        part !== ''
          ? undefined
          : role === 'advantage_mean'
            ? 'mean'
            : role === 'advantage_std'
              ? 'std'
              : undefined,
      row: (row) => judge(row),
      why: {
        keys: { mean: 'mean of the advantages', std: 'deviation of the advantages' },
        otherwise: 'no step has both the mean and the deviation of its advantages',
      },
    });

    function judge(row: Row<'mean' | 'std'>): Violation | 'seen' | undefined {
      const mean = row.values.get('mean');
      const deviation = row.values.get('std') ?? (isNormalised(world) ? 1 : undefined);
      const series = row.seriesOf('mean');
      if (mean === undefined || deviation === undefined || series === undefined) return undefined;
      if (!Number.isFinite(mean) || !Number.isFinite(deviation)) return undefined;
      const off = deviation > 0 && Math.abs(mean) > numberOf(world, 'times') * deviation;
      if (Math.sign(mean) !== sign) streak.next(false, row.step);
      sign = Math.sign(mean);
      if (!streak.next(off, row.step)) return 'seen';
      return {
        kind: 'one-sided',
        sentence: `${from(series, streak.from, row.step)} is ${read(mean)} with a deviation of ${read(deviation)}: nearly all advantages have one sign.`,
        series,
        step: streak.from,
        value: mean,
      };
    }
  },
};

function isNormalised(world: RuleWorld): boolean {
  if (world.setting('normalised') !== 'auto') return isOn(world, 'normalised');
  const estimator = declaredText(world, 'adv_estimator', 'algorithm.adv_estimator');
  return (
    (estimator === 'gae' || estimator === 'grpo') &&
    declaredText(world, 'norm_adv_by_std_in_grpo', 'algorithm.norm_adv_by_std_in_grpo')?.toLowerCase() !==
      'false'
  );
}

export const policyRules: readonly MonitorRule[] = [ratioOne, meanRatio, clipped, samplingGap, centred];
