// A run that leaves every sensible scale at once: for this nothing need be usual yet.
import type { MonitorRule, RuleWorld, Series } from '../../../src/index.ts';
import { destruction } from '../shapes/destruction.ts';
import { type Evaluations, evaluations } from '../shapes/evaluations.ts';
import { at, from, read, type SeriesJudge, streakOf, watchSeries } from '../watches.ts';
import { declaredNumber, hasRollouts, inARow, numberOf } from '../world.ts';
import { isMainLoss } from './main-loss.ts';

/** The largest vocabulary of a published model has about 262,144 tokens. */
const LARGEST_VOCABULARY = 262_144;

const lossDiverges: MonitorRule = {
  id: 'monitor/loss-diverges',
  title:
    'A loss in nats per token does not become worse than a guess, and does not stay near one after it was far below',
  stage: 'monitor',
  level: 'must',
  why: 'Guessing every token of the vocabulary alike costs ln V nats, guessing by the frequency of words about two thirds of that. A loss that began far below and stays there is a model that was destroyed, usually by a learning rate that is too large.',
  catches: [],
  advice:
    'Stop, go back to the last checkpoint, and lower the learning rate by a factor of 10. Check warm-up, gradient clipping and the scale of the loss under gradient accumulation.',
  roles: ['loss', 'sft_loss'],
  evaluations: true,
  settings: {
    times: {
      default: 2,
      what: 'Times ln V. Data that a model has never seen the like of costs more than a guess, seldom twice as much.',
    },
    vocabulary: {
      default: 0,
      what: `Tokens of the vocabulary; 0: what the run declares as vocab_size, else ${LARGEST_VOCABULARY}, the largest known.`,
    },
    points: inARow(2, 'A single batch may be of another kind. Twice the limit is said at once.'),
    lasting: inARow(
      10,
      'Medians of 5 that are above half of ln V, three times what the loss began with, and 3 nats above it: about what a guess by the frequency of words costs. Twice as many where it falls again.',
    ),
  },
  watch: (world) => {
    const held = evaluations();
    return watchSeries({
      judge: (series) => (isMainLoss(series) ? judgeDivergence(world, series, held) : undefined),
      why: {
        least: 2,
        otherwise: 'the run has rollouts, or its first loss is not above 0: it is none in nats per token',
      },
    });
  },
};

function judgeDivergence(world: RuleWorld, series: Series, held: Evaluations): SeriesJudge {
  if (series.evaluation)
    return {
      point(step, value) {
        held.add(series, step, value);
        return undefined;
      },
    };
  const lasting = destruction(numberOf(world, 'lasting'));
  const streak = streakOf(numberOf(world, 'points'));
  let scaled: boolean | undefined;
  let limit = Number.NaN;
  return {
    point(step, value) {
      if (!Number.isFinite(value)) return undefined;
      const guess = guessOf(world);
      const lost = lasting.add(step, value, guess);
      if (scaled === undefined) {
        scaled = value > 0;
        // What begins far above a guess is a sum over tokens: then only another scale altogether is told of.
        const times = numberOf(world, 'times');
        limit = value <= guess * ROOM ? times * Math.max(guess, value) : OTHER_SCALE * value;
        return undefined;
      }
      // Asked at each point: that the run has rollouts may be known only after its first loss.
      if (!scaled || hasRollouts(world)) return undefined;
      const broken = streak.next(value > limit, step);
      if (lost !== undefined && !held.improvedSince(lost.from))
        return {
          kind: 'diverged',
          sentence: `${series.name} began with ${read(lost.start)}, and is above ${read(lost.limit)} from step ${lost.from} on, now ${read(lost.level)} at step ${step} (median of 5 logged values): about what it costs to guess words by their frequency.`,
          step: lost.from,
          high: lost.limit,
        };
      if (!broken && value <= 2 * limit) return 'seen';
      return {
        kind: 'diverged',
        sentence: `${from(series, streak.from, step)} is ${read(value)}, above ${read(limit)}: worse than any guess.`,
        step: streak.from,
        value,
        high: limit,
      };
    },
    band: () => (scaled === true ? { low: Number.NEGATIVE_INFINITY, high: limit } : undefined),
  };
}

/** Nats that a blind guess costs. */
function guessOf(world: RuleWorld): number {
  const vocabulary =
    numberOf(world, 'vocabulary') || declaredNumber(world, 'vocab_size') || LARGEST_VOCABULARY;
  return Math.log(Math.max(vocabulary, 2));
}

/** An untrained model may be worse than a guess. */
const ROOM = 1.5;
/** Times the first loss, for losses that are no mean over tokens. */
const OTHER_SCALE = 100;

const learningRateSize: MonitorRule = {
  id: 'monitor/learning-rate-size',
  title: 'The learning rate is of a size that some optimiser is used with',
  stage: 'monitor',
  level: 'should',
  why: 'Adam moves every weight by about the learning rate at each step. Weights are of size 0.01 to 1, so that a rate above 1 leaves nothing of them.',
  catches: [],
  advice:
    'Check the unit: `1e3` for `1e-3` and a rate that is multiplied by the number of devices are the usual mistakes.',
  roles: ['learning_rate'],
  settings: {
    most: {
      default: 10,
      what: 'Optimisers that scale the rate by themselves are run with 1; plain gradient descent on a tiny model with some more.',
    },
  },
  watch: (world) =>
    watchSeries({
      judge: (series) => ({
        point(step, value) {
          const most = numberOf(world, 'most');
          if (Number.isNaN(value)) return undefined;
          if (value <= most) return 'seen';
          return {
            kind: 'too large',
            sentence: `${at(series, step)} is ${read(value)}: no language model is trained with more than ${read(most)}.`,
            step,
            value,
            high: most,
          };
        },
      }),
      why: 'no rate that is a number was logged',
    }),
};

export const divergenceRules: readonly MonitorRule[] = [lossDiverges, learningRateSize];
