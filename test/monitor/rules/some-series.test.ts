// Rules ask at each point what a run logs, and a run may have ten thousand series: ten minutes of a log of five megabytes.
import { expect, test } from 'vitest';
import { someSeries } from '../../../properties/monitor/world.ts';
import type { RuleWorld, Series } from '../../../src/index.ts';

test('each series of a run is asked about once, and those behind the first that holds never', () => {
  const logged: Series[] = [];
  const world = { series: () => logged } as unknown as RuleWorld;
  const other = { series: () => [] } as unknown as RuleWorld;
  const asked: number[] = [];
  const isThird = someSeries(({ index }) => {
    asked.push(index);
    return index === 2;
  });
  const answers = [0, 1, 2, 3].map((index) => {
    logged.push({ index, run: '', name: `${index}`, part: '', evaluation: false });
    return [isThird(world), isThird(world), isThird(other)];
  });
  expect(answers).toEqual([
    [false, false, false],
    [false, false, false],
    [true, true, false],
    [true, true, false],
  ]);
  expect(asked).toEqual([0, 1, 2]);
});
