// Gradient norms that leave their order of magnitude: up in a single step, up for good, or down for good.
//
// Norms of healthy runs are log-normal in the main, with deviations of the logarithm from 0.2 (large batches) to 1.2 (one
// row a batch, groups of rollouts). What is usual is told by the median and the 16th and 84th percentile of all norms so far
// (histogram.ts). A single norm is blamed at a thousand times the median and eight such deviations; several in a row, of
// which the median counts, at less.
import type { MonitorRule, RuleWorld, Series, Violation } from '../../../src/index.ts';
import { isMainLoss } from '../losses/main-loss.ts';
import { isReinforced } from '../run-kind.ts';
import { at, from, read, type SeriesJudge, watchSeries } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';
import { type LogHistogram, logHistogram } from './histogram.ts';
import { LEVEL_OF, type Recent, recent } from './rolling.ts';

/** Norms before what is usual is known. */
const KNOWN_AFTER = 20;

const gradNormExplodes: MonitorRule = {
  id: 'monitor/grad-norm-explodes',
  title: 'The gradient norm does not grow a thousandfold',
  stage: 'monitor',
  level: 'should',
  why: 'Updates that are far too large, numbers that overflow and broken batches make gradients explode. Clipping keeps the length of the step, not its direction: it goes where that one batch says.',
  catches: ['NUM-05', 'LOSS-12'],
  advice:
    'Look at the batch of this step, at what the loss did after it, and at the learning rate; add warm-up, clip gradients.',
  roles: ['grad_norm'],
  settings: {
    times: {
      default: 1000,
      what: 'Times the median of all norms before; in the first 20 steps, times the largest one: those of a healthy run fall.',
    },
    floor: { default: 100, what: 'A norm below it is no explosion.' },
    lasting: { default: 30, what: 'Times the median before, for norms that stay.' },
    lasting_floor: { default: 10, what: 'Norms that stay below it are no explosion.' },
    points: inARow(8, 'Multiple of the median of 5 norms, for those that stay.'),
  },
  watch: (world) =>
    watchSeries({
      judge: (series) => judgeExplosion(world, series),
      why: { least: 2, values: 'norms', otherwise: 'fewer than 2 norms are above 0' },
    }),
};

/** Deviations of the logarithm that a single norm must be away, and a median of five. */
const SINGLE = 8;
const STAYING = 5;

function judgeExplosion(world: RuleWorld, series: Series): SeriesJudge {
  const usual = logHistogram();
  const last = recent(LEVEL_OF);
  const streak = { points: 0, from: Number.NaN, first: Number.NaN };
  const [times, floor] = [numberOf(world, 'times'), numberOf(world, 'floor')];
  const [lasting, lastingFloor] = [numberOf(world, 'lasting'), numberOf(world, 'lasting_floor')];
  const needed = numberOf(world, 'points');
  let largest = 0;
  /** The median when it was lowest: norms that creep up take that of all norms with them. */
  let lowest = { middle: Number.POSITIVE_INFINITY, spread: 0 };
  const keepLowest = (): void => {
    const middle = usual.quantile(0.5);
    if (middle < lowest.middle) lowest = { middle, spread: usual.spread() };
  };

  function single(step: number, value: number): Violation | undefined {
    const early = usual.count < KNOWN_AFTER;
    const middle = early ? largest : usual.quantile(0.5);
    const deviations = early ? 0 : middle * Math.exp(SINGLE * usual.spread());
    const limit = Math.max(floor, times * middle, deviations);
    if (value <= limit) return undefined;
    const before = early
      ? `the largest of the steps before is ${read(middle)}`
      : `the median of the ${usual.count} norms before is ${read(middle)}`;
    return {
      kind: 'exploded',
      sentence: `${at(series, step)} is ${read(value)}; ${before}.`,
      step,
      value,
      high: limit,
    };
  }

  function staying(step: number): Violation | undefined {
    const level = last.level();
    if (level <= lastingFloor || usual.count < KNOWN_AFTER) {
      streak.points = 0;
      return undefined;
    }
    const { middle } = lowest;
    const limit = Math.max(lastingFloor, lasting * middle, middle * Math.exp(STAYING * lowest.spread));
    if (level <= limit) {
      streak.points = 0;
      return undefined;
    }
    if (streak.points++ === 0) Object.assign(streak, firstAbove(last, limit));
    if (streak.points < needed) return undefined;
    return {
      kind: 'stays',
      sentence: `${from(series, streak.from, step)} is above ${read(limit)}, now ${read(level)} (median of 5); the median of all norms was ${read(middle)}.`,
      step: streak.from,
      value: streak.first,
      high: limit,
    };
  }

  return {
    point(step, value) {
      if (!Number.isFinite(value)) return undefined;
      // Between two steps of an optimiser, and where groups have no spread, there is none.
      if (value <= 0) return usual.count > 0 ? 'seen' : undefined;
      if (usual.count === 0) {
        usual.add(value);
        last.add(step, value);
        largest = value;
        return undefined;
      }
      last.add(step, value);
      const said = (value > floor ? single(step, value) : undefined) ?? staying(step);
      // What stays above does not become usual while that is counted.
      if (streak.points === 0) usual.add(value);
      if (streak.points === 0 && usual.count % KNOWN_AFTER === 0) keepLowest();
      largest = Math.max(largest, value);
      return said ?? 'seen';
    },
  };
}

function firstAbove(last: Recent, limit: number): { readonly from: number; readonly first: number } {
  let back = 0;
  while (back + 1 < LEVEL_OF && last.value(back + 1) > limit) back++;
  return { from: last.step(back), first: last.value(back) };
}

const gradNormVanishes: MonitorRule = {
  id: 'monitor/grad-norm-vanishes',
  title: 'The gradient norm does not vanish while there is a loss to learn from',
  stage: 'monitor',
  level: 'should',
  why: 'A gradient that is ten thousand times smaller than it was reaches the weights no more: a loss that saturates, gradients that underflow, or a model that was frozen. The loss stays where it is.',
  catches: ['NUM-02', 'KL-04'],
  advice:
    'Look for a saturated softmax or sigmoid, for losses or gradients in fp16 without a scaler, for a weight of the loss that went to 0, and for parameters that were frozen on the way.',
  roles: ['grad_norm', 'loss', 'sft_loss'],
  settings: {
    times: { default: 1e4, what: 'Times smaller than the median of the norms before, in the median of 5.' },
    points: inARow(10, 'Share of that median. Single norms may belong to batches that are learnt.'),
    learnt: {
      default: 0.1,
      what: 'Share of its first level below which the loss is learnt: its gradient may be small.',
    },
  },
  watch: (world) => {
    let loss: { readonly series: Series; readonly start: number; readonly recent: Recent } | undefined;
    const mayVanish = (): boolean =>
      loss === undefined ||
      loss.recent.count < LEVEL_OF ||
      !(loss.recent.level() > numberOf(world, 'learnt') * loss.start) ||
      isReinforced(world);
    return watchSeries({
      judge: (series) => {
        if (series.part !== '') return undefined;
        if (series.role === 'grad_norm') return judgeVanishing(world, series, mayVanish);
        if (!isMainLoss(series)) return undefined;
        return {
          point(step, value) {
            if (!Number.isFinite(value)) return undefined;
            loss ??= { series, start: value, recent: recent(LEVEL_OF) };
            if (loss.series === series) loss.recent.add(step, value);
            return undefined;
          },
        };
      },
      why: { least: 20, otherwise: 'fewer than 20 norms above 0 stand beside a loss that has a level' },
    });
  },
};

function judgeVanishing(world: RuleWorld, series: Series, mayVanish: () => boolean): SeriesJudge {
  const usual: LogHistogram = logHistogram();
  const last = recent(LEVEL_OF);
  const streak = { points: 0, from: Number.NaN };
  const [times, needed] = [numberOf(world, 'times'), numberOf(world, 'points')];
  let middle = Number.NaN;
  return {
    point(step, value) {
      if (!Number.isFinite(value) || value <= 0) return undefined;
      last.add(step, value);
      const known = usual.count >= KNOWN_AFTER;
      // The median moves slowly: it is asked for where a norm is below all but the smallest.
      if (known && (Number.isNaN(middle) || usual.count % KNOWN_AFTER === 0)) middle = usual.quantile(0.5);
      const small = known && last.level() < middle / times;
      if (!small) {
        streak.points = 0;
        usual.add(value);
        return known && !mayVanish() ? 'seen' : undefined;
      }
      if (streak.points++ === 0) streak.from = step;
      if (streak.points < needed || mayVanish()) return undefined;
      return {
        kind: 'vanishes',
        sentence: `${from(series, streak.from, step)} is below ${read(middle / times)}, now ${read(value)}; the median of the norms before is ${read(middle)}, and the loss is not learnt.`,
        step: streak.from,
        low: middle / times,
      };
    },
  };
}

export const gradNormRules: readonly MonitorRule[] = [gradNormExplodes, gradNormVanishes];
