// A critic that knows less than a constant.
import type { MonitorRule } from '../../../src/index.ts';
import { from, read, watchStreaks } from '../watches.ts';
import { inARow, numberOf } from '../world.ts';

export const criticExplains: MonitorRule = {
  id: 'monitor/critic-explains-returns',
  title: "The critic's values do not stay further from the returns than their mean is",
  stage: 'monitor',
  level: 'should',
  why: 'An explained variance below 0 says that one number for all states would be nearer. Advantages computed with such values have more noise than without a critic. It begins so, and does not stay so: a critic whose columns are shifted, whose targets are whitened or whose own steps are too few never gets out of it.',
  catches: ['VAL-11', 'VAL-03'],
  advice:
    'Compare the columns of values and returns of one row: a value is of the state before its token. Check that targets are the returns and not advantages, and train the critic some steps alone first.',
  roles: ['explained_variance'],
  settings: {
    most: { default: -0.1, what: 'Explained variance: around 0 is noise.' },
    points: inARow(100, 'A new critic takes its time.'),
  },
  watch: (world) =>
    watchStreaks(world, {
      reading: (series, value) => {
        const most = numberOf(world, 'most');
        return {
          bad: value < most,
          kind: 'below 0',
          sentence: (first, last) =>
            `${from(series, first, last)} is below ${read(most)}, now ${read(value)}: the mean of the returns would be nearer to them than the critic's values are.`,
          low: most,
        };
      },
      why: 'no number was logged',
    }),
};
