// A question stands in every report with the lines that answer it, whether a case asks it or what was measured; and so does
// what is noted, where a person reads.
import { expect, test } from 'vitest';
import { blocksOf } from '../../src/report/failure/blocks.ts';
import { htmlReport } from '../../src/report/html/run/report.ts';
import { annotationLines } from '../../src/report/machine/annotations.ts';
import { junitReport } from '../../src/report/machine/junit.ts';
import { markdownSummary } from '../../src/report/machine/markdown.ts';
import { sarifReport } from '../../src/report/machine/sarif.ts';
import { noteLines } from '../../src/report/notes.ts';
import type { Run } from '../../src/report/runs.ts';
import { PLAIN } from '../../src/report/text/paint.ts';
import { failing, runWith } from './machine/finished.ts';
import { REPLAY, result } from './results.ts';

const ANSWER = 'own_formulas';
const measured = result({
  id: 'loss/x',
  verdict: 'ask',
  reason: 'Its formula is none of the known ones.',
  answers: [`${ANSWER} loss`],
});
const failure = failing('kl/x');
const ofACase = {
  ...failure,
  verdict: 'ask' as const,
  ...(failure.failure?.finding === undefined
    ? {}
    : {
        failure: { ...failure.failure, finding: { ...failure.failure.finding, answers: [`${ANSWER} kl`] } },
      }),
};

const blocks = ({ results }: Run): string =>
  blocksOf(results, () => ({ width: 100, paint: PLAIN, replay: REPLAY }))
    .flat()
    .join('\n');

const REPORTS: readonly (readonly [string, (run: Run) => string])[] = [
  ['terminal', blocks],
  ['page', (run) => htmlReport([run])],
  ['JUnit', (run) => junitReport([run])],
  ['SARIF', (run) => sarifReport([run])],
  ['Markdown', (run) => markdownSummary([run])],
  ['annotations', (run) => annotationLines([run]).join('\n')],
];

test.each(REPORTS)('%s: what was measured is asked, with its answer', (_, report) => {
  const text = report(runWith([measured]));
  expect(text).toContain('none of the known ones');
  expect(text).toMatch(/own\\?_formulas loss/);
});

test.each(REPORTS.slice(0, 2))('%s: a case asks, with its answer', (_, report) => {
  expect(report(runWith([ofACase]))).toContain(`${ANSWER} kl`);
});

test('what is noted is told with the line that declares it', () => {
  const notes = [
    { sentence: 'Each micro-batch has its own denominator.', answers: ['"loss_normalization": "local"'] },
  ];
  const run = runWith([result()], { notes });
  for (const text of [
    noteLines(notes, [], 80).join('\n'),
    htmlReport([run]).replaceAll('&quot;', '"'),
    markdownSummary([run]),
  ]) {
    expect(text).toContain('Legal, and often not meant');
    expect(text).toContain('Each micro-batch has its own denominator.');
    expect(text).toContain('"loss_normalization": "local"');
  }
  expect(noteLines([], [result()], 80)).toEqual([]);
});
