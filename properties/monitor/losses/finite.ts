// NaN and infinity. In what is optimised they are the end of a run; in a mere metric they can be a mean over nothing.
import type { MonitorRule, RuleWorld, Series, SeriesRole, Violation, Watch } from '../../../src/index.ts';
import { hasMargins, isReinforced } from '../run-kind.ts';
import { at, from, read, type SeriesJudge, streakOf, watchSeries } from '../watches.ts';
import { inARow, numberOf, underLossScaler } from '../world.ts';
import { standsBesideTraining } from './main-loss.ts';

const OPTIMISED: readonly SeriesRole[] = [
  'loss',
  'policy_loss',
  'value_loss',
  'sft_loss',
  'kl',
  'approx_kl',
  'grad_norm',
  'learning_rate',
  'reward',
  'entropy',
  'ratio',
];

/** A loss scaler begins at 2^16 and halves at each overflow, so that as many first steps may be skipped. */
const SCALER_STEPS = 17;

/** Once is enough for a loss; a reward or an entropy may be a mean over no sample now and then. */
const AT_ONCE = new Set<SeriesRole>(['loss', 'policy_loss', 'value_loss', 'sft_loss', 'learning_rate']);

const finiteTraining: MonitorRule = {
  id: 'monitor/finite-training',
  title: 'Losses, gradient norm, KL, entropy, reward and learning rate are finite',
  stage: 'monitor',
  level: 'must',
  why: 'A NaN that reaches the optimiser makes every weight NaN, and the run goes on without saying so.',
  catches: ['NUM-01', 'NUM-02', 'NUM-03', 'NUM-05', 'NUM-06', 'ADV-05'],
  advice:
    'Stop the run and go back to the last checkpoint before this step. Look at the batch of this step for rows without a trained token, rewards without spread and log-probabilities of minus infinity; then run `lossproof check`.',
  roles: OPTIMISED,
  settings: {
    points: inARow(
      3,
      'For gradient norm, KL, reward, entropy and ratio: a step whose gradient overflows is skipped, and a mean can be over nothing. Losses and the learning rate must be finite at once; grad-norm-finite is about single gradient norms.',
    ),
  },
  watch: (world) =>
    watchSeries({ judge: (series) => judgeFinite(world, series), why: 'no point of it was read' }),
};

function judgeFinite(world: RuleWorld, series: Series): SeriesJudge {
  const once = series.role !== undefined && AT_ONCE.has(series.role);
  const usual = once ? 1 : numberOf(world, 'points');
  let length = 0;
  let first = Number.NaN;
  let wasFinite = false;
  return {
    point(step, value) {
      if (Number.isFinite(value)) {
        wasFinite = true;
        length = 0;
        return 'seen';
      }
      if (length++ === 0) first = step;
      // A scaler that nobody declares shows in norms that overflow from the first step on.
      const scaled =
        underLossScaler(world) || (!wasFinite && series.role === 'grad_norm' && !Number.isNaN(value));
      const needed = scaled ? underScaler(series, usual, numberOf(world, 'points')) : usual;
      if (length < needed) return 'seen';
      const since = length === 1 ? '' : `, as in all of the ${length} logged steps since step ${first}`;
      return {
        kind: 'not finite',
        sentence: `${at(series, step)} is ${read(value)}${since}.`,
        step: first,
        value,
      };
    },
  };
}

/** Scaled gradients overflow while the scale is being found, and a scaled loss does now and then. */
function underScaler({ role }: Series, usual: number, several: number): number {
  if (role === 'learning_rate') return usual;
  return role === 'grad_norm' ? SCALER_STEPS : several;
}

const HELD_OUT: readonly SeriesRole[] = ['loss', 'sft_loss'];
const isHeldOutLoss = ({ role, evaluation }: Series): boolean =>
  evaluation && role !== undefined && HELD_OUT.includes(role);

const finiteEvaluations: MonitorRule = {
  id: 'monitor/finite-evaluations',
  title: 'Held-out losses are finite, and not exactly 0 from the first one on',
  stage: 'monitor',
  level: 'should',
  why: 'A held-out loss that is NaN or 0 chooses no checkpoint and stops nothing. Mostly it is a mean over nothing: rows without a trained token, since they are cut or masked otherwise than those of training.',
  catches: ['ZL-05', 'NUM-01'],
  advice:
    'Count the labels of each held-out batch that are not -100, and look at its rows with `lossproof view`: overlong prompts leave no answer, and a missing template leaves no label.',
  roles: HELD_OUT,
  evaluations: true,
  settings: { points: inARow(3, 'A single evaluation may have met an empty batch.') },
  watch: (world) =>
    watchSeries({
      judge: (series) => (isHeldOutLoss(series) ? judgeHeldOut(world, series) : undefined),
      why: 'no held-out loss is another number than 0, and where one stands beside each training loss it may stand for none',
    }),
};

/** Finite values one behind the other: no gap stands between evaluations. */
const STEADY = 2;

function judgeHeldOut(world: RuleWorld, series: Series): SeriesJudge {
  const needed = numberOf(world, 'points');
  const broken = streakOf(needed);
  let [count, finite, steady] = [0, 0, 0];
  let [first, last, lastValue] = [Number.NaN, Number.NaN, Number.NaN];
  let zeros = 0;
  const violation = (kind: string, begin: number, what: string): Violation => ({
    kind,
    sentence: `${from(series, begin, last)} is ${what}.`,
    step: begin,
    value: lastValue,
  });
  return {
    point(step, value) {
      if (count++ === 0) first = step;
      [last, lastValue] = [step, value];
      if (value === 0) zeros++;
      if (Number.isFinite(value)) {
        finite++;
        steady = broken.length > 0 ? 1 : steady + 1;
      }
      const long = broken.next(!Number.isFinite(value), step);
      if (long && steady >= STEADY) return violation('not finite', broken.from, read(value));
      // Of what is no number yet, or 0, the end decides; where it cannot, nothing was judged.
      return finite > zeros ? 'seen' : undefined;
    },
    end() {
      // What stands in each line of training may stand there for what has not been evaluated yet.
      if (count < needed || standsBesideTraining(world, count)) return undefined;
      if (finite === 0) return violation('not finite', first, read(lastValue));
      // A policy's loss may be 0, and preferences may be learnt to the last digit.
      return zeros === count && !isReinforced(world) && !hasMargins(world)
        ? violation('zero', first, 'exactly 0')
        : undefined;
    },
  };
}

const finiteMetrics: MonitorRule = {
  id: 'monitor/finite-metrics',
  title: 'A metric that was a number does not become NaN for good',
  stage: 'monitor',
  level: 'may',
  why: 'A metric that turns NaN often divides by a count that became 0, and is the first sign of an empty batch.',
  catches: ['NUM-01', 'ZL-05'],
  advice:
    'Look at what the metric is divided by, and whether rows, groups or samples of that kind still exist.',
  roles: [],
  settings: { points: inARow(3, 'Single steps without a sample of the kind make a legal NaN.') },
  watch: (world) => watchMetrics(world),
};

/** Every point of every series comes by here: a number costs one comparison. */
function watchMetrics(world: RuleWorld): Watch {
  const needed = numberOf(world, 'points');
  const trained = new Set<SeriesRole>(OPTIMISED);
  const wasNumber: boolean[] = [];
  const broken = new Map<number, ReturnType<typeof streakOf>>();
  let judged = 0;
  return {
    point(series, step, value) {
      judged++;
      // An infinity is no mean over nothing: a perplexity overflows while the loss is high.
      if (!Number.isNaN(value)) {
        wasNumber[series.index] = true;
        if (broken.size > 0) broken.delete(series.index);
        return undefined;
      }
      const { role, evaluation } = series;
      if (isHeldOutLoss(series) || (!evaluation && role !== undefined && trained.has(role))) return undefined;
      if (wasNumber[series.index] !== true) return undefined;
      const streak = broken.get(series.index) ?? streakOf(needed);
      broken.set(series.index, streak);
      if (!streak.next(true, step) || streak.length > needed) return undefined;
      return {
        kind: 'not finite',
        sentence: `${series.name} was a number, and is ${read(value)} in all of the ${needed} logged steps since step ${streak.from}.`,
        series,
        step: streak.from,
        value,
      };
    },
    judged: () => judged,
    why: () => 'no point was read',
  };
}

export const finiteRules: readonly MonitorRule[] = [finiteTraining, finiteEvaluations, finiteMetrics];
