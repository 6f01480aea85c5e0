import { describe, expect, test } from 'vitest';
import type { PropertyResult, RunEvent } from '../../../../src/check/events.ts';
import { MOST_CARDS } from '../../../../src/report/html/failure/told.ts';
import { htmlBody, htmlReport } from '../../../../src/report/html/run/report.ts';
import { type Run, runsOf } from '../../../../src/report/runs.ts';
import { failure, REPLAY, result, runStart } from '../../results.ts';

const END: RunEvent = { type: 'run-end', interrupted: false, milliseconds: 1200 };

function runOf(results: readonly PropertyResult[], end: RunEvent | null = END): Run {
  const start = { ...runStart(results.map(({ id }) => id)), replay: REPLAY } as RunEvent;
  const events = results.map((one): RunEvent => ({ type: 'property-end', result: one }));
  const [run] = runsOf([start, ...events, ...(end === null ? [] : [end])]);
  if (run === undefined) throw new Error('no run');
  return run;
}

const fails = (id: string, more: Partial<PropertyResult> = {}): PropertyResult =>
  result({ id, verdict: 'fail', failure: failure(), ...more });

function trouble(id: string, message: string): PropertyResult {
  const trainerFailure = { kind: 'error', message, advice: 'Look at it.' } as const;
  const { finding: _, ...rest } = failure();
  return result({ id, verdict: 'error', failure: { ...rest, trainerFailure } });
}

const countOf = (text: string, part: string): number => text.split(part).length - 1;

describe('the report as a page', () => {
  test('begins with the verdict as one sentence', () => {
    const body = htmlBody([runOf([fails('mask/a'), result({ id: 'mask/b' })])]);
    expect(body).toMatch(/^<h1[^>]*>.*2 properties: 1 holds, 1 fails<\/h1>/);
  });

  test('says when the run began, where its events do', () => {
    const run = runOf([result()]);
    const started = '2026-03-01T09:30:00.000Z';
    const body = htmlBody([{ ...run, start: { ...run.start, started } }]);
    expect(body).toContain(`<time datetime="${started}">2026-03-01 09:30 UTC</time>`);
    expect(htmlBody([run])).not.toContain('<time');
  });

  test('tells a failure before the matrix, and once', () => {
    const body = htmlBody([runOf([result({ id: 'mask/b' }), fails('mask/a')])]);
    expect(countOf(body, '<article')).toBe(1);
    expect(body.indexOf('<article')).toBeLessThan(body.indexOf('class="matrix"'));
  });

  test('has one card for the same failure of several runs, and one each for different ones', () => {
    const same = htmlBody([runOf([fails('mask/a')]), runOf([fails('mask/a')])]);
    expect(countOf(same, '<article')).toBe(1);
    expect(same).toContain('the same in my-trainer 0.4 (2)');
    const other = fails('mask/a', { failure: failure({ caseId: 'other1' }) });
    const different = htmlBody([runOf([fails('mask/a')]), runOf([other])]);
    expect(countOf(different, '<article')).toBe(2);
    expect(different).toContain('id="mask/a~2"');
  });

  test('tells what a trainer does in every property once, and refers to it', () => {
    const body = htmlBody([
      runOf([trouble('mask/a', 'Column 3 is missing.'), trouble('mask/b', 'Column 7 is missing.')]),
    ]);
    expect(countOf(body, '<article')).toBe(1);
    expect(body).toContain('The trainer fails here as in <a href="#mask/a">');
  });

  test('says of a known failure why, and links only what a browser opens as a page', () => {
    const known = fails('mask/a', {
      verdict: 'known',
      reason: 'Being mended.',
      link: 'https://example.org/1',
    });
    const body = htmlBody([runOf([known])]);
    expect(body).toContain('Being mended.');
    expect(body).toContain('<a href="https://example.org/1"');
    expect(body).not.toContain('id="failures"');
    expect(htmlBody([runOf([{ ...known, link: 'javascript:alert(1)' }])])).not.toContain('javascript:');
  });

  test('has no green light for a run that was cut off or interrupted', () => {
    const cut = htmlBody([runOf([result()], null)]);
    expect(cut).toContain('Not finished.');
    expect(cut).not.toContain('<h1 class="blue">');
    const stopped = htmlBody([runOf([result()], { type: 'run-end', interrupted: true, milliseconds: 5 })]);
    expect(stopped).toContain('Interrupted.');
    expect(stopped).not.toContain('<h1 class="blue">');
    expect(htmlBody([runOf([result()])])).toContain('<h1 class="blue">');
  });

  test('has no green light where nothing was judged', () => {
    const none = result({ verdict: 'unsupported', cases: 0, reason: 'no op' });
    expect(htmlBody([runOf([none])])).not.toContain('<h1 class="blue">');
    expect(htmlBody([runOf([])])).not.toContain('<h1 class="blue">');
    expect(htmlBody([])).toContain('No run');
  });

  test('warns of thin labels and of passes that rest on less than half of their cases', () => {
    const thin = [{ label: 'two turns', share: 0.02, least: 0.2, judged: 100, refused: 0 }];
    const body = htmlBody([
      runOf([
        result({
          id: 'mask/a',
          verdict: 'thin',
          thin,
          labels: { 'two turns': 2 },
          coverage: { 'two turns': 0.2 },
        }),
        result({ id: 'mask/b', rejected: 80 }),
      ]),
    ]);
    expect(body).toContain('only 2 % of the 100 cases');
    expect(body).toContain('the trainer refused 80 of 100 cases');
    expect(body).toContain('(at least 20\u00a0%)');
  });

  test('says where runs that are compared did not try the same cases', () => {
    const one = runOf([result()]);
    const other = { ...one, start: { ...one.start, seed: 7 } };
    expect(htmlBody([one, other])).toContain('These runs differ in seed');
    expect(htmlBody([one, one])).not.toContain('These runs differ');
  });

  test('shows what is declared, configured over it, and measured', () => {
    const { start, ...run } = runOf([result()]);
    const hello = { ...start.hello, semantics: { kl_estimator: 'k1', kl_clamp: null } as const };
    const page = htmlBody([
      {
        ...run,
        start: { ...start, hello, configured: { kl_estimator: 'k3' }, measured: { advantage_ddof: 1 } },
      },
    ]);
    expect(page).toContain('<b>k3</b> <small>configured</small>');
    expect(page).toContain('<s>k1</s> <small>declared, not used</small>');
    expect(page).toContain('<b>none</b> <small>declared</small>');
    expect(page).toContain('<b>1</b> <small>measured</small>');
  });

  test('lists ten thousand failures in a page that a browser opens', () => {
    const ids = Array.from({ length: 10_000 }, (_, at) => `mask/rule-${at}`);
    const labels = { one: 50, two: 20, three: 10 };
    const results = ids.map((id, at) => fails(id, { labels, failure: failure({ caseId: `c${at}` }) }));
    const page = htmlReport([runOf(results)]);
    expect(countOf(page, '<article')).toBe(MOST_CARDS);
    expect(countOf(page, '<code>mask/rule-9999</code>')).toBe(1);
    expect(countOf(page, 'id="mask/rule-9999"')).toBe(1);
    expect(page).toContain('npx lossproof replay c9999');
    expect(page.length).toBeLessThan(5_000_000);
  });

  test('stays small in an ordinary run', () => {
    const labels = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`label number ${at}`, 10 * at]));
    const coverage = { 'label number 5': 0.2, 'label number 6': 0.2 };
    const results = Array.from({ length: 250 }, (_, at) =>
      at < 5 ? fails(`mask/rule-${at}`) : result({ id: `mask/a-rule-that-holds-${at}`, labels, coverage }),
    );
    expect(htmlReport([runOf(results)]).length).toBeLessThan(600_000);
  });
});
