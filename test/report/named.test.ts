// Runs of several trainers of one configuration are called in every report as the configuration calls them, and are told
// apart where the trainers call themselves alike.
import { expect, test } from 'vitest';
import { againLine } from '../../src/report/failure/reproduce.ts';
import { htmlReport } from '../../src/report/html/run/report.ts';
import { annotationLines } from '../../src/report/machine/annotations.ts';
import { junitReport } from '../../src/report/machine/junit.ts';
import { markdownSummary } from '../../src/report/machine/markdown.ts';
import { readEvents, runLines } from '../../src/report/machine/ndjson.ts';
import { sarifReport } from '../../src/report/machine/sarif.ts';
import { lastingNames, type Run, runNames, runsOf } from '../../src/report/runs.ts';
import { failing, HOSTILE, runWith } from './machine/finished.ts';
import { result } from './results.ts';

const LEFT = 'grpo · tokenizer a · padding_side left';
const RIGHT = 'grpo · tokenizer a · padding_side right';

const RUNS: readonly Run[] = [
  runWith([failing('mask/a', 'Token 3 is trained.')], { name: LEFT }),
  runWith([result({ id: 'mask/a' })], { name: RIGHT }),
];

test.each<[string, (runs: readonly Run[]) => string]>([
  ['html', htmlReport],
  ['junit', junitReport],
  ['sarif', sarifReport],
  ['markdown', markdownSummary],
])('%s has both', (_, report) => {
  const text = report(RUNS).replaceAll('\\_', '_');
  for (const name of [LEFT, RIGHT]) expect(text).toContain(name);
});

test('a column each', () => {
  const heads = [...htmlReport(RUNS).matchAll(/<th scope="col" class="run">(.*?)<\/th>/g)];
  expect(heads.map(([, name]) => name)).toEqual([LEFT, RIGHT]);
});

test('the annotation of a failure says whose it is', () => {
  const [error = '', ...others] = annotationLines(RUNS);
  expect(error).toContain(LEFT);
  expect(error).not.toContain(RIGHT);
  expect(others.some((line) => line.startsWith('::error'))).toBe(false);
});

test('names pass through events, and one that two runs have is numbered', () => {
  const read = runsOf(readEvents(runLines([...RUNS, ...RUNS])).events);
  expect(runNames(read)).toEqual([`${LEFT} (1)`, `${RIGHT} (1)`, `${LEFT} (2)`, `${RIGHT} (2)`]);
  expect(lastingNames(read)).toEqual([LEFT, RIGHT, `${LEFT} (2)`, `${RIGHT} (2)`]);
});

test('a failure is drawn again by the name: the command alone lacks what the configuration says', () => {
  const [first] = RUNS;
  expect(first && againLine(first, 'mask/a')).toMatch(
    /^npx lossproof check --trainer 'grpo · tokenizer a · padding_side left' --seed \d+ --cases \d+ --only mask\/a$/,
  );
});

test('a hostile name breaks no report', () => {
  const runs = [runWith([failing('mask/a')], { name: HOSTILE }), ...RUNS];
  expect(htmlReport(runs)).not.toContain('<script>alert');
  expect(junitReport(runs)).not.toContain(']]> <script>');
  expect(() => JSON.parse(sarifReport(runs))).not.toThrow();
  expect(annotationLines(runs).filter((line) => line.includes('set-output'))).toEqual(
    annotationLines(runs).filter((line) => /^::(?:error|notice|warning) .*set-output/.test(line)),
  );
});
