// Every report shows the second cause beside the first.
import { expect, test } from 'vitest';
import type { PropertyResult } from '../../src/check/events.ts';
import { blocksOf } from '../../src/report/failure/blocks.ts';
import { htmlReport } from '../../src/report/html/run/report.ts';
import { annotationLines } from '../../src/report/machine/annotations.ts';
import { junitReport } from '../../src/report/machine/junit.ts';
import { markdownSummary } from '../../src/report/machine/markdown.ts';
import { readEvents, runLines } from '../../src/report/machine/ndjson.ts';
import { sarifReport } from '../../src/report/machine/sarif.ts';
import { runsOf } from '../../src/report/runs.ts';
import { PLAIN } from '../../src/report/text/paint.ts';
import { runWith } from './machine/finished.ts';
import { failure, REPLAY, result } from './results.ts';

const SECOND = 'Behind it the scale is wrong by 2.';
const other = failure({
  caseId: 'abcdef',
  finding: {
    kind: 'scale',
    sentence: SECOND,
    numbers: [{ where: 'row 0', expected: 1, observed: Number.NaN, allowed: 0 }],
  },
  given: { prompts: [[5]], completions: [[6]] },
  casesToFail: 4,
  shrinks: 2,
});
const both = result({ verdict: 'fail', failure: failure(), others: [other] });
const run = runWith([both]);

test.each([
  ['HTML', htmlReport([run])],
  ['JUnit', junitReport([run])],
  ['SARIF', sarifReport([run])],
  ['Markdown', markdownSummary([run])],
  ['annotations', annotationLines([run]).join('\n')],
])('%s says both', (_, text) => {
  expect(text).toContain(SECOND);
  expect(text).toMatch(/belongs to the prompt of row 1/);
});

test('the terminal says how the second was found, and how it is seen again', () => {
  const [lines = []] = blocksOf([both], () => ({ width: 100, paint: PLAIN, replay: REPLAY }));
  const text = lines.join('\n');
  expect(text).toContain(`  Beside it, failed at case 4 of 100, 2 shrinks:\n  ${SECOND}\n`);
  expect(text).toContain(
    'Case   {"prompts":[[5]],"completions":[[6]]}\n\n  Reproduce   npx lossproof replay abcdef',
  );
});

test('of failures that are told in few words each cause has its sentence', () => {
  const [, lines = []] = blocksOf([both, both], () => ({ width: 100, paint: PLAIN, replay: REPLAY }), 1);
  expect(lines.join('\n')).toContain(`Beside it, failed at case 4 of 100, 2 shrinks: ${SECOND}`);
});

test('comes back out of a file of events, numbers that JSON lacks included', () => {
  const { events } = readEvents(runLines([run]));
  const [read] = runsOf(events);
  const [again] = read?.results ?? [];
  expect((again as PropertyResult).others).toEqual([other]);
});
