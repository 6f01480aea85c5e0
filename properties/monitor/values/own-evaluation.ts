// A held-out loss that is the training loss.
import type { MonitorRule, RuleWorld, Series } from '../../../src/index.ts';
import { digitsOf } from '../digits.ts';
import { isMainLoss } from '../losses/main-loss.ts';
import { read, watchJoined } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';

/** Significant digits that two losses do not share by chance. */
const DIGITS = 4;
/** Times as many points as the evaluation has: else the training loss may be written down at evaluations only, under both names. */
const MORE = 2;

export const evaluationIsItsOwn: MonitorRule = {
  id: 'monitor/evaluation-is-its-own',
  title: 'The held-out loss is not the training loss of the same step',
  stage: 'monitor',
  level: 'should',
  why: 'Losses of two batches are never equal to the last digit. Where they are, the held-out loss is measured on the training batch, or the wrong variable is logged: overfitting would not be seen, and the best checkpoint is chosen by noise.',
  catches: [],
  advice:
    'Look at which data loader the evaluation reads, and at which variable is logged. If both names stand for one number on purpose, leave one of them out.',
  roles: ['loss', 'sft_loss'],
  evaluations: true,
  settings: { points: inARow(5, 'Evaluations whose loss is that of the training step.') },
  watch: (world) => {
    const needed = numberOf(world, 'points');
    let [same, from] = [0, Number.NaN];
    let [training, held]: (Series | undefined)[] = [];
    return watchJoined<'train' | 'held'>({
      keyOf: (series) => {
        if (!isMainLoss(series)) return undefined;
        if (series.evaluation) held ??= series;
        else training ??= series;
        return series.evaluation ? 'held' : 'train';
      },
      row: ({ step, values }) => {
        const [train, value] = [values.get('train'), values.get('held')];
        if (train === undefined || value === undefined || !Number.isFinite(value)) return undefined;
        const equal = train === value && digitsOf(value) >= DIGITS;
        same = equal ? same + 1 : 0;
        if (same === 1) from = step;
        if (same < needed || !isLoggedMore(world, training, held)) return 'seen';
        return {
          kind: 'the training loss',
          sentence: `${held?.name} at step ${step} is ${read(value)}, and so is ${training?.name}: ${same} evaluations in a row, from step ${from} on, are the training loss to the last digit.`,
          ...(held === undefined ? {} : { series: held }),
          step: from,
          value,
        };
      },
      why: { otherwise: 'no held-out loss stands at a step of the training loss' },
    });
  },
};

function isLoggedMore(world: RuleWorld, training?: Series, held?: Series): boolean {
  const points = (series?: Series): number =>
    (series === undefined ? undefined : world.courseOf(series)?.points) ?? 0;
  return points(training) >= MORE * points(held);
}
