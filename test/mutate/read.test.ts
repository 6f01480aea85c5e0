// A file of events read again: what a kill has torn, or somebody has written, is left out and never trusted.
import { expect, test } from 'vitest';
import { decodePlan } from '../../src/mutate/change.ts';
import { type MutateEvent, mutationOf } from '../../src/mutate/events.ts';
import { mutateLine, readMutateEvents } from '../../src/mutate/read.ts';

const START: MutateEvent = {
  type: 'mutate-start',
  version: '1',
  command: 'python adapter.py',
  started: '2026-01-01T00:00:00.000Z',
  seed: 1,
  cases: 2,
  asked: 'x',
  files: [{ shown: 'a.py', path: '/a.py', print: 'p', imported: [1] }],
  changes: [
    {
      id: 'a',
      file: 0,
      line: 1,
      kind: 'sign',
      function: '',
      before: 'x',
      after: 'y',
      lines: [1, 1],
      bugs: [],
    },
  ],
  ops: ['kl'],
  absent: [{ id: 'kl/x', ops: ['kl'], reason: 'none' }],
};
const JUDGED: MutateEvent = { type: 'judged', id: 'a', outcome: 'found', by: 'kl/x', milliseconds: 3 };

test('whole lines come back, a torn one is dropped', () => {
  const text = mutateLine(START) + mutateLine(JUDGED);
  expect(readMutateEvents(text)).toEqual([START, JUDGED]);
  expect(readMutateEvents(text.slice(0, -5))).toEqual([START]);
  expect(mutationOf(readMutateEvents(text))).toEqual({ start: START, baseline: [], judged: [JUDGED] });
});

test.each([
  ['an outcome of no version', { ...JUDGED, outcome: 'perfect' }],
  ['a reason that is no text', { ...JUDGED, reason: {} }],
  ['lines that are no numbers', { ...START, changes: [{ ...START.changes[0], lines: ['1', 2] }] }],
  ['a time that is none', { ...START, started: '<script>' }],
  ['no type', {}],
  ['no object', 3],
])('%s is left out', (_, event) => {
  expect(readMutateEvents(`${JSON.stringify(event)}\n`)).toEqual([]);
});

test('a new run in the same file is another one', () => {
  expect(mutationOf([START, JUDGED, { ...START, seed: 2 }])?.judged).toEqual([]);
  expect(mutationOf([JUDGED])).toBeUndefined();
});

test('what the process says of itself', () => {
  const plan = {
    python: '/p',
    forks: true,
    files: START.files,
    changes: START.changes,
    problems: [],
    script: '/a.py',
  };
  expect(decodePlan(plan)).toMatchObject({ ok: { files: [{ isScript: true }], changes: START.changes } });
  for (const [key, value] of Object.entries({
    python: 1,
    forks: 'yes',
    files: [1],
    changes: [{}],
    problems: [1],
  }))
    expect(decodePlan({ ...plan, [key]: value }), key).toHaveProperty('complaint');
});
