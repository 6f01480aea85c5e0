// Whose trainer a run was of stands in every report, and so does what its levels left out: whoever reads one has seen no
// other, and a green of the bundled example is not one of theirs.
import { expect, test } from 'vitest';
import type { RunEvent } from '../../src/check/events.ts';
import { htmlReport } from '../../src/report/html/run/report.ts';
import { annotationLines } from '../../src/report/machine/annotations.ts';
import { badgeJson } from '../../src/report/machine/badge.ts';
import { junitReport } from '../../src/report/machine/junit.ts';
import { markdownSummary } from '../../src/report/machine/markdown.ts';
import { readEvents, runLines } from '../../src/report/machine/ndjson.ts';
import { sarifReport } from '../../src/report/machine/sarif.ts';
import { type Run, runsOf } from '../../src/report/runs.ts';
import { runLine } from '../../src/report/summary.ts';
import { terminalReport } from '../../src/report/terminal.ts';
import { PLAIN } from '../../src/report/text/paint.ts';
import { failing, runWith } from './machine/finished.ts';
import { REPLAY, result } from './results.ts';

/** What a run leaves on the terminal. */
function terminal({ start, results, end }: Run, quiet: boolean): string {
  let text = '';
  const report = terminalReport({
    write: (piece) => {
      text += piece;
    },
    width: 100,
    paint: PLAIN,
    replay: REPLAY,
    live: false,
    quiet,
    now: () => 0,
  });
  const ends = results.map((each): RunEvent => ({ type: 'property-end', result: each }));
  for (const event of [start, ...ends, ...(end === undefined ? [] : [end])]) report(event);
  return text;
}

const REPORTS: readonly (readonly [string, (run: Run) => string])[] = [
  ['terminal', (run) => terminal(run, false)],
  ['terminal with --quiet', (run) => terminal(run, true)],
  ['page', (run) => htmlReport([run])],
  ['JUnit', (run) => junitReport([run])],
  ['SARIF', (run) => sarifReport([run])],
  ['Markdown', (run) => markdownSummary([run])],
  ['badge', (run) => badgeJson([run])],
  ['annotations', (run) => annotationLines([run]).join('\n')],
];

test.each(REPORTS)('%s: whose trainer it was', (_, report) => {
  expect(report(runWith([result()]))).toContain('my-trainer');
  expect(report(runWith([result()]))).not.toContain('bundled');
  for (const results of [[result()], [failing('mask/x')]])
    expect(report(runWith(results, { bundled: true }))).toContain('the bundled example, not your trainer');
});

test('each annotation of the bundled example says so: it stands alone beside the code', () => {
  const lines = annotationLines([runWith([failing('mask/x'), failing('mask/y')], { bundled: true })]);
  expect(lines).toHaveLength(3);
  for (const line of lines) expect(line).toMatch(/the bundled example(%2C|,) not your trainer/);
});

test('a badge over several trainers counts them', () => {
  const [one, other] = [runWith([result()]), runWith([result()])];
  const named = { ...other, start: { ...other.start, hello: { ...other.start.hello, name: 'other' } } };
  expect(JSON.parse(badgeJson([one, one]))).toMatchObject({ label: 'lossproof: my-trainer' });
  expect(JSON.parse(badgeJson([one, named]))).toMatchObject({ label: 'lossproof: 2 trainers' });
  expect(JSON.parse(badgeJson([]))).toMatchObject({ label: 'lossproof' });
});

test('how many properties the level left out is the last to be said, and is read again', () => {
  const run = runWith([result()], { notRun: { should: 23, may: 4 } });
  const words = '23 should and 4 may properties not run: --level may';
  expect(terminal(run, false)).toMatch(new RegExp(`12\\.3 s · ${words}\n$`));
  const [again] = runsOf(readEvents(runLines([run])).events);
  expect(again === undefined ? '' : runLine(again)).toContain(words);
  expect(htmlReport([run])).toContain(words);
  expect(runLine(runWith([result()], { notRun: { should: 1 } }))).toContain(
    '1 should property not run: --level should',
  );
  expect(runLine(runWith([result()], { notRun: {} }))).not.toContain('not run');
});
