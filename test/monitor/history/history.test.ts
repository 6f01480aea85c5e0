// The history of a reading: points go to the rules that asked, and what stays of a series is bounded.
import { describe, expect, test } from 'vitest';
import type { Violation } from '../../../src/monitor/rule.ts';
import { finite, ledgerOf, limit, log, noBad, rule } from '../logged.ts';

describe('a point', () => {
  test('goes to the rules that asked for its role, in its own run, and to those that ask for every series', () => {
    const seen: string[] = [];
    const listening = (id: string, roles: readonly ('kl' | 'reward')[]) =>
      rule({
        id,
        roles,
        watch: ({ run }) => ({
          point: (series, step) => void seen.push(`${id} ${run} ${series.name} ${step}`),
          judged: () => 0,
        }),
      });
    const history = ledgerOf([
      listening('all', []),
      listening('kl', ['kl']),
      listening('both', ['kl', 'reward']),
    ]);
    log(history, 'a', 'kl', [1]);
    log(history, 'b', 'reward', [1]);
    log(history, 'a', 'my/number', [1]);
    expect(seen).toEqual([
      'all a kl 1',
      'kl a kl 1',
      'both a kl 1',
      'all b reward 1',
      'both b reward 1',
      'all a my/number 1',
    ]);
  });

  test('of an evaluation goes only to rules about every series', () => {
    const history = ledgerOf([limit('loss'), finite]);
    log(history, 'a', 'eval/loss', [99, Number.NaN]);
    const states = history.runs()[0]?.rules ?? [];
    expect(states.map(({ violations }) => violations.length)).toEqual([0, 1]);
    expect(states.map(({ seen }) => seen)).toEqual([false, true]);
  });

  test('has the role that the user says, which may be none', () => {
    const said = (name: string) =>
      (name === 'mine' ? 'kl' : name === 'kl' ? 'none' : undefined) as 'kl' | 'none' | undefined;
    const history = ledgerOf([limit('kl')], { roleFor: said });
    log(history, 'a', 'mine', [99]);
    log(history, 'a', 'kl', [99]);
    const { series = [], rules = [] } = history.runs()[0] ?? {};
    expect(series.map(({ role }) => role)).toEqual(['kl', undefined]);
    expect(rules[0]?.violations.map((each) => each.series?.name)).toEqual(['mine']);
  });
});

test('the same run and name are the same series, and another run another one', () => {
  const history = ledgerOf([]);
  expect(history.series('a', 'loss')).toBe(history.series('a', 'loss'));
  expect(history.series('b', 'loss').index).toBe(1);
});

test('a rule sees its settings, what the user says before what the run says, and the series so far', () => {
  const heard: unknown[] = [];
  const curious = rule({
    watch: ({ declared, series }) => ({
      point: () => void heard.push([declared('most'), declared('least'), [...series()].length]),
      judged: () => 0,
    }),
  });
  const history = ledgerOf([curious], { facts: { most: 5 } });
  history.declare('a', 'most', 7);
  history.declare('a', 'least', 1);
  history.declare('a', 'nothing', null);
  log(history, 'a', 'x', [1]);
  log(history, 'a', 'y', [1]);
  expect(heard).toEqual([
    [5, 1, 1],
    [5, 1, 2],
  ]);
});

describe('what stays', () => {
  test('of a short series is every point', () => {
    const history = ledgerOf([]);
    log(history, 'a', 'loss', [3, 1, 2]);
    const [run] = history.runs();
    const state = run?.stateOf(history.series('a', 'loss'));
    expect(state).toMatchObject({ count: 3, step: 3, value: 2, lowest: 1, highest: 3 });
    expect(state?.curve?.points()).toEqual([
      { step: 1, value: 3 },
      { step: 2, value: 1 },
      { step: 3, value: 2 },
    ]);
  });

  test('of a long series is a few hundred points, with its extremes, its end and the spike of one step', () => {
    const history = ledgerOf([]);
    const values = Array.from({ length: 100_000 }, (_, at) => Math.sin(at / 500));
    values[54_321] = 40;
    values[3] = -40;
    log(history, 'a', 'loss', values);
    const points = history.runs()[0]?.stateOf(history.series('a', 'loss')).curve?.points() ?? [];
    expect(points.length).toBeLessThan(600);
    expect(points).toContainEqual({ step: 54_322, value: 40 });
    expect(points).toContainEqual({ step: 4, value: -40 });
    expect(points.at(-1)?.step).toBe(100_000);
    const steps = points.map(({ step }) => step);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
  });

  test('around the first violation is every point, before it and behind it', () => {
    const history = ledgerOf([limit('loss')]);
    const values = Array.from({ length: 20_000 }, (_, at) => at % 7);
    values[10_000] = 50;
    log(history, 'a', 'loss', values);
    const steps = new Set(
      history
        .runs()[0]
        ?.stateOf(history.series('a', 'loss'))
        .curve?.points()
        .map(({ step }) => step),
    );
    for (let step = 9_992; step <= 10_010; step++) expect(steps).toContain(step);
  });

  test('of numbers that are none are the first, in their place', () => {
    const history = ledgerOf([]);
    log(history, 'a', 'loss', [1, Number.NaN, 2, Number.POSITIVE_INFINITY]);
    const points = history.runs()[0]?.stateOf(history.series('a', 'loss')).curve?.points() ?? [];
    expect(points.map(({ value }) => value)).toEqual([1, Number.NaN, 2, Number.POSITIVE_INFINITY]);
  });

  test('of ten thousand series without a role is their last and their extremes', () => {
    const history = ledgerOf([finite]);
    for (let at = 0; at < 10_000; at++) log(history, 'a', `x${at}`, [at, -at]);
    const [run] = history.runs();
    const curves = run?.series.filter((series) => run.stateOf(series).curve !== undefined).length ?? 0;
    expect(curves).toBeLessThan(1_000);
    expect(run?.stateOf(history.series('a', 'x9999'))).toMatchObject({
      value: -9999,
      highest: 9999,
      count: 2,
    });
    expect(history.points()).toBe(20_000);
  });
});

describe('violations', () => {
  test('are kept one for each series and kind, and the others counted', () => {
    const history = ledgerOf([limit('kl')]);
    log(history, 'a', 'kl', [1, 20, 30]);
    log(history, 'a', 'actor/kl_loss', [40]);
    const [state] = history.runs()[0]?.rules ?? [];
    expect(state?.violations.map(({ series, step }) => [series?.name, step])).toEqual([
      ['kl', 2],
      ['actor/kl_loss', 1],
    ]);
    expect(state?.more).toBe(1);
  });

  test('are told the first time in each run', () => {
    const told: string[] = [];
    const history = ledgerOf([limit('kl')], {
      onBroken: ({ run }, violation: Violation) => told.push(`${run} ${violation.step}`),
    });
    log(history, 'a', 'kl', [20, 30]);
    log(history, 'b', 'kl', [1, 30]);
    expect(told).toEqual(['a 1', 'b 2']);
  });

  test('of whole logs are asked for once, at the end', () => {
    let asked = 0;
    const never = rule({
      watch: () => ({
        judged: () => 1,
        end: () => [{ kind: 'never', sentence: `That is the ${++asked}. time.` }],
      }),
    });
    const history = ledgerOf([never]);
    log(history, 'a', 'x', [1]);
    history.end();
    history.end();
    expect(history.runs()[0]?.rules[0]?.violations).toEqual([
      { kind: 'never', sentence: 'That is the 1. time.' },
    ]);
  });

  test('of a rule that throws are a fault of ours, and the other rules go on', () => {
    const faulty = rule({
      id: 'monitor/faulty',
      watch: () => ({
        point: () => {
          throw new Error('oops');
        },
        judged: () => 0,
      }),
    });
    const history = ledgerOf([faulty, limit('kl')]);
    log(history, 'a', 'kl', [20, 20]);
    expect(history.runs()[0]?.rules.map(({ error, violations }) => [error, violations.length])).toEqual([
      ['oops', 0],
      [undefined, 1],
    ]);
  });
});

test('samples go to the rules about samples, of their run', () => {
  const history = ledgerOf([noBad, limit('kl')]);
  history.sample({ run: 'a', where: 'r.jsonl line 1', completion: 'all good' });
  history.sample({ run: 'b', where: 'r.jsonl line 2', completion: 'a bad one' });
  const broken = history
    .runs()
    .map(({ name, rules, samples }) => [name, samples, rules[0]?.violations.length]);
  expect(broken).toEqual([
    ['a', 1, 0],
    ['b', 1, 1],
  ]);
  expect(history.runs()[0]?.rules[1]?.seen).toBe(false);
});

test('complaints are kept up to a bound, and the others counted', () => {
  const history = ledgerOf([]);
  for (let at = 0; at < 1_000; at++) history.complain(`no ${at}`);
  const all = history.complaints();
  expect(all.length).toBeLessThan(300);
  expect(all.at(-1)).toMatch(/^\d+ more of the kind\.$/);
});
