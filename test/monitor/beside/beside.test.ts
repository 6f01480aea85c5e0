// Rules beside healthy runs: another seed, another length and another logging interval are no finding, faults that only a
// healthy run shows are.
import { describe, expect, test } from 'vitest';
import { besideRules } from '../../../properties/monitor/beside/index.ts';
import { SERIES_ROLES } from '../../../src/monitor/series.ts';
import { dice, type Log, make, sayingsOf } from '../rules/logs.ts';
import { type Fault, runOf, saidBeside, TASKS, type TaskKind } from './runs.ts';

/** Tasks of each kind, each beside one baseline and beside three; false-positives.long.test.ts has more. */
const TASKS_OF_A_KIND = 4;
const LENGTHS = [1, 1, 0.5, 2] as const;
const INTERVALS = [1, 1, 5] as const;
const of = <Item>(items: readonly Item[], at: number): Item => items[at % items.length] as Item;

/** As those of the fine-tune of which `monitor` saw nothing: 60 points, from 1.52 to 0.94. */
const measured = (seed: number, level: (row: number) => number, norm = 0.5): Log => {
  const by = dice(seed);
  return {
    series: {
      loss: make(60, (row) => level(row) * by.heavy(1, 0.05)),
      grad_norm: make(60, () => by.heavy(norm, 0.3)),
    },
  };
};
const healthy = (row: number): number => 0.94 + 0.58 * Math.exp(-row / 12);
const GOOD = measured(1, healthy);

const rulesOf = (log: Log, ...baselines: readonly Log[]): readonly string[] =>
  saidBeside(log, baselines).map(({ rule }) => rule.replace(/^monitor\/(.*)-beside-baseline$/, '$1'));

describe('a healthy run', () => {
  test.each(TASKS)('is not blamed beside other seeds, lengths and intervals: %s', (kind) => {
    const blamed: string[] = [];
    for (let task = 0; task < TASKS_OF_A_KIND; task++) {
      for (const count of [1, 3]) {
        const baselines = make(count, (at) => at).map((at) =>
          runOf(kind, task, at + 1, { length: of(LENGTHS, task + at), every: of(INTERVALS, task >> 2) }),
        );
        const log = runOf(kind, task, 100 + count, {
          length: of(LENGTHS, task >> 1),
          every: of(INTERVALS, task >> 3),
        });
        for (const { rule, violation } of saidBeside(log, baselines))
          blamed.push(`task ${task}: ${rule}: ${violation.sentence}`);
      }
    }
    expect(blamed).toEqual([]);
  });

  test('is not blamed beside itself, beside a part of itself, or where it is a part of a baseline', () => {
    const half: Log = {
      series: Object.fromEntries(
        Object.entries(GOOD.series).map(([name, values]) => [name, values.slice(0, 30)]),
      ),
    };
    expect(rulesOf(GOOD, GOOD)).toEqual([]);
    expect(rulesOf(GOOD, half)).toEqual([]);
    expect(rulesOf(half, GOOD)).toEqual([]);
  });
});

describe('what a healthy run shows', () => {
  test.each([
    ['labels shuffled', measured(2, (row) => 5.75 + 9.5 * Math.exp(-row / 10)), ['loss-start', 'loss']],
    ['a rate of 0', measured(3, () => 1.5), ['loss', 'improvement']],
    [
      'a rate 100 times too high',
      measured(4, (row) => (row < 20 ? healthy(row) : 7.5), 60),
      ['loss', 'grad-norm'],
    ],
    ['a loss that is summed', measured(5, (row) => 8 * healthy(row), 8), ['loss-start', 'loss', 'grad-norm']],
  ] as const)('%s', (_, log, rules) => {
    expect(rulesOf(log, GOOD)).toEqual(expect.arrayContaining([...rules]));
  });

  test.each([
    ['sft', 'overfit', 'loss'],
    ['grpo', 'reward gone', 'reward'],
    ['sparse grpo', 'reward gone', 'reward'],
    ['grpo', 'lengths run away', 'length'],
  ] as const satisfies readonly (readonly [TaskKind, Fault, string])[])('%s: %s', (kind, fault, rule) => {
    const missed: number[] = [];
    for (let task = 0; task < 10; task++)
      if (!rulesOf(runOf(kind, task, 7, { fault }), runOf(kind, task, 1)).includes(rule)) missed.push(task);
    expect(missed).toEqual([]);
  });

  test('is said with the step where it began, and with both numbers', () => {
    const [said] = saidBeside(
      measured(4, (row) => (row < 20 ? healthy(row) : 7.5)),
      [GOOD],
    ).filter(({ rule }) => rule === 'monitor/loss-beside-baseline');
    expect(said?.violation.step).toBeGreaterThanOrEqual(20);
    expect(said?.violation.step).toBeLessThanOrEqual(22);
    expect(said?.violation.sentence).toMatch(
      /^loss is above the baseline from step 2[0-2] on: best 1(\.\d+)? at step \d+, now 7\.\d+ at step 2\d; good 1 is there at 1\.\d+\.$/,
    );
    const [start] = saidBeside(
      measured(2, (row) => 5.75 + 9.5 * Math.exp(-row / 10)),
      [GOOD],
    );
    expect(start?.violation.sentence).toMatch(
      /^loss begins at 1\d\.\d+ \(median of 5 from step 1 on\); good 1 is at 1\.\d+\.$/,
    );
  });

  test('an evaluation that turns where that of the healthy run did not', () => {
    const evaluation = (turns: boolean): Log => ({
      series: {
        loss: make(60, (row) => healthy(row)),
        eval_loss: make(60, (row) => row).map((row) =>
          row % 10 === 9 ? 1 + (turns && row > 20 ? (row - 20) / 10 : 0) : undefined,
        ),
      },
    });
    expect(rulesOf(evaluation(true), evaluation(false))).toEqual(['loss']);
    expect(rulesOf(evaluation(false), evaluation(false))).toEqual([]);
  });
});

describe('what cannot be compared', () => {
  test('is not judged, and says so: nothing of the kind, too little of it, the loss of a policy', () => {
    const judge = (log: Log, baseline: Log): readonly (string | undefined)[] => {
      const said = saidBeside(log, [baseline]);
      expect(said).toEqual([]);
      return besideRules.map(({ id }) => id);
    };
    judge(GOOD, { series: { accuracy: [1, 2, 3] } });
    judge(
      measured(2, () => 15),
      { series: { loss: [1, 1] } },
    );
    const policy = (size: number): Log => ({
      series: { loss: make(40, (row) => size * Math.sin(row)), reward: make(40, () => 1) },
    });
    judge(policy(50), policy(0.1));
  });

  test('a loss of a million steps and the first hundred of another', () => {
    const fall = (row: number): number => 1 + 9 * Math.exp(-row / 30);
    const long: Log = { series: { loss: make(20_000, fall) } };
    expect(rulesOf({ series: { loss: make(100, fall) } }, long)).toEqual([]);
  });
});

describe('the rules', () => {
  test.each(besideRules.map((rule) => [rule.id, rule] as const))('%s says what it is', (id, rule) => {
    expect(id).toMatch(/^monitor\/[a-z-]+-beside-baseline$/);
    expect(rule.baseline).toBe(true);
    for (const text of [rule.why, rule.advice]) expect(text).toMatch(/^[A-Z`].*\.$/s);
    expect(rule.title).toMatch(/^[A-Z`].*[^.]$/s);
    for (const role of rule.roles) expect(SERIES_ROLES).toContain(role);
    for (const setting of Object.values(rule.settings)) expect(setting.what).toMatch(/^[A-Z`0-9].*\.$/s);
    // Without a baseline they are not asked; if they are, they judge nothing and say why.
    const { said, run } = sayingsOf([rule], {
      series: {
        loss: make(30, healthy),
        reward: make(30, () => 1),
        grad_norm: make(30, () => 1),
        completion_length: make(30, () => 9),
      },
    });
    expect(said).toEqual([]);
    expect(run.rules[0]?.watch.judged()).toBe(0);
    expect(run.rules[0]?.watch.why?.()).toMatch(/\S/);
  });
});
