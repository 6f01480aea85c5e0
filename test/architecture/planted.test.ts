// Every rule over logs has a fault that is planted into a healthy run and that it finds. That the faults of a simulated run break
// the rules that they name is shown by test/monitor/simulated; rules over samples have logs of their own in test/monitor/samples.
import { expect, test } from 'vitest';
import { besideRules } from '../../properties/monitor/beside/index.ts';
import { monitorRules, seriesRules } from '../../properties/monitor/index.ts';
import { sampleRules } from '../../properties/monitor/samples/index.ts';
import { FAULTS as BESIDE, runOf, saidBeside, TASKS } from '../monitor/beside/runs.ts';
import { FAULTS } from '../monitor/simulated/planted.ts';

const idsOf = (rules: readonly { readonly id: string }[]): readonly string[] => rules.map(({ id }) => id);

test('each rule is about series, baselines or samples', () => {
  const all = [...idsOf(seriesRules), ...idsOf(besideRules), ...idsOf(sampleRules)];
  expect(idsOf(monitorRules)).toEqual(all);
});

test('each rule over series has a planted fault', () => {
  const broken = new Set(FAULTS.flatMap(({ breaks }) => breaks));
  expect(idsOf(seriesRules).filter((id) => !broken.has(id))).toEqual([]);
  expect([...broken].filter((id) => !idsOf(seriesRules).includes(id))).toEqual([]);
});

test('each rule beside a baseline finds a planted fault', () => {
  const missing = new Set(idsOf(besideRules));
  for (const kind of TASKS)
    for (const fault of BESIDE)
      for (const task of [0, 1, 2]) {
        if (missing.size === 0) return;
        const found = saidBeside(runOf(kind, task, 7, { fault }), [runOf(kind, task, 1)]);
        for (const { rule } of found) missing.delete(rule);
      }
  expect([...missing]).toEqual([]);
});
