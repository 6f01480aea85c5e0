// A loss that begins above a blind guess. Guessing costs ln V nats per token, 12.5 for the largest vocabulary there is; a
// pretrained model on its own kind of text begins at 1 to 4. More than a tenth above a guess is what answers cost that are
// shuffled, shifted by one or read with another tokenizer, what a sum over accumulated batches shows, and what an
// untrained model costs whose weights began too large: the log alone does not tell which, so that it is advice. That it is
// a mean over tokens at all is told by its fall below a guess.
import { type MonitorRule, median, type RuleWorld, type Series } from '../../../src/index.ts';
import { isMainLoss } from '../losses/main-loss.ts';
import { isReinforced } from '../run-kind.ts';
import { read, type SeriesJudge, watchSeries } from '../watches.ts';
import { declaredNumber, numberOf } from '../world.ts';
import { LEVEL_OF, recent } from './rolling.ts';

export const beginsBelowGuess: MonitorRule = {
  id: 'monitor/loss-begins-below-a-guess',
  title: 'The loss does not begin above a blind guess',
  stage: 'monitor',
  level: 'may',
  why: 'A model that was trained before is never worse than a guess at text of its kind. Its labels may be shuffled or shifted, its ids of another tokenizer, or its loss a sum over accumulated batches.',
  catches: ['LOSS-03'],
  advice:
    'Read one batch of ids and labels as text, side by side: `lossproof view` shows them. Compare with the first loss of a run that is known to be good. For an untrained model, make its first weights smaller.',
  roles: ['loss', 'sft_loss'],
  settings: {
    times: { default: 1.1, what: 'Times ln V, in the median of the first 3 values.' },
    most: { default: 4, what: 'Times ln V, above which it is no mean over tokens.' },
    vocabulary: {
      default: 0,
      what: 'Tokens of the vocabulary; 0: what the run declares as vocab_size, else 262144, the largest known.',
    },
  },
  watch: (world) =>
    watchSeries({
      judge: (series) => (isMainLoss(series) ? judgeBeginning(world, series) : undefined),
      why: { least: 5, otherwise: 'the loss is no mean over tokens' },
    }),
};

const LARGEST_VOCABULARY = 262_144;
const FIRST = 3;

function judgeBeginning(world: RuleWorld, series: Series): SeriesJudge {
  const last = recent(LEVEL_OF);
  let first = { step: Number.NaN, value: Number.NaN };
  let begun = Number.NaN;
  let done = false;
  return {
    point(step, value) {
      if (done || !Number.isFinite(value)) return done && begun >= 0 ? 'seen' : undefined;
      last.add(step, value);
      if (last.count === 1) first = { step, value };
      if (last.count === FIRST) begun = median(last.values());
      if (last.count < LEVEL_OF || isReinforced(world)) return undefined;
      const vocabulary =
        numberOf(world, 'vocabulary') || declaredNumber(world, 'vocab_size') || LARGEST_VOCABULARY;
      const guess = Math.log(Math.max(2, vocabulary));
      if (begun <= numberOf(world, 'times') * guess) {
        done = true;
        return 'seen';
      }
      const level = last.level();
      if (level >= guess || begun > numberOf(world, 'most') * guess) return undefined;
      done = true;
      return {
        kind: 'begins above a guess',
        sentence: `${series.name} began at ${read(begun)} (step ${first.step}), above the ${read(guess)} of a blind guess among ${vocabulary.toLocaleString('en')} tokens; at step ${step} it is ${read(level)}.`,
        step: first.step,
        value: first.value,
        high: numberOf(world, 'times') * guess,
      };
    },
  };
}
