// Spikes of a loss: single points, or a few in a row, that stand out of what is around them and come back. One is a bad
// batch. Several are a learning rate at its limit, or a kind of row that should not be there. A point is a spike at half
// again the median of the last 64 and eight robust deviations (`spread`, the larger of the median absolute deviation and
// the 90th percentile, which heavy tails make wide); spikes with fewer than five points between them are one.
import { type MonitorRule, type RuleWorld, rolling, type Series } from '../../../src/index.ts';
import { isMainLoss } from '../losses/main-loss.ts';
import { isReinforced } from '../run-kind.ts';
import { read, type SeriesJudge, watchSeries } from '../watches.ts';
import { numberOf } from '../world.ts';

export const lossSpikes: MonitorRule = {
  id: 'monitor/loss-spikes',
  title: 'The loss does not spike again and again',
  stage: 'monitor',
  level: 'may',
  why: 'One spike is a batch. Several suggest a learning rate at the limit of what the run bears, or bad rows; the loss may not recover from a later one.',
  catches: ['LOSS-12'],
  advice:
    'Look at the batches of these steps for rows that are cut, repeated or of another kind. Clip gradients, lower the learning rate or the second beta of Adam.',
  roles: ['loss', 'sft_loss'],
  settings: {
    times: { default: 8, what: 'Robust spreads (percentiles of the window) above the median.' },
    medians: { default: 1.5, what: 'Times the median.' },
    spikes: { default: 3, what: 'So many of them.' },
    within: { default: 500, what: 'Logged points that they lie in.' },
    window: { default: 64, what: 'Logged points that make the median.' },
    warm_up: { default: 20, what: 'Logged points before the first is judged.' },
  },
  watch: (world) =>
    watchSeries({
      judge: (series) => (isMainLoss(series) ? judgeSpikes(world, series) : undefined),
      why: { least: 20, otherwise: 'the run samples from a policy' },
    }),
};

/** Points between two spikes that make them two. */
const APART = 5;

function judgeSpikes(world: RuleWorld, series: Series): SeriesJudge {
  const usual = rolling(numberOf(world, 'window'));
  const [times, medians, warmUp] = [
    numberOf(world, 'times'),
    numberOf(world, 'medians'),
    numberOf(world, 'warm_up'),
  ];
  let spikes: { at: number; step: number; value: number }[] = [];
  let count = 0;
  let last = Number.NEGATIVE_INFINITY;
  return {
    point(step, value) {
      if (!Number.isFinite(value)) return undefined;
      count++;
      const middle = usual.median();
      const high =
        usual.count >= warmUp && value > medians * middle
          ? middle + Math.max((medians - 1) * Math.abs(middle), times * usual.spread())
          : Number.POSITIVE_INFINITY;
      usual.add(value);
      if (isReinforced(world) || usual.count <= warmUp) return undefined;
      if (value <= high) return 'seen';
      const apart = count - last > APART;
      last = count;
      if (!apart) return 'seen';
      spikes = [
        ...spikes.filter(({ at }) => count - at <= numberOf(world, 'within')),
        { at: count, step, value },
      ];
      const [first] = spikes;
      if (spikes.length < numberOf(world, 'spikes') || first === undefined) return 'seen';
      return {
        kind: 'spikes',
        sentence: `${series.name} spikes at steps ${spikes.map((each) => each.step).join(', ')} to ${spikes.map((each) => read(each.value)).join(', ')}; the median around is ${read(middle)}.`,
        step: first.step,
        value: first.value,
        high,
      };
    },
  };
}
