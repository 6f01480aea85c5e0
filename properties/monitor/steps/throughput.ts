// A run that all but stands still.
import { baseline, type MonitorRule, type Series, type SeriesRole } from '../../../src/index.ts';
import { from, read, streakOf, watchSeries } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';

/** Logged steps that make the usual pace. */
const WINDOW = 64;
const WARM_UP = 20;

const SLOWER: readonly SeriesRole[] = ['throughput', 'step_time'];

const stalls: MonitorRule = {
  id: 'monitor/throughput-stalls',
  title: 'The pace does not fall to a tenth of what it was',
  stage: 'monitor',
  level: 'may',
  why: 'A tool that hangs, a disk that is full or a device that throttles costs days before somebody looks.',
  catches: [],
  advice:
    'Look at the times of the parts of a step: sampling, tools, checkpoints. Longer completions explain a slope, not a jump.',
  roles: SLOWER,
  settings: {
    times: { default: 10, what: 'Times slower than the median of the last steps.' },
    points: inARow(5, 'A checkpoint or an evaluation takes its time.'),
    window: { default: WINDOW, what: 'Logged steps that make the median.' },
    warm_up: { default: WARM_UP, what: 'Logged steps before the first is judged: compilation comes first.' },
  },
  watch: (world) =>
    watchSeries({
      judge: (series: Series) => {
        const usual = baseline(numberOf(world, 'window'));
        const streak = streakOf(numberOf(world, 'points'));
        const times = numberOf(world, 'times');
        return {
          point(step, value) {
            if (!Number.isFinite(value) || value < 0) return undefined;
            const middle = usual.median();
            const known = usual.count >= numberOf(world, 'warm_up') && middle > 0;
            const slow =
              known && (series.role === 'step_time' ? value > times * middle : value < middle / times);
            // What is slow does not become usual.
            if (!slow) usual.add(value);
            if (!streak.next(slow, step)) return known ? 'seen' : undefined;
            return {
              kind: 'slow',
              sentence: `${from(series, streak.from, step)} is ${read(value)}; the median before was ${read(middle)}.`,
              step: streak.from,
              value,
            };
          },
        };
      },
      why: `fewer than ${numberOf(world, 'warm_up')} steps are logged`,
    }),
};

export const throughputRules: readonly MonitorRule[] = [stalls];
