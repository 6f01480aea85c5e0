// Verdicts on a history, as the events of one run.
import { describe, expect, test } from 'vitest';
import type { PropertyResult, RunEvent } from '../../src/check/events.ts';
import type { History } from '../../src/monitor/history/history.ts';
import type { MonitorRule } from '../../src/monitor/rule.ts';
import { resultOf } from '../../src/monitor/run.ts';
import { eventLine, readEvents } from '../../src/report/machine/ndjson.ts';
import { eventsOf, finite, ledgerOf, limit, log, noBad, rule } from './logged.ts';

function resultsOf(history: History, rules: readonly MonitorRule[]): readonly PropertyResult[] {
  return eventsOf(history, rules).flatMap((event) => (event.type === 'property-end' ? [event.result] : []));
}

describe('a rule', () => {
  test('that judged and found nothing passes, and says how often it judged', () => {
    const history = ledgerOf([limit('kl')]);
    log(history, 'a', 'kl', [1, 2, 3]);
    expect(
      resultsOf(
        history,
        [...(history.runs()[0]?.rules ?? [])].map(({ rule: each }) => each),
      ),
    ).toMatchObject([{ verdict: 'pass', cases: 3 }]);
  });

  test('whose series was never logged is unsupported, and names what it asks for', () => {
    const rules = [limit('kl'), noBad];
    const history = ledgerOf(rules);
    log(history, 'a', 'loss', [1]);
    expect(resultsOf(history, rules)).toMatchObject([
      { verdict: 'unsupported', reason: 'no series of kl is logged' },
      { verdict: 'unsupported', reason: 'no rollouts were read; --rollouts PATH names them' },
    ]);
  });

  test('whose series is there and says nothing is skipped, with its own reason', () => {
    const shy = limit('kl', {
      watch: () => ({ point: () => undefined, judged: () => 0, why: () => 'fewer than 20 steps' }),
    });
    const history = ledgerOf([shy]);
    log(history, 'a', 'kl', [1]);
    expect(resultsOf(history, [shy])).toMatchObject([{ verdict: 'skipped', reason: 'fewer than 20 steps' }]);
  });

  test('that throws is an error of ours, and no pass', () => {
    const faulty = limit('kl', {
      watch: () => ({
        point: () => {
          throw new Error('oops');
        },
        judged: () => 1,
      }),
    });
    const history = ledgerOf([faulty]);
    log(history, 'a', 'kl', [1]);
    expect(resultOf(history, faulty)).toMatchObject({ verdict: 'error' });
  });
});

describe('a broken rule', () => {
  const kl = limit('kl');

  test('is told with its first violation by step, the series, what was allowed and what to do', () => {
    const history = ledgerOf([kl]);
    log(history, 'a', 'kl', [1, 2, 40, 3]);
    const finding = resultOf(history, kl).failure?.finding;
    expect(finding).toMatchObject({
      kind: 'too large',
      sentence: 'kl is 40 at step 3, where at most 10 is usual.',
      advice: 'Look at `the data` of that step.',
      series: [{ run: 'a', name: 'kl', steps: [1, 2, 3, 4], values: [1, 2, 40, 3], violation: 2 }],
    });
    expect(finding?.series?.[0]?.band).toEqual({
      steps: [1, 2, 3, 4],
      lows: Array(4).fill(Number.NEGATIVE_INFINITY),
      highs: Array(4).fill(10),
    });
    expect(finding?.note).toBeUndefined();
  });

  test('in two of three runs names both, the others in words and in figures', () => {
    const history = ledgerOf([kl]);
    log(history, 'calm', 'kl', [1, 2]);
    log(history, 'first', 'kl', [1, 30, 31]);
    log(history, 'second', 'kl', [20, 1]);
    const finding = resultOf(history, kl).failure?.finding;
    expect(finding?.sentence).toBe('In first: kl is 30 at step 2, where at most 10 is usual.');
    expect(finding?.note).toBe(
      '2 of 3 runs break this rule. Also: In second: kl is 20 at step 1, where at most 10 is usual. It is broken 1 more time.',
    );
    expect(finding?.series?.map(({ run }) => run)).toEqual(['first', 'second']);
  });

  test('is shown with what it was found in', () => {
    const history = ledgerOf([finite]);
    log(history, 'a', 'x', [1, 2, Number.NaN]);
    expect(resultOf(history, finite).failure?.given).toEqual({
      run: 'a',
      series: 'x',
      step: 3,
      value: 'NaN',
      around: { steps: [1, 2, 3], values: [1, 2, 'NaN'] },
    });
  });

  test('over a long series has the neighbourhood of the violation exactly, and a bounded rest', () => {
    const history = ledgerOf([kl]);
    const values = Array.from({ length: 50_000 }, (_, at) => at % 5);
    values[30_000] = 99;
    log(history, 'a', 'kl', values);
    const [window] = resultOf(history, kl).failure?.finding?.series ?? [];
    const at = window?.violation ?? -1;
    expect(window?.steps.length).toBeLessThan(260);
    expect(window?.steps.slice(at - 5, at + 6)).toEqual(
      Array.from({ length: 11 }, (_, each) => 29_996 + each),
    );
    expect(window?.values[at]).toBe(99);
    expect(window?.steps[0]).toBeLessThan(1_000);
    expect(window?.steps.at(-1)).toBeGreaterThan(49_000);
  });

  test('that is told late, of a point that is no longer kept, has that point all the same', () => {
    const late = limit('kl', {
      watch: ({ series }) => ({
        point: () => undefined,
        end: () => {
          const [first] = series();
          return first && { kind: 'late', sentence: 'Late.', series: first, step: 1_234, value: 0.5 };
        },
        judged: () => 1,
      }),
    });
    const history = ledgerOf([late]);
    log(
      history,
      'a',
      'kl',
      Array.from({ length: 10_000 }, (_, at) => at),
    );
    history.end();
    const [window] = resultOf(history, late).failure?.finding?.series ?? [];
    const at = window?.violation ?? -1;
    expect([window?.steps[at], window?.values[at]]).toEqual([1_234, 0.5]);
  });
});

describe('a sample that breaks a rule', () => {
  test('is a strip of words with the marked ones marked', () => {
    const history = ledgerOf([noBad]);
    history.sample({ run: 'a', where: 'r line 1', prompt: 'Say it', completion: 'one bad word', reward: 1 });
    const { failure } = resultOf(history, noBad);
    const [strip] = failure?.finding?.strips ?? [];
    expect(strip?.tokens.map(({ text, role }) => `${role} ${text}`)).toEqual([
      'prompt Say',
      'prompt  it',
      'completion one',
      'completion  ',
      'completion bad',
      'completion  word',
    ]);
    expect(strip?.marks).toEqual([4]);
    expect(failure?.given).toEqual({
      run: 'a',
      where: 'r line 1',
      prompt: 'Say it',
      completion: 'one bad word',
      reward: 1,
    });
  });

  test('is a strip of its ids where it has them, and a long one is cut around the mark', () => {
    const marked = rule({
      samples: true,
      watch: () => ({
        sample: (sample) => ({ kind: 'x', sentence: 'X.', sample, marks: [[5_000, 5_002]] }),
        judged: () => 1,
      }),
    });
    const history = ledgerOf([marked]);
    history.sample({
      run: 'a',
      where: 'r line 1',
      completion: 'x',
      promptIds: [1, 2],
      completionIds: Array.from({ length: 9_000 }, (_, at) => at),
    });
    const [strip] = resultOf(history, marked).failure?.finding?.strips ?? [];
    expect(strip?.marks.map((at) => strip.tokens[at]?.id)).toEqual([5_000, 5_001]);
    expect(strip?.tokens.length).toBeLessThan(700);
  });
});

test('the rule that broke first is told first, and what holds keeps its place behind', () => {
  const rules = [limit('kl'), limit('reward'), limit('loss'), limit('entropy')];
  const history = ledgerOf(rules);
  log(history, 'a', 'kl', [1, 1]);
  log(history, 'a', 'reward', [1, 1, 1, 11]);
  log(history, 'a', 'loss', [1, 11]);
  log(history, 'a', 'entropy', [1, 1]);
  expect(resultsOf(history, rules).map(({ id, verdict }) => `${id} ${verdict}`)).toEqual([
    'monitor/loss-limit fail',
    'monitor/reward-limit fail',
    'monitor/kl-limit pass',
    'monitor/entropy-limit pass',
  ]);
});

test('the events cross as lines and come back the same, numbers that JSON does not have among them', () => {
  const rules = [limit('kl'), finite, noBad];
  const history = ledgerOf(rules);
  log(history, 'a', 'kl', [1, 99, Number.NaN, Number.POSITIVE_INFINITY]);
  const events = eventsOf(history, rules);
  const { events: read, problems } = readEvents(events.map(eventLine).join(''));
  expect(problems).toEqual([]);
  expect(read.map((event: RunEvent) => ({ ...event, schema: undefined }))).toEqual(
    events.map((event) => ({ ...event, schema: undefined })),
  );
});
