// Values that the definition of a metric rules out, whatever is trained: a share above 1, a log-probability above 0.
import type { MonitorRule, RuleWorld, Series, SeriesRole } from '../../../src/index.ts';
import { from, read, type SeriesJudge, streakOf, watchSeries } from '../watches.ts';
import { inARow, numberOf, someSeries } from '../world.ts';

interface Range {
  readonly low: number;
  readonly high: number;
  /** What it is, for the sentence: `a share of tokens`. */
  readonly what: string;
}

const NONE = Number.POSITIVE_INFINITY;
/** What is logged in percent arrives as a share. */
const share = (what: string): Range => ({ low: 0, high: 1, what });
const RANGES: Partial<Readonly<Record<SeriesRole, Range>>> = {
  preference_accuracy: share('a share of pairs'),
  token_accuracy: share('a share of tokens'),
  clip_fraction: share('a share of tokens'),
  truncated_share: share('a share of completions'),
  stopped_share: share('a share of completions'),
  dead_groups: share('a share of groups'),
  tool_failures: share('a share of tool calls'),
  explained_variance: { low: -NONE, high: 1, what: 'an explained variance' },
  grad_norm: { low: 0, high: NONE, what: 'a norm' },
  reward_std: { low: 0, high: NONE, what: 'a standard deviation' },
  advantage_std: { low: 0, high: NONE, what: 'a standard deviation' },
  ratio: { low: 0, high: NONE, what: 'a ratio of probabilities' },
  completion_length: { low: 0, high: NONE, what: 'a number of tokens' },
  step_time: { low: 0, high: NONE, what: 'a time' },
  log_probability: { low: -NONE, high: 0, what: 'the logarithm of a probability' },
};

/** Beyond what rounding does to a mean of values that are all at the bound. */
const ROUNDING = 0.01;
/** A mean of zeros is 0, however it is rounded. */
const roomAt = (bound: number): number => (bound === 0 ? 1e-4 : ROUNDING);
/** Written where there is no value. */
const MISSING = -1;

export const valuesAreInRange: MonitorRule = {
  id: 'monitor/values-are-in-range',
  title: 'Shares, norms, deviations and log-probabilities have values that they can have',
  stage: 'monitor',
  level: 'should',
  why: 'No data and no learning rate make a log-probability 5 or an explained variance 1.2. The number is divided by the wrong count, has the wrong sign, or is not what its name says, and every decision that rests on it is wrong.',
  catches: [],
  advice:
    'Look at where it is computed: what is summed, under which mask, and by which count it is divided, also over ranks and accumulated batches. If only its name is wrong, say what it is with `--series NAME=ROLE`, or rename it.',
  roles: Object.keys(RANGES) as SeriesRole[],
  evaluations: true,
  settings: { points: inARow(2, 'A single value may be a slip of the pen. -1 stands for no value.') },
  watch: (world) =>
    watchSeries({
      judge: (series) => judgeRange(world, series),
      why: { otherwise: 'no number was logged' },
    }),
};

function judgeRange(world: RuleWorld, series: Series): SeriesJudge | undefined {
  const range = series.role === undefined ? undefined : RANGES[series.role];
  if (range === undefined) return undefined;
  const { low, high, what } = range;
  const outside = streakOf(numberOf(world, 'points'));
  let first = Number.NaN;
  return {
    point(step, value) {
      if (!Number.isFinite(value) || value === MISSING) return undefined;
      const enough = outside.next(value < low - roomAt(low) || value > high + roomAt(high), step);
      if (outside.length === 1) first = value;
      if (!enough) return 'seen';
      const bound = value < low ? `below ${read(low)}` : `above ${read(high)}`;
      return {
        kind: 'impossible',
        sentence: `${from(series, outside.from, step)} is ${read(value)}, and ${what} is never ${bound}.`,
        step: outside.from,
        value: first,
        low,
        high,
      };
    },
  };
}

/** Only of texts: that of a continuous action may be negative. */
const hasCompletions = someSeries(({ role }) => role === 'completion_length');

export const entropyNotNegative: MonitorRule = {
  id: 'monitor/entropy-not-negative',
  title: 'An entropy over tokens is not negative',
  stage: 'monitor',
  level: 'should',
  why: 'The entropy of a distribution over tokens is at least 0, and so is every mean of -log p. A negative one has the wrong sign: as a bonus it takes away what it should give.',
  catches: [],
  advice:
    'Follow its sign to the loss: a bonus is subtracted there. If the term of the loss is logged, call it `entropy_loss`.',
  roles: ['entropy', 'completion_length'],
  settings: { points: inARow(5, 'An estimate of few tokens has noise.') },
  watch: (world) =>
    watchSeries({
      judge: (series) => {
        if (series.role !== 'entropy') return undefined;
        const negative = streakOf(numberOf(world, 'points'));
        return {
          point(step, value) {
            if (!Number.isFinite(value) || value === MISSING || !hasCompletions(world)) return undefined;
            if (!negative.next(value < -ROUNDING, step)) return 'seen';
            return {
              kind: 'negative',
              sentence: `${from(series, negative.from, step)} is ${read(value)}: an entropy over tokens is never below 0.`,
              step: negative.from,
              value,
              low: 0,
            };
          },
        };
      },
      why: { otherwise: 'the run logs no completions: the entropy of a continuous action may be negative' },
    }),
};
