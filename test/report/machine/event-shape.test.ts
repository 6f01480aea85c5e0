// What the reader of events lets through, reports can show; what it refuses, the schema refuses, too. Shown by spoiling
// every value of whole events, one at a time.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../../src/check/events.ts';
import type { Strip } from '../../../src/check/property.ts';
import { htmlBody } from '../../../src/report/html/run/report.ts';
import { annotationLines } from '../../../src/report/machine/annotations.ts';
import { badgeJson } from '../../../src/report/machine/badge.ts';
import { junitReport } from '../../../src/report/machine/junit.ts';
import { markdownSummary } from '../../../src/report/machine/markdown.ts';
import { eventLine, readEvents } from '../../../src/report/machine/ndjson.ts';
import { sarifReport } from '../../../src/report/machine/sarif.ts';
import { type Run, runsOf } from '../../../src/report/runs.ts';
import { terminalReport } from '../../../src/report/terminal.ts';
import { PLAIN } from '../../../src/report/text/paint.ts';
import { failure, maskStrip, REPLAY, result, runStart } from '../results.ts';

const START: RunEvent = {
  ...(runStart(['mask/strip', 'mask/crash']) as Extract<RunEvent, { type: 'run-start' }>),
  started: '2026-03-01T09:30:00.000Z',
  configured: { kl_estimator: 'k3' },
  measured: { advantage_ddof: 1 },
  replay: { ...REPLAY, again: 'again' },
};
/** Two tokens say as much as eight. */
const STRIP: Strip = {
  row: 0,
  tokens: maskStrip().tokens.slice(5, 7),
  tracks: [{ name: 'observed', cells: ['1', '1'] }],
  marks: [0],
};
const { finding: _, ...unfound } = failure({ lines: ['{}'] });
const EVENTS: readonly RunEvent[] = [
  START,
  { type: 'property-start', id: 'mask/strip', index: 0, total: 2 },
  { type: 'progress', id: 'mask/strip', done: 1, total: 100 },
  {
    type: 'property-end',
    result: result({
      id: 'mask/strip',
      verdict: 'changed',
      labels: { long: 3 },
      coverage: { long: 0.5 },
      reason: 'it was "nan"',
      link: 'https://example.org/4',
      fixed: ['0f3a9c'],
      thin: [{ label: 'long', share: 0.03, least: 0.5, judged: 100, refused: 2 }],
      failure: failure({
        shrinkStopped: 'time',
        steps: [
          { characters: 90, sentence: 'It is wrong.', given: { ids: [1, 2] }, strip: STRIP },
          { characters: 20, sentence: 'It is wrong.' },
        ],
        anyValue: [['prompts', 0, 1]],
        saved: true,
        finding: {
          kind: 'k',
          sentence: 'It is wrong.',
          strips: [STRIP],
          numbers: [{ where: 'row 0', expected: 1, observed: Number.NaN, allowed: 0.1 }],
          note: 'float32',
        },
      }),
    }),
  },
  {
    type: 'property-end',
    result: result({
      id: 'mask/crash',
      verdict: 'error',
      failure: {
        ...unfound,
        stderrTail: 'oh',
        trainerFailure: {
          kind: 'crash',
          message: 'It died.',
          advice: 'Run it by hand.',
          exitCode: 1,
          traceback: 'at line 1',
          stderrTail: 'no',
          reproduced: true,
        },
      },
    }),
  },
  {
    type: 'run-end',
    interrupted: false,
    milliseconds: 5,
    noVerdict: 'No verdict: nothing was seen.',
    notes: [{ sentence: 'One batch again.', answers: ['--only mask'] }],
  },
];

const schema = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'events.schema.json'), 'utf8'),
) as object;
const isByTheSchema = new Ajv2020().compile(schema);

/** In the place of a value: every kind of thing that it is not. */
const SPOILT: readonly unknown[] = [undefined, null, -0.5, 'constructor', { a: 1 }];

/** The same value with one part, at any depth, replaced; each with where it was. */
function* spoilt(value: unknown, path = ''): Generator<{ readonly where: string; readonly value: unknown }> {
  if (path !== '')
    for (const other of SPOILT) yield { where: `${path} = ${JSON.stringify(other)}`, value: other };
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value))
    for (const { where, value: other } of spoilt(part, `${path}/${key}`))
      yield {
        where,
        value: Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other },
      };
}

const OUTPUTS: Readonly<Record<string, (runs: readonly Run[], events: readonly RunEvent[]) => unknown>> = {
  html: htmlBody,
  junit: junitReport,
  sarif: sarifReport,
  badge: badgeJson,
  markdown: markdownSummary,
  annotations: annotationLines,
  terminal: (_runs, events) => {
    const now = (): number => 0;
    const print = { width: 80, paint: PLAIN, replay: REPLAY, live: false, quiet: false, labels: true, now };
    const report = terminalReport({ ...print, write: () => undefined });
    for (const event of events) report(event);
  },
};

const lines = EVENTS.map((event) => JSON.parse(eventLine(event)) as { readonly type: string });

describe.each(lines.map((line, at) => [`${line.type} (${at})`, at] as const))('%s, spoilt', (_name, at) => {
  const cases = [...spoilt(lines[at])].map(({ where, value }) => {
    const text = lines.map((line, each) => JSON.stringify(each === at ? value : line)).join('\n');
    return { where, value: JSON.parse(JSON.stringify(value)) as unknown, read: readEvents(text) };
  });

  test('is refused, or shown by every report', () => {
    const shown = cases.filter(({ read }) => read.problems.length === 0);
    const thrown = shown.flatMap(({ where, read }) =>
      Object.entries(OUTPUTS).flatMap(([name, output]) => {
        try {
          output(runsOf(read.events), read.events);
          return [];
        } catch (error) {
          return [`${name}: ${where}: ${String(error)}`];
        }
      }),
    );
    expect(thrown.slice(0, 20)).toEqual([]);
  });

  test('is not refused where the schema takes it', () => {
    const stricter = cases.flatMap(({ where, value, read }) =>
      read.problems.length > 0 && isByTheSchema(value) ? [`${where}: ${read.problems[0]}`] : [],
    );
    expect(stricter.slice(0, 20)).toEqual([]);
  });
});
