// Verdicts on a book, as the events of one run.
import { describe, expect, test } from 'vitest';
import type { PropertyResult, RunEvent } from '../../src/check/events.ts';
import type { Book } from '../../src/monitor/book.ts';
import type { MonitorRule } from '../../src/monitor/rule.ts';
import { resultOf } from '../../src/monitor/run.ts';
import { eventLine, readEvents } from '../../src/report/machine/ndjson.ts';
import { bookOf, eventsOf, finite, limit, log, noBad, rule } from './logged.ts';

function resultsOf(book: Book, rules: readonly MonitorRule[]): readonly PropertyResult[] {
  return eventsOf(book, rules).flatMap((event) => (event.type === 'property-end' ? [event.result] : []));
}

describe('a rule', () => {
  test('that judged and found nothing passes, and says how often it judged', () => {
    const book = bookOf([limit('kl')]);
    log(book, 'a', 'kl', [1, 2, 3]);
    expect(
      resultsOf(
        book,
        [...(book.runs()[0]?.rules ?? [])].map(({ rule: each }) => each),
      ),
    ).toMatchObject([{ verdict: 'pass', cases: 3 }]);
  });

  test('whose series was never logged is unsupported, and names what it asks for', () => {
    const rules = [limit('kl'), noBad];
    const book = bookOf(rules);
    log(book, 'a', 'loss', [1]);
    expect(resultsOf(book, rules)).toMatchObject([
      { verdict: 'unsupported', reason: 'no series of kl is logged' },
      { verdict: 'unsupported', reason: 'no rollouts were read; --rollouts PATH names them' },
    ]);
  });

  test('whose series is there and says nothing is skipped, with its own reason', () => {
    const shy = limit('kl', {
      watch: () => ({ point: () => undefined, judged: () => 0, why: () => 'fewer than 20 steps' }),
    });
    const book = bookOf([shy]);
    log(book, 'a', 'kl', [1]);
    expect(resultsOf(book, [shy])).toMatchObject([{ verdict: 'skipped', reason: 'fewer than 20 steps' }]);
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
    const book = bookOf([faulty]);
    log(book, 'a', 'kl', [1]);
    expect(resultOf(book, faulty)).toMatchObject({ verdict: 'error' });
  });
});

describe('a broken rule', () => {
  const kl = limit('kl');

  test('is told with its first violation by step, the series, what was allowed and what to do', () => {
    const book = bookOf([kl]);
    log(book, 'a', 'kl', [1, 2, 40, 3]);
    const finding = resultOf(book, kl).failure?.finding;
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
    const book = bookOf([kl]);
    log(book, 'calm', 'kl', [1, 2]);
    log(book, 'first', 'kl', [1, 30, 31]);
    log(book, 'second', 'kl', [20, 1]);
    const finding = resultOf(book, kl).failure?.finding;
    expect(finding?.sentence).toBe('In first: kl is 30 at step 2, where at most 10 is usual.');
    expect(finding?.note).toBe(
      '2 of 3 runs break this rule. Also: In second: kl is 20 at step 1, where at most 10 is usual. It is broken 1 more time.',
    );
    expect(finding?.series?.map(({ run }) => run)).toEqual(['first', 'second']);
  });

  test('is shown with what it was found in', () => {
    const book = bookOf([finite]);
    log(book, 'a', 'x', [1, 2, Number.NaN]);
    expect(resultOf(book, finite).failure?.given).toEqual({
      run: 'a',
      series: 'x',
      step: 3,
      value: 'NaN',
      around: { steps: [1, 2, 3], values: [1, 2, 'NaN'] },
    });
  });

  test('over a long series has the neighbourhood of the violation exactly, and a bounded rest', () => {
    const book = bookOf([kl]);
    const values = Array.from({ length: 50_000 }, (_, at) => at % 5);
    values[30_000] = 99;
    log(book, 'a', 'kl', values);
    const [window] = resultOf(book, kl).failure?.finding?.series ?? [];
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
    const book = bookOf([late]);
    log(
      book,
      'a',
      'kl',
      Array.from({ length: 10_000 }, (_, at) => at),
    );
    book.end();
    const [window] = resultOf(book, late).failure?.finding?.series ?? [];
    const at = window?.violation ?? -1;
    expect([window?.steps[at], window?.values[at]]).toEqual([1_234, 0.5]);
  });
});

describe('a sample that breaks a rule', () => {
  test('is a strip of words with the marked ones marked', () => {
    const book = bookOf([noBad]);
    book.sample({ run: 'a', where: 'r line 1', prompt: 'Say it', completion: 'one bad word', reward: 1 });
    const { failure } = resultOf(book, noBad);
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
    const book = bookOf([marked]);
    book.sample({
      run: 'a',
      where: 'r line 1',
      completion: 'x',
      promptIds: [1, 2],
      completionIds: Array.from({ length: 9_000 }, (_, at) => at),
    });
    const [strip] = resultOf(book, marked).failure?.finding?.strips ?? [];
    expect(strip?.marks.map((at) => strip.tokens[at]?.id)).toEqual([5_000, 5_001]);
    expect(strip?.tokens.length).toBeLessThan(700);
  });
});

test('the rule that broke first is told first, and what holds keeps its place behind', () => {
  const rules = [limit('kl'), limit('reward'), limit('loss'), limit('entropy')];
  const book = bookOf(rules);
  log(book, 'a', 'kl', [1, 1]);
  log(book, 'a', 'reward', [1, 1, 1, 11]);
  log(book, 'a', 'loss', [1, 11]);
  log(book, 'a', 'entropy', [1, 1]);
  expect(resultsOf(book, rules).map(({ id, verdict }) => `${id} ${verdict}`)).toEqual([
    'monitor/loss-limit fail',
    'monitor/reward-limit fail',
    'monitor/kl-limit pass',
    'monitor/entropy-limit pass',
  ]);
});

test('the events cross as lines and come back the same, numbers that JSON does not have among them', () => {
  const rules = [limit('kl'), finite, noBad];
  const book = bookOf(rules);
  log(book, 'a', 'kl', [1, 99, Number.NaN, Number.POSITIVE_INFINITY]);
  const events = eventsOf(book, rules);
  const { events: read, problems } = readEvents(events.map(eventLine).join(''));
  expect(problems).toEqual([]);
  expect(read.map((event: RunEvent) => ({ ...event, schema: undefined }))).toEqual(
    events.map((event) => ({ ...event, schema: undefined })),
  );
});
