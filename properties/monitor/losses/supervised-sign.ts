// A cross-entropy below 0.
import type { MonitorRule, RuleWorld, Series } from '../../../src/index.ts';
import { from, read, watchStreaks } from '../watches.ts';
import { inARow, numberOf, someSeries } from '../world.ts';

export const supervisedNotNegative: MonitorRule = {
  id: 'monitor/supervised-loss-not-negative',
  title: 'A cross-entropy is not negative',
  stage: 'monitor',
  level: 'must',
  why: 'A probability is at most 1, so that its negative logarithm is at least 0. A negative one has its sign turned: the model is trained to say anything but the answer.',
  catches: ['KL-01', 'LOSS-03'],
  advice:
    'Check the sign of the loss that goes into `backward`, and whether a term is subtracted that grows without bound.',
  roles: ['loss', 'sft_loss'],
  settings: {
    tolerance: { default: 1e-3, what: 'Nats below 0 that are rounding.' },
    points: inARow(1, 'It is never negative.'),
  },
  watch: (world) =>
    watchStreaks(world, {
      reading: (series, value) => {
        if (!isCrossEntropy(world, series)) return undefined;
        return {
          bad: value < -numberOf(world, 'tolerance'),
          kind: 'negative',
          sentence: (first, last) =>
            `${from(series, first, last)} is ${read(value)}; a cross-entropy is at least 0.`,
          low: 0,
        };
      },
      why: 'nothing says that the loss is a cross-entropy: other objectives may be negative',
    }),
};

/** Not `nll`, which of a density has either sign. Its name says so, or the run logs the accuracy over tokens beside it and neither rewards nor preferences. */
export function isCrossEntropy(world: RuleWorld, { role, name, part }: Series): boolean {
  if (role === 'sft_loss') return part === '' || !/weighted|advantage/.test(part);
  if (/(?:^|\/)(?:gpt_loss|lm_loss|lm loss|ce_loss|cross_entropy_loss|xent)$/i.test(name)) return true;
  return part === '' && logsTokenAccuracy(world);
}

const logsTokenAccuracy = (world: RuleWorld): boolean => marksTokens(world) && !hasRewards(world);
const marksTokens = someSeries(
  ({ name, evaluation }) => /(?:^|\/)mean_token_accuracy$/.test(name) && !evaluation,
);
const hasRewards = someSeries(({ role, name }) => role === 'reward' || /(?:^|\/)rewards?\//.test(name));
