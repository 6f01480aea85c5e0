// Held-out losses that turn: while the training loss goes on falling, the model learns its rows by heart. Early stopping
// (Prechelt 1998, "Early Stopping - But When?") calls the relative rise above the lowest evaluation so far the loss of
// generalisation, GL = E / E_min - 1, and stops at 5 % of it; a fine-tune of some passes ends a tenth or two above its
// minimum and is none the worse for it, so that here it takes 30 %, a part of what the training loss began with besides,
// and two evaluations in a row, since one is as noisy as its data are few.
import { type MonitorRule, median, type RuleWorld, type Series } from '../../../src/index.ts';
import { isMainLoss } from '../losses/main-loss.ts';
import { isReinforced } from '../run-kind.ts';
import { read, type SeriesJudge, watchSeries } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';
import { type Recent, recent } from './rolling.ts';

export const overfits: MonitorRule = {
  id: 'monitor/evaluation-turns',
  title: 'The held-out loss does not climb far above its minimum',
  stage: 'monitor',
  level: 'should',
  why: 'From its minimum on the model gets worse at all but the rows it is trained on. The checkpoint at the end is worse than the one at the minimum.',
  catches: [],
  advice:
    'Take the checkpoint nearest to the minimum. Train fewer passes, on more data, or with a lower learning rate; evaluate more often and stop early.',
  roles: ['loss', 'sft_loss'],
  evaluations: true,
  settings: {
    times: { default: 1.3, what: 'Times the lowest held-out loss, while the training loss falls.' },
    alone: { default: 1.6, what: 'Times the lowest held-out loss, whatever the training loss does.' },
    share: {
      default: 0.15,
      what: 'Share of the first training loss by which it must have risen: losses near 0 double without meaning.',
    },
    learnt: {
      default: 1.15,
      what: 'Times the lowest held-out loss, once the training loss is a fiftieth of it: nothing is left to learn but the rows.',
    },
    falls: { default: 0.8, what: 'Times what it was at the minimum, that a falling training loss is now.' },
    points: inARow(2, 'Evaluations of few rows are noisy.'),
  },
  watch: (world) => watchEvaluations(world),
};

/** Of the training loss that its middle is taken of. */
const TRAINED = 9;

interface Training {
  readonly series: Series;
  readonly start: number;
  readonly recent: Recent;
}

function watchEvaluations(world: RuleWorld): ReturnType<MonitorRule['watch']> {
  let training: Training | undefined;
  return watchSeries({
    judge: (series) => {
      if (series.evaluation)
        return series.part === '' ? judgeEvaluation(world, series, () => training) : undefined;
      if (!isMainLoss(series)) return undefined;
      return {
        point(step, value) {
          if (!Number.isFinite(value)) return undefined;
          training ??= { series, start: value, recent: recent(TRAINED) };
          if (training.series === series) training.recent.add(step, value);
          return undefined;
        },
      };
    },
    why: { least: 3, otherwise: 'fewer than 3 evaluations stand beside a training loss that has a level' },
  });
}

function judgeEvaluation(
  world: RuleWorld,
  series: Series,
  training: () => Training | undefined,
): SeriesJudge {
  let lowest: { readonly value: number; readonly step: number; readonly train: number } | undefined;
  let seen = 0;
  let above = 0;
  /** The first behind the minimum that is above it by half of what is too much. */
  let turned = { step: Number.NaN, value: Number.NaN };
  let last = Number.NEGATIVE_INFINITY;
  return {
    point(step, value) {
      if (!Number.isFinite(value) || value < 0) return undefined;
      if (step < last) lowest = undefined;
      last = step;
      const beside = training();
      // A training loss that is logged for the first time behind the first evaluation is not known there.
      const train = beside === undefined ? Number.NaN : median(beside.recent.values());
      seen++;
      if (lowest === undefined || value <= lowest.value) {
        lowest = { value, step, train };
        above = 0;
        turned = { step: Number.NaN, value: Number.NaN };
        return seen >= LEAST ? 'seen' : undefined;
      }
      if (Number.isNaN(lowest.train)) lowest = { ...lowest, train };
      const start = beside?.start ?? lowest.value;
      const falls = train <= numberOf(world, 'falls') * lowest.train;
      // Without a training loss that falls, it may be the noise of few rows.
      const learnt = falls && train <= LEARNT * lowest.value;
      const least = (learnt ? LESS : falls ? 1 : 2) * numberOf(world, 'share') * Math.min(start, MOST);
      const times = numberOf(world, learnt ? 'learnt' : falls ? 'times' : 'alone');
      const limit = Math.max(times * lowest.value, lowest.value + least);
      if (Number.isNaN(turned.step) && value > (lowest.value + limit) / 2) turned = { step, value };
      if (value <= (lowest.value + limit) / 2) turned = { step: Number.NaN, value: Number.NaN };
      above = value > limit ? above + 1 : 0;
      if (isReinforced(world)) return undefined;
      if (above < numberOf(world, 'points')) return seen >= LEAST ? 'seen' : undefined;
      const meanwhile = falls
        ? ` while ${beside?.series.name ?? 'the loss'} fell from ${read(lowest.train)} to ${read(train)}: the rows are learnt by heart`
        : '';
      return {
        kind: falls ? 'overfits' : 'climbs',
        sentence: `${series.name} was at best ${read(lowest.value)} at step ${lowest.step}, and climbs to ${read(value)} at step ${step}${meanwhile}.`,
        step: turned.step,
        value: turned.value,
        high: limit,
      };
    },
  };
}

const LEAST = 3;
/** Of the lowest held-out loss. */
const LEARNT = 0.02;
/** Of the share. */
const LESS = 1 / 3;
/** Nats: what an untrained model begins with is no measure of what is learnt of a language. */
const MOST = 3;
