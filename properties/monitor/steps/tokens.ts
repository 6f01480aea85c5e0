// Steps without tokens.
import type { MonitorRule, RuleWorld, Series } from '../../../src/index.ts';
import { digitsOf } from '../digits.ts';
import { from, read, type SeriesJudge, streakOf, watchSeries } from '../watches.ts';
import { inARow, numberOf, someSeries } from '../world.ts';

export const tokensGoOn: MonitorRule = {
  id: 'monitor/tokens-go-on',
  title: 'The count of tokens grows while steps are taken',
  stage: 'monitor',
  level: 'should',
  why: 'Steps of batches without a token train nothing, and cost what others do: a filter that leaves no row, a data set that is at its end and goes on empty.',
  catches: ['ZL-02'],
  advice: 'Look at the batches of these steps: their rows, and how many of their tokens are labelled.',
  roles: ['tokens_so_far'],
  settings: {
    rises: {
      default: 5,
      what: 'Consecutive logged steps at which it must have grown: a count per step does not.',
    },
    points: inARow(5, 'A batch may be lost.'),
  },
  watch: (world) =>
    watchSeries({
      judge: (series) => judgeCount(world, series),
      why: { otherwise: 'it counts the tokens of a step, or those of a run whose digits are rounded' },
    }),
};

/** TRL's count goes on from step to step. */
const isOfTrl = someSeries(({ name }) =>
  /(?:^|\/)(?:mean_token_accuracy|completions\/mean_length|rewards\/margins)$/.test(name),
);

/** Significant digits of a count that may have been rounded on its way into the log, and what these hide of it. */
const ROUNDED = 5;
const HIDDEN = 1e-3;

function judgeCount(world: RuleWorld, series: Series): SeriesJudge {
  const still = streakOf(numberOf(world, 'points'));
  let [last, before, rises, rise] = [Number.NaN, Number.NaN, 0, 0];
  let fell = false;
  return {
    point(step, value) {
      if (!Number.isFinite(value) || (/num_tokens$/.test(series.name) && !isOfTrl(world))) return undefined;
      // A run that goes back begins anew; a count of each step goes up and down.
      fell ||= value < last && step > before;
      const same = value === last && step > before;
      rises = value > last ? rises + 1 : same ? rises : 0;
      if (value > last) rise = value - last;
      [last, before] = [value, step];
      const mayHide = digitsOf(value) <= ROUNDED && rise < HIDDEN * value;
      if (fell || mayHide || rises < numberOf(world, 'rises')) {
        still.next(false, step);
        return undefined;
      }
      if (!still.next(same, step)) return 'seen';
      return {
        kind: 'stands still',
        sentence: `${from(series, still.from, step)} stays ${read(value)}: these steps have no tokens.`,
        step: still.from,
        value,
      };
    },
  };
}
