// A run of `mutate` with a change of each fate, in words that would act if they were let.
import type { Mutation } from '../../../../src/mutate/events.ts';

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

export const MUTATION: Mutation = {
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
