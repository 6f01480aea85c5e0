// Simulated runs are the same for the same seed, no two of them alike, and a fault changes nothing before its onset.
import { describe, expect, test } from 'vitest';
import { seriesRules } from '../../../properties/monitor/index.ts';
import { dice } from '../rules/logs.ts';
import { healthyRun, KINDS, seedOf, simulated } from './healthy.ts';
import { intervalOf } from './patience.ts';
import { FAULTS, foundIn, plantedRun } from './planted.ts';

const RUNS = 8;
/** Some kinds log what shows a fault in few of their runs only. */
const MOST_SEEDS = 40;

describe('healthy runs', () => {
  test.each(KINDS)('of %s are given by their seed, and log as many values as they have rows', (kind) => {
    const texts = Array.from({ length: RUNS }, (_, seed) => JSON.stringify(healthyRun(kind, seed).log));
    expect(JSON.stringify(healthyRun(kind, 3).log)).toBe(texts[3]);
    expect(new Set(texts).size).toBe(texts.length);
    for (let seed = 0; seed < RUNS; seed++) {
      const { series, steps = [] } = healthyRun(kind, seed).log;
      for (const [name, values] of Object.entries(series)) expect(values.length, name).toBe(steps.length);
    }
  });
});

describe('planted faults', () => {
  test.each(FAULTS)('$name: before its onset the run is the healthy one', (fault) => {
    const weakest = fault.strengths[0] ?? 1;
    const planted = fault.kinds.map((kind) => {
      for (let seed = 0; seed < 60; seed++) {
        const found = plantedRun(fault, kind, seed, weakest);
        if (found !== undefined) return found;
      }
      throw new Error(`none of 60 runs of ${kind} shows it`);
    });
    for (const { kind, seed, onset } of planted) {
      const run = simulated(kind, seed);
      const by = dice(seedOf(kind, seed, 2));
      const row = run.plan.steps.indexOf(onset);
      expect(row).toBeGreaterThanOrEqual(0);
      const changes = fault.plant({ run, onset: row, strength: weakest, by }) ?? {};
      expect(Object.keys(changes)).not.toEqual([]);
      if (fault.onset === 'start') continue;
      for (const [name, values] of Object.entries(changes)) {
        // A series that the healthy run does not log has nothing to be compared with.
        if (run.columns[name] === undefined || values.every((value) => value === undefined)) continue;
        expect(values.slice(0, row), name).toEqual(run.columns[name]?.slice(0, row));
      }
    }
  });

  test.each(FAULTS.filter(({ breaks }) => breaks.length > 0))(
    '$name: at its strongest it breaks the rules that it is about',
    (fault) => {
      const left = new Set(fault.breaks);
      const rules = seriesRules.filter(({ id }) => left.has(id));
      for (let seed = 0; seed < MOST_SEEDS && left.size > 0; seed++)
        for (const kind of fault.kinds) {
          const planted = plantedRun(fault, kind, seed, fault.strengths.at(-1) ?? 1);
          if (planted === undefined) continue;
          for (const id of foundIn(planted, fault, rules).keys()) left.delete(id);
        }
      expect([...left]).toEqual([]);
    },
  );

  test('that nobody can miss are found, at the step at which they begin', () => {
    const fault = FAULTS.find(({ name }) => name === 'loss NaN');
    const planted = fault && plantedRun(fault, 'pretraining', 5, 1000);
    if (planted === undefined) throw new Error('it has no such fault');
    expect([...foundIn(planted, fault ?? { breaks: [] })]).toContainEqual([
      'monitor/finite-training',
      planted.onset,
    ]);
  });
});

test('intervals are those of Clopper and Pearson', () => {
  // R's binom.test(c(0, 5, 30, 100), c(100, 100, 3000, 100)).
  expect(intervalOf(0, 100).low).toBe(0);
  expect(intervalOf(0, 100).high).toBeCloseTo(0.03621669, 6);
  expect(intervalOf(5, 100).low).toBeCloseTo(0.01643188, 6);
  expect(intervalOf(5, 100).high).toBeCloseTo(0.1128349, 6);
  expect(intervalOf(100, 100).low).toBeCloseTo(0.9637833, 6);
  expect(intervalOf(100, 100).high).toBe(1);
});
