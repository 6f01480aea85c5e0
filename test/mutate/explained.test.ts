// Why changes survive, on the page: by lines that somebody has read. What nobody has is counted, and not explained by a hint.
import { expect, test } from 'vitest';
import { EXPLAINED } from '../../scripts/mutate/explained.ts';
import { survivorTable, whyOf } from '../../scripts/mutate/tables.ts';
import type { Judged, Mutation } from '../../src/mutate/events.ts';
import type { Survivor } from '../../src/report/mutate/mutate.ts';

const survivor = (
  place: string,
  before: string,
  after: string,
  answers: 'same' | 'other',
  hints: readonly string[] = [],
): Survivor =>
  ({
    place,
    hints,
    change: { function: 'GRPOTrainer._compute_loss', kind: 'constant', before, after, line: 1 },
    judged: { outcome: 'survives', answers },
  }) as unknown as Survivor;

test('a line is named by each', () => {
  for (const { line } of EXPLAINED)
    expect(line.test('x = what_nobody_has_written\npass')).toBe(
      // What is left out altogether has no other words.
      line.source.includes('\\npass$'),
    );
});

test('of TRL: a condition of the KL itself is nothing for the log, and a number that is answered is no gap where another level asks', () => {
  const of = (...given: Parameters<typeof survivor>) => whyOf('trl-grpo', survivor(...given));
  const at = 'trl/trainer/grpo_trainer.py:3191';
  expect(of(at, 'if self.beta != 0.0:', 'if self.beta != 1.0:', 'same')).toMatch(
    /^Whether there is a KL at all/,
  );
  const sum = [
    'local_sum, local_count = (x * mask).sum(), mask.sum().float()',
    'local_sum, local_count = (x).sum(), mask.sum().float()',
  ] as const;
  const unasked = ['Not asked of this adapter: level should is left out (--level should).'];
  expect(of(at, ...sum, 'other', unasked)).toMatch(/^Found with `--level should`/);
  // That it was not asked is no reason: nobody tried.
  expect(of(at, 'x = 1', 'x = 2', 'other', unasked)).toBeUndefined();
});

test('what is not explained is counted, last', () => {
  const change = { file: 0, function: 'f', kind: 'constant', before: 'x = 1', after: 'x = 2', line: 7 };
  const judged = (id: string): Judged => ({ id, outcome: 'survives', answers: 'same' }) as unknown as Judged;
  const mutation = {
    start: {
      files: [{ shown: 'a.py' }],
      changes: [
        { ...change, id: 'a' },
        { ...change, id: 'b' },
      ],
      absent: [],
      ops: [],
    },
    judged: [judged('a'), judged('b')],
  } as unknown as Mutation;
  const { table, unexplained } = survivorTable({ name: 'trl-grpo', what: '', mutation, milliseconds: 0 });
  expect(unexplained).toHaveLength(2);
  expect(table.split('\n').at(-1)).toBe('| Not explained. | 2 | `a.py` `f` | 7, constant: ``x = 2`` |');
});
