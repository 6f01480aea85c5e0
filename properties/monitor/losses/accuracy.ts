// A loss beside the accuracy over the same tokens or pairs. A token that is not the likeliest has a probability of at most 1/2,
// because the likeliest has no less and both are 1 at most: it costs at least ln 2. So does a pair whose margin is not above 0,
// by -log σ(margin). So a loss is at least (1 - accuracy) ln 2. What wrong tokens cost at most no bound says; but a mean beyond
// that of a uniform guess, over any vocabulary, is no model that gets others right.
import type { MonitorRule, RuleWorld, Violation } from '../../../src/index.ts';
import { isReinforced } from '../run-kind.ts';
import { at, type Row, read, streakOf, watchJoined } from '../watches.ts';
import { declaredNumber, declaredText, inARow, numberOf } from '../world.ts';
import { isMainLoss } from './main-loss.ts';
import { isCrossEntropy } from './supervised-sign.ts';

type Key = 'loss' | 'accuracy' | 'pairs';

export const lossFitsAccuracy: MonitorRule = {
  id: 'monitor/loss-fits-accuracy',
  title: 'A loss is no smaller than the share of wrong tokens or pairs beside it allows',
  stage: 'monitor',
  level: 'should',
  why: 'A token that is not the likeliest has a probability of at most 1/2, and costs ln 2 or more; so does a pair whose rejected answer is preferred. A loss far below their share times ln 2 is divided by more than it sums: by padding and prompts, or by the steps of accumulation a second time. Its gradient is as much too small.',
  catches: ['LOSS-08', 'LOSS-11'],
  advice:
    'Look at what the sum over labelled tokens is divided by, and whether both the trainer and the model divide by the steps of accumulation, or neither does.',
  roles: ['loss', 'sft_loss', 'token_accuracy', 'preference_accuracy'],
  settings: {
    share: {
      default: 0.2,
      what: 'Share of the smallest loss that the accuracy over tokens allows. Means over rows or micro-batches beside means over tokens, and losses that weigh sure tokens more, stay above it.',
    },
    share_pairs: {
      default: 0.6,
      what: 'The same beside an accuracy over pairs, where both are means over pairs.',
    },
    most: {
      default: 15,
      what: 'Nats that wrong tokens cost in the mean, above which there is a remark: a uniform guess among 260,000 tokens costs 12.5. Right ones cost 1 at most.',
    },
    points: inARow(5, 'Both are noisy where a few tokens are labelled.'),
  },
  watch: (world) => {
    const judges = { accuracy: judgeTokens(world), pairs: judgePairs(world) };
    const watch = watchJoined<Key>({
      keyOf: (series) => {
        if (series.role === 'token_accuracy') return 'accuracy';
        if (series.role === 'preference_accuracy') return series.evaluation ? undefined : 'pairs';
        return isMainLoss(series) ? 'loss' : undefined;
      },
      row: (row) => judges.accuracy.row(row) ?? judges.pairs(row),
      why: {
        keys: { loss: 'loss', accuracy: 'accuracy over tokens', pairs: 'accuracy over pairs' },
        otherwise: 'nothing says that the loss is a cross-entropy',
      },
    });
    return { ...watch, remarks: judges.accuracy.remarks };
  },
};

type Judge = (row: Row<Key>) => Violation | 'seen' | undefined;

function judgeTokens(world: RuleWorld): { readonly row: Judge; readonly remarks: () => readonly string[] } {
  const small = streakOf(numberOf(world, 'points'));
  const large = streakOf(numberOf(world, 'points'));
  let sum: string | undefined;
  const row: Judge = ({ step, values, seriesOf }) => {
    const [loss, accuracy] = [values.get('loss'), values.get('accuracy')];
    const [series, other] = [seriesOf('loss'), seriesOf('accuracy')];
    if (loss === undefined || accuracy === undefined || series === undefined || other === undefined)
      return undefined;
    if (!isCrossEntropy(world, series) || !(accuracy >= 0 && accuracy <= 1)) return undefined;
    const wrong = 1 - accuracy;
    const facts = `${at(series, step)} is ${read(loss)}, and ${read(wrong)} of the tokens are not the likeliest (${other.name} ${read(accuracy)})`;
    const isSmoothed = (declaredNumber(world, ...SMOOTHING) ?? 0) > 0;
    const most = wrong * numberOf(world, 'most') + accuracy;
    if (large.next(!isSmoothed && loss > most, step))
      sum ??= `${facts}: were each of them as unlikely as one of 260,000, it would be ${read(wrong * UNIFORM + accuracy)} at most. Is it a sum over tokens or micro-batches?`;
    const least = wrong * Math.LN2;
    if (!small.next(loss < numberOf(world, 'share') * least, step)) return 'seen';
    return {
      kind: 'too small',
      sentence: `${facts}: these alone make it ${read(least)} or more.`,
      series,
      step: small.from,
      value: loss,
      low: least,
    };
  };
  return { row, remarks: () => (sum === undefined ? [] : [sum]) };
}

const SMOOTHING = ['label_smoothing_factor', 'label_smoothing'] as const;
/** ln 260,000, with room for no larger vocabulary. */
const UNIFORM = 12.5;

/** What costs less for a pair in the wrong order, or compares other pairs than the accuracy does. */
const OTHER_LOSSES = /aot|robust|sppo|nca|bco|kto|discopop|,/;

function judgePairs(world: RuleWorld): Judge {
  const small = streakOf(numberOf(world, 'points'));
  return ({ step, values, seriesOf }) => {
    const [loss, accuracy] = [values.get('loss'), values.get('pairs')];
    const [series, other] = [seriesOf('loss'), seriesOf('pairs')];
    if (loss === undefined || accuracy === undefined || series === undefined || other === undefined)
      return undefined;
    if (!(accuracy >= 0 && accuracy <= 1) || !Number.isFinite(loss)) return undefined;
    if (OTHER_LOSSES.test(declaredText(world, 'loss_type') ?? '') || isWeighted(world)) return undefined;
    // Of a reward, not of pairs: the loss is one of a policy.
    if (isReinforced(world)) return undefined;
    const least = (1 - accuracy) * Math.LN2;
    if (!small.next(loss < numberOf(world, 'share_pairs') * least, step)) return 'seen';
    return {
      kind: 'too small',
      sentence: `${at(series, step)} is ${read(loss)}, and ${read(1 - accuracy)} of the pairs are in the wrong order (${other.name} ${read(accuracy)}): these alone make it ${read(least)} or more, by -log σ(margin).`,
      series,
      step: small.from,
      value: loss,
      low: least,
    };
  };
}

/** WPO weighs each pair by its likelihood, which is below 1. */
const isWeighted = (world: RuleWorld): boolean => /^true$/i.test(declaredText(world, 'use_weighting') ?? '');
