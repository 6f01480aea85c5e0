// A cross-entropy beside the accuracy over the same tokens. A token that is not the likeliest has a probability of at most
// 1/2, because the likeliest has no less and both are 1 at most: it costs at least ln 2. So a loss is at least (1 - accuracy) ln 2.
import type { MonitorRule, RuleWorld, Violation } from '../../../src/index.ts';
import { at, type Row, read, streakOf, watchJoined } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';
import { isMainLoss } from './main-loss.ts';
import { isCrossEntropy } from './supervised-sign.ts';

type Key = 'loss' | 'accuracy';

export const lossFitsAccuracy: MonitorRule = {
  id: 'monitor/loss-fits-accuracy',
  title: 'A cross-entropy is no smaller than the share of wrong tokens beside it allows',
  stage: 'monitor',
  level: 'should',
  why: 'A token that is not the likeliest has a probability of at most 1/2, and costs ln 2 or more. A loss far below the share of such tokens times ln 2 is divided by more than the tokens that it sums: by padding and prompts, or by the steps of accumulation a second time. Its gradient is as much too small.',
  catches: ['LOSS-08', 'LOSS-11'],
  advice:
    'Look at what the sum over labelled tokens is divided by, and whether both the trainer and the model divide by the steps of accumulation.',
  roles: ['loss', 'sft_loss', 'token_accuracy'],
  settings: {
    share: {
      default: 0.2,
      what: 'Share of the smallest loss that the accuracy allows. Means over rows or micro-batches beside means over tokens, and losses that weigh sure tokens more, stay above it.',
    },
    points: inARow(5, 'Both are noisy where a few tokens are labelled.'),
  },
  watch: (world) =>
    watchJoined<Key>({
      keyOf: (series) =>
        series.role === 'token_accuracy' ? 'accuracy' : isMainLoss(series) ? 'loss' : undefined,
      row: judgeFit(world),
      why: {
        keys: { loss: 'loss', accuracy: 'accuracy over tokens' },
        otherwise: 'nothing says that the loss is a cross-entropy',
      },
    }),
};

function judgeFit(world: RuleWorld): (row: Row<Key>) => Violation | 'seen' | undefined {
  const streak = streakOf(numberOf(world, 'points'));
  return ({ step, values, seriesOf }) => {
    const [loss, accuracy] = [values.get('loss'), values.get('accuracy')];
    const [series, other] = [seriesOf('loss'), seriesOf('accuracy')];
    if (loss === undefined || accuracy === undefined || series === undefined || other === undefined)
      return undefined;
    if (!isCrossEntropy(world, series) || !(accuracy >= 0 && accuracy <= 1)) return undefined;
    const least = (1 - accuracy) * Math.LN2;
    if (!streak.next(loss < numberOf(world, 'share') * least, step)) return 'seen';
    return {
      kind: 'too small',
      sentence: `${at(series, step)} is ${read(loss)}, and ${read(1 - accuracy)} of the tokens are not the likeliest (${other.name} ${read(accuracy)}): these alone make it ${read(least)} or more.`,
      series,
      step: streak.from,
      value: loss,
      low: least,
    };
  };
}
