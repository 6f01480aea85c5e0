// A loss scale that is halved until nothing is left of it.
import type { MonitorRule } from '../../../src/index.ts';
import { from, read, streakOf, watchSeries } from '../watches.ts';
import { inARow, numberOf, SCALE } from '../world.ts';

export const lossScaleLives: MonitorRule = {
  id: 'monitor/loss-scale-lives',
  title: 'The loss scale of half precision does not fall to almost nothing',
  stage: 'monitor',
  level: 'should',
  why: 'The scale is halved, and the step left out, whenever a gradient is not finite. A scale far below 1 says that gradients are infinite however small the loss is made: there is a NaN in the model or in its data, and no step is taken any more.',
  catches: ['NUM-01'],
  advice:
    'Look for the first tensor that is not finite (`torch.autograd.set_detect_anomaly`), or train in bfloat16, which needs no scale.',
  roles: [],
  settings: {
    least: { default: 0.01, what: 'A scale of 1 scales nothing; one below it is left to the gradient.' },
    points: inARow(3, 'Values below it.'),
  },
  watch: (world) =>
    watchSeries({
      judge: (series) => {
        if (!SCALE.test(series.name)) return undefined;
        const low = streakOf(numberOf(world, 'points'));
        return {
          point(step, value) {
            if (!Number.isFinite(value)) return undefined;
            const least = numberOf(world, 'least');
            if (!low.next(value < least && value > 0, step)) return 'seen';
            return {
              kind: 'almost nothing',
              sentence: `${from(series, low.from, step)} is ${read(value)}, below ${read(least)}: gradients are not finite, and steps are left out.`,
              step: low.from,
              value,
              low: least,
            };
          },
        };
      },
      why: { otherwise: 'no loss scale is logged' },
    }),
};
