// Logs on a terminal, as pure functions: the line of a series, what was read, the live block, the block of a failure.
import { describe, expect, test } from 'vitest';
import { resultOf } from '../../src/monitor/run.ts';
import { standingOf, viewsOf } from '../../src/monitor/view.ts';
import { failureLines } from '../../src/report/failure/failure.ts';
import { htmlReport } from '../../src/report/html/run/report.ts';
import { junitReport } from '../../src/report/machine/junit.ts';
import { markdownSummary } from '../../src/report/machine/markdown.ts';
import { sarifReport } from '../../src/report/machine/sarif.ts';
import { ago, liveLines, type MonitorPrint, monitorLines } from '../../src/report/monitor/monitor.ts';
import { runsOf } from '../../src/report/runs.ts';
import { PLAIN } from '../../src/report/text/paint.ts';
import { lettersOf, sparkline } from '../../src/report/text/sparkline.ts';
import { widthOf } from '../../src/report/text/visible.ts';
import { eventsOf, FACTS, finite, ledgerOf, limit, log } from '../monitor/logged.ts';

describe('a line of blocks', () => {
  test('rises where the series rises', () => {
    expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7], 8).text).toBe('▁▂▃▄▅▆▇█');
    expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7], 8, 'ascii').text).toBe('_.-=+*^#');
  });

  test('shows a spike of one point among thousands, and one that goes down', () => {
    const values = Array.from({ length: 5_000 }, () => 1);
    values[2_500] = 9;
    expect(sparkline(values, 10).text).toBe('▁▁▁▁▁█▁▁▁▁');
    expect(
      sparkline(
        values.map((value) => -value),
        10,
      ).text,
    ).toBe('█████▁████');
  });

  test('of a series that never moves is low and is not empty; of none it is', () => {
    expect(sparkline([5, 5, 5], 8).text).toBe('▃▃▃');
    expect(sparkline([], 8).text).toBe('');
  });

  test('marks what is no number, and does not let it flatten the others', () => {
    expect(sparkline([0, Number.NaN, 7, Number.POSITIVE_INFINITY], 4).text).toBe('▁×█×');
    expect(sparkline([-1e308, 1e308], 2).text).toBe('▁█');
  });

  test('tells the column of a point', () => {
    const line = sparkline([1, 2, 3, 4, 5, 6], 3);
    expect([0, 1, 2, 5, 6, -1].map(line.columnOf)).toEqual([0, 0, 1, 2, undefined, undefined]);
  });

  test('is of ASCII where the terminal says that it has nothing else', () => {
    expect(lettersOf({})).toBe('unicode');
    expect(lettersOf({ LANG: 'de_DE.UTF-8' })).toBe('unicode');
    expect(lettersOf({ LANG: 'C.utf8' })).toBe('unicode');
    expect(lettersOf({ LANG: 'de_DE.UTF-8', LC_ALL: 'C' })).toBe('ascii');
    expect(lettersOf({ TERM: 'linux' })).toBe('ascii');
  });
});

const rules = [limit('kl'), finite];
const history = ledgerOf(rules);
log(history, 'runs/grpo ü', 'kl', [
  ...Array.from({ length: 140 }, (_, at) => 0.1 + (at % 3) / 100),
  48.1,
  40,
]);
log(history, 'runs/grpo ü', 'train/loss', [0.5, 0.4, 0.3]);
log(history, 'runs/grpo ü', 'a_name_that_is_far_too_long_for_any_screen_sft_loss', [100, 101]);
log(history, 'runs/grpo ü', 'my_number', [1, 2]);
const read = { files: 2, points: history.points(), samples: 0, runs: viewsOf(history) };
const print = (width: number, change: Partial<MonitorPrint> = {}): MonitorPrint => ({
  width,
  paint: PLAIN,
  letters: 'unicode',
  ...change,
});

describe('what was read', () => {
  test('is a line for each series with a role: its line, its last value and step, and whether it breaks a rule', () => {
    const lines = monitorLines(read, print(100));
    expect(lines[0]).toBe('seen: 2 files · 149 points of 4 series');
    expect(lines[2]).toBe('runs/grpo ü  steps 1 to 142, 1 without a role');
    expect(lines[3]).toMatch(/^ {2}✗ kl .*█.* +40 {2}step 142$/);
    expect(lines[4]).toMatch(/^ {4}train\/loss +loss +█▅▁ +0\.3 {2}step 3$/);
    expect(lines.join('\n')).not.toContain('my_number');
  });

  test('has numbers to compare under it, of losses and rewards', () => {
    const other = ledgerOf([]);
    log(other, 'a', 'train/loss', [1.52, 1.398, 1.6, 7.4936]);
    log(other, 'a', 'eval/loss', [1.5, 1.2, Number.NaN]);
    log(other, 'a', 'grad_norm', [1, 2, 3]);
    const words = (): string[] =>
      monitorLines({ ...read, runs: viewsOf(other) }, print(100)).filter((line) =>
        line.includes('at the start'),
      );
    expect(words()).toEqual([
      '    train/loss 1.52 at the start, best 1.4 at step 2, now 7.49',
      '    eval/loss 1.5 at the start, best 1.2 at step 2, now NaN',
    ]);
    log(other, 'a', 'reward', [0.1, 0.9, 0.5]);
    expect(words()).toEqual([
      '    train/loss 1.52 at the start, now 7.49',
      '    eval/loss 1.5 at the start, now NaN',
      '    reward 0.1 at the start, best 0.9 at step 2, now 0.5',
    ]);
  });

  test('says of a series of an evaluation that it is one', () => {
    const other = ledgerOf([]);
    log(other, 'a', 'eval/loss', [1]);
    const lines = monitorLines({ ...read, runs: viewsOf(other) }, print(100));
    expect(lines.join('\n')).toMatch(/eval\/loss +evaluation +▃/);
  });

  test.each([40, 52, 70, 100, 160])('is never wider than a terminal of %i columns', (width) => {
    for (const letters of ['unicode', 'ascii'] as const)
      for (const line of monitorLines(read, print(width, { letters })))
        expect(widthOf(line), line).toBeLessThanOrEqual(width);
  });
});

describe('the live block', () => {
  const live = { ...read, standing: standingOf(history), silent: 65, waiting: 'waiting' };

  test('says how long nothing came, and how the rules stand', () => {
    const lines = liveLines(live, 20, print(100));
    expect(lines[0]).toBe('149 points of 4 series · last point 65 s ago');
    expect(lines.at(-1)).toBe('✗ 1 rule fails · ✓ 1 hold');
  });

  test('waits where there is nothing', () => {
    expect(liveLines({ ...live, silent: undefined, runs: [] }, 20, print(100))[0]).toBe('waiting');
  });

  test.each([3, 5, 8, 30])('has no more than %i lines, what is wrong among them', (rows) => {
    const lines = liveLines(live, rows, print(60));
    expect(lines.length).toBeLessThanOrEqual(rows);
    if (rows > 3) expect(lines.join('\n')).toMatch(/✗ kl/);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(60);
  });
});

test('ages are told in the unit that fits', () => {
  expect([3, 119, 600, 90_000].map(ago)).toEqual(['3 s', '119 s', '10 min', '25 h']);
});

describe('a failure', () => {
  const kl = limit('kl');
  const own = ledgerOf([kl]);
  log(own, 'a', 'kl', [1, 2, 3, 40, 5]);
  const result = resultOf(own, kl);

  test('has the series drawn, the first violation marked below it, and what to do', () => {
    expect(failureLines(result, { width: 80, paint: PLAIN, replay: FACTS.replay }).join('\n')).toBe(
      [
        '✗ monitor/kl-limit  should · judged 5 times',
        '  kl is 40 at step 4, where at most 10 is usual.',
        '',
        '  kl  ▁▁▁█▁',
        '         ▲ step 4: 40',
        '',
        '  What to do: Look at `the data` of that step.',
        '',
        '  Reproduce   npx lossproof monitor runs/',
        '  Explain     npx lossproof explain monitor/kl-limit',
      ].join('\n'),
    );
  });

  test.each([40, 44, 60])('is no wider than %i columns', (width) => {
    const lines = failureLines(result, { width, paint: PLAIN, replay: FACTS.replay, letters: 'ascii' });
    for (const line of lines.filter((each) => !each.includes('npx')))
      expect(widthOf(line), line).toBeLessThanOrEqual(width);
    expect(lines.join('\n')).toContain('^');
  });

  test('is in every other report as that of any run', () => {
    const runs = runsOf(eventsOf(own, [kl]));
    const sentence = 'kl is 40 at step 4';
    expect(htmlReport(runs)).toContain('class="violation"');
    for (const text of [htmlReport(runs), junitReport(runs), markdownSummary(runs), sarifReport(runs)])
      expect(text).toContain(sentence);
  });
});
