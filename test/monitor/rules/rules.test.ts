// Every rule over series finds faults and has no false positives: logs that break it are named in time, logs that look alike are not.
import { describe, expect, test } from 'vitest';
import { seriesRules } from '../../../properties/monitor/index.ts';
import { bugs } from '../../../src/bugs/index.ts';
import { SERIES_ROLES } from '../../../src/monitor/series.ts';
import { sayingsOf } from './logs.ts';
import { TABLE } from './table.ts';

/** Said in the third row after the onset at the latest, unless the rule waits longer by design. */
const WITHIN = 2;

describe('the rules', () => {
  test('are all in the table, and the table names no other', () => {
    expect(Object.keys(TABLE).sort()).toEqual(seriesRules.map(({ id }) => id).sort());
    for (const [id, { breaking, holding }] of Object.entries(TABLE)) {
      expect(breaking, id).not.toEqual([]);
      expect(holding, id).not.toEqual([]);
    }
  });

  test.each(seriesRules.map((rule) => [rule.id, rule] as const))('%s says what it is', (id, rule) => {
    expect(id).toMatch(/^monitor\/[a-z0-9-]+$/);
    expect(rule.stage).toBe('monitor');
    for (const text of [rule.why, rule.advice]) expect(text).toMatch(/^[A-Z`].*\.$/s);
    expect(rule.title).toMatch(/^[A-Z`].*[^.]$/s);
    for (const bug of rule.catches) expect(bugs.map((each) => each.id)).toContain(bug);
    for (const role of rule.roles) expect(SERIES_ROLES).toContain(role);
    for (const [name, setting] of Object.entries(rule.settings))
      expect(setting.what, `${id}.${name}`).toMatch(/^[A-Z`0-9].*\.$/s);
  });
});

const breaking = Object.entries(TABLE).flatMap(([id, cases]) =>
  cases.breaking.map((each) => [id, each.what, each] as const),
);
const holding = Object.entries(TABLE).flatMap(([id, cases]) =>
  cases.holding.map((each) => [id, each.what, each] as const),
);
const ruleOf = (id: string) => seriesRules.filter((rule) => rule.id === id);

describe('is broken', () => {
  test.each(breaking)('%s by %s', (id, _what, log) => {
    const { said } = sayingsOf(ruleOf(id), log);
    expect(said).not.toEqual([]);
    const { violation, row } = said[0] as (typeof said)[number];
    const first = log.first ?? 1;
    const every = log.every ?? 1;
    expect(row, violation.sentence).toBeGreaterThanOrEqual(log.onset);
    const rows = Math.max(...Object.values(log.series).map((values) => values.length));
    expect(Math.min(row, rows), violation.sentence).toBeLessThanOrEqual(log.onset + (log.within ?? WITHIN));
    // The step that is named is the first that is wrong, not the one in which that became certain.
    expect(violation.step, violation.sentence).toBeLessThanOrEqual(
      first + (log.onset + (log.within ?? 1)) * every,
    );
    expect(violation.sentence).toMatch(/^[A-Za-z].*\.$/s);
  });
});

describe('holds', () => {
  test.each(holding)('%s for %s', (id, _what, log) => {
    const { said, run } = sayingsOf(ruleOf(id), log);
    expect(said.map(({ violation }) => violation.sentence)).toEqual([]);
    const [state] = run.rules;
    if (log.silent === true) {
      expect(state?.watch.judged()).toBe(0);
      expect(state?.watch.why?.()).toMatch(/\S/);
    } else expect(state?.watch.judged()).toBeGreaterThan(0);
  });

  test.each(breaking)(
    '%s for the same without its values, one point, or none of its series',
    (id, _what, log) => {
      const one = Object.fromEntries(Object.entries(log.series).map(([name]) => [name, [1e-3]]));
      expect(sayingsOf(ruleOf(id), { series: one }).said).toEqual([]);
      expect(sayingsOf(ruleOf(id), { series: { unknown: [1, 2, 3] } }).said).toEqual([]);
    },
  );
});

describe('a resumed run', () => {
  test.each(Object.entries(TABLE))('that goes back is not broken by it: %s', (id, { holding: cases }) => {
    for (const log of cases) {
      const again = Object.fromEntries(
        Object.entries(log.series).map(([name, values]) => [
          name,
          [...values, ...values.slice(values.length >> 1)],
        ]),
      );
      if (/schedule|loss-stays/.test(id) || (log.every ?? 1) > 1) continue;
      expect(
        sayingsOf(ruleOf(id), { ...log, series: again }).said.map(({ violation }) => violation.sentence),
      ).toEqual([]);
    }
  });
});
