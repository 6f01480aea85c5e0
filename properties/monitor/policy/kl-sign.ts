// An estimate that cannot be negative, and is.
import type { MonitorRule, RuleWorld, Series, Violation } from '../../../src/index.ts';
import { isPolicyKl } from '../run-kind.ts';
import { at, from, read, streakOf, watchSeries } from '../watches.ts';
import { declaredText, inARow, numberOf, textOf } from '../world.ts';

/** exp(d) - d - 1 computed near 1 in bfloat16 is wrong by up to 2^-8 a token, and by much less in the mean. */
const ROUNDING = 1e-3;

const k3Negative: MonitorRule = {
  id: 'monitor/k3-kl-negative',
  title: 'A KL estimate of the kind k3 is not negative',
  stage: 'monitor',
  level: 'must',
  why: 'The estimator k3 = exp(d) - d - 1 is at least 0 for every single token. A negative mean is summed over padding, divided by a wrong count, has its sign turned, or is another estimate than it is said to be.',
  catches: ['KL-13', 'KL-08', 'KL-01', 'KL-03'],
  advice:
    'Check that the KL is taken over the mask of the completions only, from log-probabilities of the same ids under both models, and that its sign is right: `lossproof check --only "kl/*"` compares it token by token.',
  // Between engine and trainer there is one as well.
  roles: ['kl', 'sampling_gap'],
  settings: {
    estimator: {
      default: 'auto',
      what: '`k3` where it is known to be k3 (TRL calls it kl, verl low_var_kl), `other` where it is not; `auto` judges where the name or the run itself says k3.',
    },
    tolerance: { default: ROUNDING, what: 'Nats below 0 that are rounding: that of bfloat16.' },
    points: inARow(1, 'It is never negative.'),
  },
  watch: (world) => {
    let lowest = 0;
    return watchSeries({
      judge: (series) => {
        const streak = streakOf(numberOf(world, 'points'));
        const tolerance = numberOf(world, 'tolerance');
        const estimator = textOf(world, 'estimator').toLowerCase();
        return {
          point(step, value) {
            if (series.part === '' && value < lowest) lowest = value;
            if (!isK3(world, series, estimator) || Number.isNaN(value)) return undefined;
            if (!streak.next(value < -tolerance, step)) return 'seen';
            return {
              kind: 'negative',
              sentence: `${from(series, streak.from, step)} is ${read(value)}; k3 is at least 0 for every token.`,
              step: streak.from,
              value,
              low: 0,
            };
          },
        };
      },
      why: () => {
        const saw = lowest < 0 ? ` (its lowest value is ${read(lowest)}, which k3 cannot be and k1 can)` : '';
        return `neither the name of the series nor the run says that the estimate is k3${saw}; \`--set monitor/k3-kl-negative.estimator=k3\` does`;
      },
    });
  },
};

/** What GRPO's settings in TRL have and those of its other trainers have not: its KL is k3. */
const ONLY_GRPO = 'scale_rewards';

function isK3(world: RuleWorld, { name, part }: Series, said = 'auto'): boolean {
  if (said !== 'auto') return part === '' && (said === 'k3' || said === 'low_var_kl');
  if (/(?:^|[/_])(?:k3|low_var)(?:_kl|[/_]|$)|kl_k3/.test(name)) return true;
  const declared = declaredText(
    world,
    'kl_estimator',
    'kl_loss_type',
    'actor_rollout_ref.actor.kl_loss_type',
    'reference_policy_kl_type',
  );
  if (declared !== undefined) return part === '' && /^(?:k3|low_var_kl)$/.test(declared) && ofLoss(name);
  return part === '' && /(?:^|\/)kl$/.test(name) && world.declared(ONLY_GRPO) !== undefined;
}

/** In verl the KL in the reward has an estimator of its own. */
const ofLoss = (name: string): boolean => !/reward|critic/.test(name);

/** Of single batches; the mean of as many is what is judged. */
const SIGNED = 20;

const klStaysNegative: MonitorRule = {
  id: 'monitor/kl-stays-negative',
  title: 'No estimate of the KL stays negative',
  stage: 'monitor',
  level: 'should',
  why: 'A KL is at least 0. A single mean of the estimator k1 = d may be below by chance, but the mean of many is not. Its sign may be wrong, the samples may come from another policy or temperature, or the series may be a penalty.',
  catches: ['KL-01', 'KL-08', 'LP-05'],
  advice:
    'Which estimator is it? If k3, a single negative value is a fault: `--set monitor/k3-kl-negative.estimator=k3`. If k1, check which of the two log-probabilities is subtracted, and that both are of what was sampled, at its temperature. A value near -1 is usually the mean of -ratio, which is part of a loss and no KL.',
  roles: ['kl', 'approx_kl'],
  settings: {
    points: inARow(SIGNED, 'One batch may be below 0 by chance.'),
    far: {
      default: 0.3,
      what: 'Nats per token below 0 that no batch reaches by chance. Between two policies of one update (`approx_kl`) only this is judged: their samples were trained on.',
    },
    points_far: inARow(5, 'So many such values are no chance.'),
    tolerance: { default: 0.01, what: 'Nats per token below 0, in the mean of these steps.' },
    tolerance_sequences: { default: 0.5, what: 'The same of a KL of whole completions, in nats.' },
    times: {
      default: 5,
      what: 'Standard errors of that mean below 0, from how the same steps spread around it.',
    },
  },
  watch: (world) =>
    watchSeries({
      judge: (series) => {
        const isOfSequences = series.part === 'sequence';
        // A penalty is subtracted from a reward, and logged with its sign by some.
        if ((series.part !== '' && !isOfSequences) || /(?:^|\/)kl_penalty$/.test(series.name))
          return undefined;
        const needed = numberOf(world, 'points');
        const far = streakOf(numberOf(world, 'points_far'));
        const limit = -numberOf(world, 'far');
        const recent: { readonly step: number; readonly value: number }[] = [];
        return {
          point(step, value) {
            if (!Number.isFinite(value) || !isPolicyKl(world) || isK3(world, series)) return undefined;
            if (!isOfSequences && far.next(value < limit, step))
              return farBelow(series, far.from, step, value);
            if (series.role === 'approx_kl') return 'seen';
            recent.push({ step, value });
            if (recent.length > needed) recent.shift();
            if (recent.length < needed) return undefined;
            const values = recent.map((each) => each.value);
            const mean = values.reduce((sum, each) => sum + each, 0) / needed;
            const variance = values.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (needed - 1);
            const error = Math.sqrt(variance / needed);
            const tolerance = numberOf(world, isOfSequences ? 'tolerance_sequences' : 'tolerance');
            if (mean >= -tolerance || mean >= -numberOf(world, 'times') * error) return 'seen';
            const first = recent.find((each) => each.value < 0)?.step ?? step;
            return {
              kind: 'stays negative',
              sentence: `${from(series, first, step)} has a mean of ${read(mean)} (standard error ${read(error)}), now ${read(value)}: no estimator of a KL is below 0 in the mean, and k3 not even once.`,
              step: first,
              value,
              low: 0,
            };
          },
        };
      },
      why: {
        least: numberOf(world, 'points'),
        otherwise: 'the estimate is known to be k3, which k3-kl-negative judges, or is of no policy',
      },
    }),
};

function farBelow(series: Series, first: number, step: number, value: number): Violation {
  return {
    kind: 'far below 0',
    sentence: `${from(series, first, step)} is below 0, now ${read(value)}: no estimator of a KL stays there.${isNearOne(value) ? ' Near -1 is the mean of -ratio while the policy hardly moves: this series is a loss, not a KL.' : ''}`,
    step: first,
    value,
    low: 0,
  };
}

/** A mean of ratios of one update, or of their negative, is so near to 1; a KL is there by chance. */
const NEAR_ONE = 0.05;
const isNearOne = (value: number): boolean => Math.abs(Math.abs(value) - 1) < NEAR_ONE;

const klGrows: MonitorRule = {
  id: 'monitor/kl-size',
  title: 'The KL does not reach a size at which the policies have nothing in common',
  stage: 'monitor',
  level: 'should',
  why: 'Ten nats per token mean that one model finds almost impossible what the other one says: the update was far too large, or both scored different rows.',
  catches: ['KL-08', 'LP-05', 'LP-16', 'PPO-06'],
  advice:
    'Lower the learning rate or raise the coefficient of the KL, and check that policy and reference score the same ids with the same attention mask and positions.',
  roles: ['kl', 'approx_kl'],
  settings: {
    most: {
      default: 10,
      what: 'Nats per token; 10 is the logarithm of 22,000. Series of whole completions are left alone.',
    },
    points: inARow(2, 'One token of a rare kind makes a single mean of k3 as large.'),
    most_update: {
      default: 0.3,
      what: 'Nats per token between the policies before and after an update (`approx_kl`). PPO ends its epochs at 0.01 to 0.05; at 0.3 tokens are typically twice or half as likely as when they were sampled, far beyond the bound of clipping.',
    },
    points_update: inARow(5, 'An update may go too far once.'),
  },
  watch: (world) =>
    watchSeries({
      judge: (series) => {
        if (series.part !== '') return undefined;
        const ofUpdate = series.role === 'approx_kl';
        const streak = streakOf(numberOf(world, ofUpdate ? 'points_update' : 'points'));
        const most = numberOf(world, ofUpdate ? 'most_update' : 'most');
        return {
          point(step, value) {
            if (Number.isNaN(value) || !isPolicyKl(world)) return undefined;
            // Values below 0 are the business of kl-stays-negative.
            if (!streak.next(value > most, step)) return 'seen';
            return {
              kind: 'too large',
              sentence: `${at(series, step)} is ${read(value)} nats per token${ofUpdate ? ' in one update' : ''}, above ${read(most)} since step ${streak.from}.${ofUpdate && isNearOne(value) ? ' Near 1 is the mean of the ratio itself: check that this series is a KL.' : ''}`,
              step: streak.from,
              value,
              high: most,
            };
          },
          band: () => ({ low: 0, high: most }),
        };
      },
      why: {
        get otherwise() {
          return isPolicyKl(world)
            ? 'the KL that is logged is of whole completions'
            : 'no policy is trained in this run, so that its KL may be a sum or of another thing';
        },
      },
    }),
};

export const klRules: readonly MonitorRule[] = [k3Negative, klStaysNegative, klGrows];
