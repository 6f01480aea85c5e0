// What is odd about logs and no fault of the training is said, and is not blamed on it.
import { describe, expect, test } from 'vitest';
import { seriesRules } from '../../../properties/monitor/index.ts';
import type { History } from '../../../src/monitor/history/history.ts';
import { ledgerOf } from '../logged.ts';
import { dice, make } from '../rules/logs.ts';

const by = dice(5);
const noisy = (count: number, level: number): number[] => make(count, () => level * by.heavy(1, 0.1));
const falling = (count: number): number[] =>
  make(count, (row) => 1 + 2 * Math.exp(-row / 20) + 0.02 * by.normal());
const logged = (
  series: Readonly<Record<string, readonly number[]>>,
  stepOf: (row: number) => number = (row) => row + 1,
): History => {
  const history = ledgerOf(seriesRules);
  const rows = Math.max(...Object.values(series).map(({ length }) => length));
  for (let row = 0; row < rows; row++)
    for (const [name, values] of Object.entries(series))
      if (row < values.length)
        history.point(history.series('a', name), stepOf(row), values[row] as number, Number.NaN);
  history.end();
  return history;
};
const blamed = (history: History): string[] =>
  history
    .runs()
    .flatMap(({ rules }) => rules.flatMap(({ violations }) => violations.map(({ sentence }) => sentence)));

describe('is remarked and not blamed', () => {
  test('a series that ends while the others go on', () => {
    const history = logged({ loss: falling(100), grad_norm: noisy(40, 1), lr: noisy(100, 1e-4) });
    expect(history.remarks()).toEqual(['a: grad_norm at step 40 ends, while loss goes on to step 100.']);
    expect(blamed(history)).toEqual([]);
  });

  test.each([
    ['max_steps', 400, 120],
    ['total_training_steps', 105, 90],
    ['max_iters', 5000, 30],
  ])('a run that ends before its declared number of steps: %s', (name, total, last) => {
    const series = { loss: falling(last) };
    const says = `a: the log ends at step ${last} of ${total} (${name}): the run stopped early, or goes on.`;
    expect(logged({ ...series, [name]: make(last, () => total) }).remarks()).toEqual([says]);
    const history = ledgerOf(seriesRules);
    history.declare('a', name, total);
    for (const [row, value] of series.loss.entries())
      history.point(history.series('a', 'loss'), row + 1, value, Number.NaN);
    history.end();
    expect(history.remarks()).toEqual([says]);
    expect(blamed(history)).toEqual([]);
  });

  test.each([
    ['that reached its steps', { loss: falling(120), max_steps: make(120, () => 120) }],
    ['whose last steps are not logged', { loss: falling(117), max_steps: make(117, () => 120) }],
    ['that declares none', { loss: falling(120) }],
    ['whose number of steps moves', { loss: falling(50), total_steps: make(50, (row) => 100 * row) }],
  ])('nothing of a run %s', (_what, series) => {
    expect(logged(series).remarks()).toEqual([]);
  });

  test('a share that is a percentage, from the start or from some step on', () => {
    const shares = make(60, (row) => 0.2 + 0.1 * Math.sin(row));
    for (const from of [0, 30]) {
      const history = logged({
        loss: make(60, () => 0.01 * by.normal()),
        reward: noisy(60, 0.5),
        'completions/clipped_ratio': shares.map((share, row) => (row < from ? share : 100 * share)),
      });
      expect(history.remarks()).toHaveLength(1);
      expect(history.remarks()[0]).toMatch(/clipped_ratio is [\d.]+ at step \d+, a percentage where a share/);
      expect(blamed(history)).toEqual([]);
      const [run] = history.runs();
      expect(run?.stateOf(history.series('a', 'completions/clipped_ratio')).highest).toBeLessThan(0.31);
    }
  });

  test('a percentage that begins below 1, where it looks like a share', () => {
    const history = logged({
      loss: make(60, () => 0.01 * by.normal()),
      reward: noisy(60, 0.5),
      clip_fraction: make(60, (row) => (row < 30 ? 0.72 : 1.2) * by.heavy(1, 0.05)),
    });
    expect(history.remarks()[0]).toMatch(/clip_fraction is 1\.\d+ at step \d+, a percentage where a share/);
    expect(blamed(history)).toEqual([]);
  });

  test('seconds that become milliseconds', () => {
    const history = logged({ loss: falling(60), step_time: [...noisy(30, 2), ...noisy(30, 2000)] });
    expect(history.remarks()[0]).toMatch(
      /^a: step_time is .* a thousand times that from step 31 on .* its unit may/,
    );
    expect(blamed(history)).toEqual([]);
  });

  test('steps that count tokens from some row on', () => {
    const history = logged({ loss: falling(80), lr: noisy(80, 1e-4) }, (row) =>
      row < 40 ? row + 1 : (row + 1) * 65_536,
    );
    expect(history.remarks()).toEqual([
      'a: the steps go from 40 to 2686976, and on in strides of 65536 instead of 1: from there on they count something else, such as tokens or samples.',
    ]);
    expect(blamed(history)).toEqual([]);
  });
});

test('nothing is odd about a run with evaluations, a resumption and a rare series', () => {
  const rows = [...make(60, (row) => row), ...make(50, (row) => row + 40)];
  const loss = falling(120);
  const history = ledgerOf(seriesRules);
  for (const row of rows) {
    history.point(history.series('a', 'loss'), row, loss[row] as number, Number.NaN);
    if (row % 20 === 0) history.point(history.series('a', 'eval/loss'), row, 1, Number.NaN);
    if (row < 3) history.point(history.series('a', 'kl'), row, 0.1, Number.NaN);
    history.point(history.series('a', 'clip_ratio'), row, row === 50 ? 1.7 : 0.1 * by.uniform(), Number.NaN);
  }
  history.end();
  expect(history.remarks()).toEqual([]);
});
