// Evaluations that are the same number, to the last digit. A held-out loss is a deterministic sum over thousands of numbers,
// each of which moves with any step: two models with other weights never have the same one in seven digits. Three in a row are
// one model, whatever the training loss does, which also moves with its batches.
import type { MonitorRule, RuleWorld, Series } from '../../../src/index.ts';
import { digitsOf } from '../digits.ts';
import { standsBesideTraining } from '../losses/main-loss.ts';
import { read, type SeriesJudge, watchSeries } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';

export const evaluationsMove: MonitorRule = {
  id: 'monitor/evaluations-move',
  title: 'Evaluations of a model that is trained differ',
  stage: 'monitor',
  level: 'should',
  why: 'The weights do not change: the optimiser holds no parameter of this model, its rate is 0, or another copy of the model is evaluated than the one that is trained.',
  catches: ['ZL-02', 'OPT-03'],
  advice:
    'Compare the weights before and after a step. Check that the optimiser was made of the parameters of this very model, after it was wrapped, and that the evaluation uses the model that is trained.',
  roles: ['loss', 'sft_loss'],
  evaluations: true,
  settings: {
    points: inARow(3, 'Values of one evaluation, at different steps.'),
    digits: {
      default: 6,
      what: 'Significant digits that must be logged: rounded ones are alike by chance. With one less, twice as many values are needed, and from the first evaluation on.',
    },
  },
  watch: (world) =>
    watchSeries({
      judge: (series) => (series.evaluation ? judgeStill(world, series) : undefined),
      why: {
        least: 3,
        otherwise:
          'no held-out loss was logged often enough, in enough digits, by itself: one beside each training loss may be the last evaluation, repeated',
      },
    }),
};

/** Times as long as it stood before: what is repeated until the next evaluation is no evaluation. */
const STANDS_LONGER = 4;
/** Digits that may be missing. */
const FEWER = 1;
/** Changes from one value to the next, behind which each is known to be an evaluation. */
const MOVED = 3;

function judgeStill(world: RuleWorld, series: Series): SeriesJudge {
  const points = numberOf(world, 'points');
  let value = Number.NaN;
  let [first, last] = [Number.NaN, Number.NaN];
  let [same, seen] = [0, 0];
  /** Evaluations in a row with one value, at the most, and how often another one came. */
  let [longest, moves] = [1, -1];
  return {
    point(step, next) {
      const missing = Math.max(0, numberOf(world, 'digits') - digitsOf(next));
      if (!Number.isFinite(next) || next === 0 || missing > FEWER) return undefined;
      // One that is logged twice, and those of a run that was resumed.
      if (step <= last) return undefined;
      last = step;
      seen++;
      if (next !== value) {
        longest = Math.max(longest, same);
        moves++;
        [value, first, same] = [next, step, 0];
      }
      same++;
      const needed = points * (1 + missing);
      if (same < needed || (missing > 0 && moves > 0)) return seen >= needed ? 'seen' : undefined;
      const single = moves >= MOVED && longest === 1;
      if (!single && standsBesideTraining(world, seen)) return undefined;
      if (longest > 1 && same < STANDS_LONGER * longest) return undefined;
      return {
        kind: 'does not move',
        sentence: `${series.name} is ${read(value)} at ${same} evaluations in a row, from step ${first} to ${step}, the same to the last digit: it is one model.`,
        step: first,
        value,
      };
    },
  };
}
