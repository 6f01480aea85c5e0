import { expect, test } from 'vitest';
import type { RunEvent } from '../../../src/check/events.ts';
import { eventLine, eventWriter, readEvents, runLines } from '../../../src/report/machine/ndjson.ts';
import { runsOf } from '../../../src/report/runs.ts';
import { failure, result, runStart } from '../results.ts';

const START = runStart(['a/b']);
const END: RunEvent = { type: 'run-end', interrupted: false, milliseconds: 5 };
const ONE: RunEvent = { type: 'property-end', result: result({ failure: failure() }) };
const progress = (done: number): RunEvent => ({ type: 'progress', id: 'a/b', done, total: 9 });

test('an event is one line that JSON reads back, and a run begins with the schema of its lines', () => {
  const line = eventLine(START);
  expect(line.endsWith('\n')).toBe(true);
  expect(JSON.parse(line)).toEqual({ schema: 1, ...START });
  expect(JSON.parse(eventLine(ONE))).toEqual(ONE);
});

test('NaN is written as a word, not hidden as null, and read as a number again', () => {
  const numbers = [
    {
      where: 'row 0',
      expected: Number.NEGATIVE_INFINITY,
      observed: Number.NaN,
      allowed: Number.POSITIVE_INFINITY,
    },
  ];
  const finding = { kind: 'k', sentence: 's', numbers };
  const line = eventLine({ type: 'property-end', result: result({ failure: failure({ finding }) }) });
  expect(line).toContain('"observed":"NaN"');
  const [, event] = readEvents(eventLine(START) + line).events;
  expect(event?.type === 'property-end' ? event.result.failure?.finding?.numbers : undefined).toEqual(
    numbers,
  );
});

test('a -0 keeps its sign, which can be the finding', () => {
  const numbers = [{ where: 'row 0', expected: 0, observed: -0, allowed: 0 }];
  const finding = { kind: 'k', sentence: 's', numbers };
  const ended: RunEvent = { type: 'property-end', result: result({ failure: failure({ finding }) }) };
  const [, event] = readEvents(eventLine(START) + eventLine(ended)).events;
  expect(event).toEqual(ended);
});

test('what was written is read again', () => {
  const text = [START, progress(3), ONE, END].map(eventLine).join('');
  const { events, problems } = readEvents(text);
  expect(events).toEqual([{ ...START, schema: 1 }, progress(3), ONE, END]);
  expect(problems).toEqual([]);
  const again = readEvents(runLines(runsOf(events)));
  expect(runsOf(again.events)).toEqual(runsOf(events));
});

test('progress is written where nothing else was for half a second', () => {
  const lines: string[] = [];
  let now = 0;
  const write = eventWriter(
    (line) => lines.push(line),
    () => now,
  );
  write(START);
  for (now = 100; now <= 1_200; now += 100) write(progress(now));
  write(ONE);
  now += 499;
  write(progress(1));
  expect(lines).toEqual([START, progress(500), progress(1_000), ONE].map(eventLine));
});

test('a torn last line is the mark of a run that goes on or died, and no problem', () => {
  const whole = eventLine(START);
  const torn = eventLine(ONE);
  for (const cut of [1, 20, torn.length - 2]) {
    expect(readEvents(whole + torn.slice(0, cut))).toEqual({
      events: [{ ...START, schema: 1 }],
      problems: [],
    });
  }
  expect(readEvents(whole.slice(0, 30))).toEqual({ events: [], problems: [] });
  expect(readEvents('')).toEqual({ events: [], problems: [] });
  expect(readEvents(whole + torn.trimEnd()).events).toHaveLength(2);
});

test('a bad line in the middle is left out and named by its number', () => {
  const bad = [
    '{"type":"property-end","resu',
    '7',
    '{"type":"property-end","result":{"id":"a/b"}}',
    eventLine({ type: 'property-end', result: result({ verdict: 'pass' }) }).replace('"pass"', '"splendid"'),
  ];
  const text = [eventLine(START), ...bad.map((line) => `${line.trimEnd()}\n`), eventLine(END)].join('');
  const { events, problems } = readEvents(text);
  expect(events).toHaveLength(2);
  expect(problems).toEqual([
    'line 2 is no JSON; it is left out',
    'line 3 is no event; it is left out',
    'line 4 is no property-end event: "result.title" is missing; it is left out',
    'line 5 is no property-end event: "result.verdict" is no verdict of this version; it is left out',
  ]);
});

test('many bad lines are not all named', () => {
  const { problems } = readEvents(eventLine(START) + 'x\n'.repeat(1_000));
  expect(problems).toHaveLength(6);
  expect(problems.at(-1)).toBe('and 995 more lines are left out');
});

test('what only a newer version writes is left out, and a newer schema is refused', () => {
  const newer = '{"type":"weather","sun":true}\n';
  expect(readEvents(eventLine(START) + newer)).toEqual({ events: [{ ...START, schema: 1 }], problems: [] });
  const { events, problems } = readEvents(eventLine(START).replace('"schema":1', '"schema":2'));
  expect(events).toEqual([]);
  expect(problems).toEqual([
    'line 1 was written by a newer lossproof (schema 2, this one reads 1); update lossproof to read it',
  ]);
});

test.each([
  'hello',
  '{"version":"2.1.0"}',
  '{"type":"FeatureCollection"}',
  '[1,2]\n[3]\n',
  '<?xml version="1.0"?>\n<a/>\n',
  eventLine(END),
])('a file of something else is refused in one sentence: %j', (text) => {
  expect(readEvents(text)).toEqual({
    events: [],
    problems: ['these are not the events of a lossproof run: none of the lines begins one'],
  });
});

test('a byte order mark and Windows line ends are read over', () => {
  const text = `\uFEFF${eventLine(START)}${eventLine(END)}`.replaceAll('\n', '\r\n');
  expect(readEvents(text).events).toHaveLength(2);
});
