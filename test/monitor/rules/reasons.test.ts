// Why a rule judged nothing, said of what there is: no reason may say that something is missing which was logged.
import { describe, expect, test } from 'vitest';
import { seriesRules } from '../../../properties/monitor/index.ts';
import { ROLE_NAMES } from '../../../src/monitor/role-names.ts';
import { resultOf } from '../../../src/monitor/run.ts';
import { SERIES_ROLES, type SeriesRole } from '../../../src/monitor/series.ts';
import { ledgerOf, log } from '../logged.ts';

const nameOf = (role: SeriesRole): string => (ROLE_NAMES[role]?.[0] ?? role).replace(/^.*:/, '');
/** Values that no rule is broken by, above 0 and below 1, all of them different. */
const values = (count: number): number[] => Array.from({ length: count }, (_, at) => 0.5 + at * 1e-4);

const reasonsOf = (series: Readonly<Record<string, number>>): readonly string[] => {
  const history = ledgerOf(seriesRules);
  for (const [name, count] of Object.entries(series)) log(history, 'run', name, values(count));
  history.end();
  return seriesRules.flatMap((rule) => {
    const { verdict, reason } = resultOf(history, rule);
    return verdict === 'skipped' || verdict === 'unsupported' ? [`${rule.id}: ${reason}`] : [];
  });
};

describe.each(SERIES_ROLES)('beside 200 points of %s', (role) => {
  const name = nameOf(role);

  test('no reason says that there are none', () => {
    for (const reason of reasonsOf({ [name]: 200 })) {
      const said = reason.replace(/^[^:]*: /, '');
      expect(said, reason).not.toMatch(new RegExp(`^no series of [a-z_ ]*\\b${role}\\b`));
      expect(said, reason).not.toMatch(/nothing was logged/);
      // What is said to be missing stands beside what is there.
      if (/^(loss|sft_loss|policy_loss)$/.test(role)) expect(said, reason).not.toMatch(/^no loss/);
      if (role === 'grad_norm') expect(said, reason).not.toMatch(/^no gradient norm/);
    }
  });

  test('a number of points is that of the series, and too small', () => {
    for (const count of [1, 4, 200])
      for (const reason of reasonsOf({ [name]: count })) {
        const [, needed, has] = /needs (\d+) [a-z ]+; .* has (\d+)$/.exec(reason) ?? [];
        if (needed === undefined) expect(reason).not.toMatch(/fewer than \d+ (?:steps|values) are logged/);
        else expect([Number(has), Number(has) < Number(needed)], reason).toEqual([count, true]);
      }
  });
});

test('a loss that is a part is named, and so is what is logged beside a gradient norm', () => {
  const reasons = reasonsOf({ 'train/aux_loss': 200, grad_norm: 200 });
  const of = (id: string): string | undefined =>
    reasons.find((reason) => reason.startsWith(`monitor/${id}:`));
  expect(of('zero-loss')).toBe(
    'monitor/zero-loss: no loss of the whole is logged beside train/aux_loss, grad_norm',
  );
  expect(of('gradient-flows')).toBe(
    'monitor/gradient-flows: no loss of the whole is logged beside train/aux_loss, grad_norm',
  );
});

test('evaluations alone are named as such', () => {
  expect(reasonsOf({ eval_loss: 40 })).toContain(
    'monitor/learning-rate-size: no series of learning_rate is logged',
  );
  expect(reasonsOf({ eval_loss: 40 }).find((reason) => reason.startsWith('monitor/supervised'))).toBe(
    'monitor/supervised-loss-not-negative: of loss or sft_loss only evaluations are logged (eval_loss)',
  );
});
