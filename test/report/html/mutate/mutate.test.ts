// The page of a run of `mutate`: what survives with its lines, and nothing of them that acts.
import { expect, test } from 'vitest';
import type { Mutation } from '../../../../src/mutate/events.ts';
import { mutatePage } from '../../../../src/report/html/mutate/mutate.ts';
import { mutateLines, scoreLine } from '../../../../src/report/mutate/mutate.ts';
import { PLAIN } from '../../../../src/report/text/paint.ts';

const EVIL = '</code><script>alert(1)</script>\u001b[2J\u202e';

const change = (id: string, line: number, name = 'step') => ({
  id,
  file: 0,
  line,
  kind: 'mask dropped',
  function: name,
  before: `x * mask ${EVIL}`,
  after: `x ${EVIL}`,
  lines: [line, line] as const,
  bugs: ['LOSS-11'],
});

const MUTATION: Mutation = {
  start: {
    type: 'mutate-start',
    version: '1',
    command: `python ${EVIL}`,
    started: '2026-01-01T00:00:00.000Z',
    seed: 1,
    cases: 2,
    asked: '',
    files: [{ shown: `a ${EVIL}.py`, path: '/a.py', print: '', imported: [] }],
    changes: [change('a', 1), change('b', 2), change('c', 3, 'entropy_of'), change('d', 4)],
    ops: ['loss'],
    absent: [{ id: 'loss/x', ops: ['loss'], reason: 'op `loss` does not offer micro_batches' }],
  },
  baseline: [],
  judged: [
    {
      type: 'judged',
      id: 'a',
      outcome: 'survives',
      ops: ['loss'],
      answers: 'other',
      requests: 5,
      milliseconds: 1,
    },
    { type: 'judged', id: 'b', outcome: 'found', by: 'loss/y', error: true, milliseconds: 1 },
    { type: 'judged', id: 'c', outcome: 'unreached', milliseconds: 1 },
  ],
};

test('the score, the survivors, the functions that no op reaches', () => {
  expect(scoreLine(MUTATION)).toBe(
    '4 changes: 1 found (1 by an error), 1 in code that no op reaches, 1 survives, 1 not yet tried',
  );
  const text = mutateLines(MUTATION, { width: 100, onScreen: false, paint: PLAIN }).join('\n');
  expect(text).toContain('Not asked of this adapter: op `loss` does not offer micro_batches.');
  expect(text.replaceAll(/\s+/g, ' ')).toContain('entropy_of: 1 change. By its name, op `entropy` would reach it');
  expect(text).not.toContain('\u001b');
  expect(text).not.toContain('\u202e');
});

test('the page shows them, and runs nothing of them', () => {
  const page = mutatePage(MUTATION);
  expect(page).not.toContain('<script>alert');
  expect(page).not.toContain('\u001b');
  expect(page).toContain('id="change-a"');
  expect(page).toContain('LOSS-11');
  expect(page).toContain('<code>loss/y</code> by an error');
  expect(page.match(/data-item="change"/g)).toHaveLength(5);
});
