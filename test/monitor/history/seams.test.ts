// Logs whose steps go back to the beginning: a second run is judged apart, passes that count their own steps are counted on,
// and two writers of one log are told apart.
import { describe, expect, test } from 'vitest';
import type { History } from '../../../src/monitor/history/history.ts';
import { ledgerOf, limit } from '../logged.ts';
import { dice } from '../rules/logs.ts';

type Row = readonly [step: number, values: Readonly<Record<string, number>>];

const by = dice(3);
/** A loss that falls from 3 to 1 over as many steps, and a rate that falls to 0. */
const run = (steps: number, first = 1): Row[] =>
  Array.from({ length: steps }, (_, at) => [
    first + at,
    {
      loss: 1 + 2 * Math.exp(-at / (steps / 5)) + 0.02 * by.normal(),
      learning_rate: 1e-4 * (1 - at / steps),
    },
  ]);
const logged = (rows: readonly Row[]): History => {
  const history = ledgerOf([limit('loss')]);
  history.declare('a', 'max_steps', 100);
  for (const [step, values] of rows)
    for (const [name, value] of Object.entries(values))
      history.point(history.series('a', name), step, value, Number.NaN);
  history.end();
  return history;
};
const told = (history: History): unknown =>
  history
    .runs()
    .map(({ name, steps, series, stateOf }) => [
      name,
      ...(steps ?? []),
      series.map((each) => stateOf(each).count),
    ]);

describe('steps that go back to the beginning', () => {
  test('with the level of the beginning are a second run, which knows what the first declared', () => {
    const history = logged([...run(100), ...run(60)]);
    expect(told(history)).toEqual([
      ['a', 1, 100, [100, 100]],
      ['a (start 2)', 1, 60, [60, 60]],
    ]);
    expect(history.runs()[1]?.declared.get('max_steps')).toBe(100);
    expect(history.remarks()).toEqual([
      'a: the steps go back to 1 and what is logged begins anew: a second run is logged in the same place. It is judged apart, as a (start 2).',
      'a (start 2): the log ends at step 60 of 100 (max_steps): the run stopped early, or goes on.',
    ]);
  });

  test('three times are three more runs, the last of them of two steps', () => {
    const history = logged([...run(50), ...run(50), ...run(50), ...run(2)]);
    expect(told(history)).toEqual([
      ['a', 1, 50, [50, 50]],
      ['a (start 2)', 1, 50, [50, 50]],
      ['a (start 3)', 1, 50, [50, 50]],
      ['a (start 4)', 1, 2, [2, 2]],
    ]);
  });

  test('with the level of the end are passes that each count their own steps', () => {
    const rows = run(120).map(([step, values]): Row => [(step - 1) % 40, values]);
    const history = logged(rows);
    expect(told(history)).toEqual([['a', 0, 117, [120, 120]]]);
    expect(history.remarks()).toEqual([
      'a: the steps go back to the beginning 2 times and what is logged goes on: each pass counts its own. They are counted on here.',
    ]);
  });

  test('while others go on are two runs that write at the same time', () => {
    const [one, other] = [run(100), run(60, 1)];
    const rows = [...one.slice(0, 30), ...other.flatMap((row, at) => [row, one[30 + at] ?? row])];
    const history = logged(rows);
    expect(history.runs().map(({ name }) => name)).toEqual(['a', 'a (start 2)']);
    const [first, second] = history
      .runs()
      .map(({ steps, series, stateOf }) => [steps?.[1], series.map((each) => stateOf(each).value)]);
    expect(first?.[0]).toBe(90);
    expect(second?.[0]).toBe(60);
    expect(history.remarks()[0]).toContain('two runs write into this log at the same time');
  });
});

test('steps that go back into the run are a resumed run, in one piece', () => {
  const rows = run(100);
  const history = logged([...rows.slice(0, 80), ...rows.slice(50)]);
  expect(told(history)).toEqual([['a', 1, 100, [130, 130]]]);
  expect(history.remarks()).toEqual([]);
  const [first] = history.runs();
  const curve = first?.stateOf(history.series('a', 'loss')).curve;
  expect(curve?.course().steps).toEqual(rows.map(([step]) => step));
});

test('ranks that take turns, a few lines at a time, are one run', () => {
  const rows: Row[] = [];
  const all = run(60);
  for (let from = 0; from < all.length; from += 4)
    rows.push(...all.slice(from, from + 4), ...all.slice(from, from + 4));
  expect(logged(rows).runs()).toHaveLength(1);
});
