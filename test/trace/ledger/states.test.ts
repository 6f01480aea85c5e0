// The state of optimisers between steps: one that is lost each time is asked about, and what begins anew once is not.
import { describe, expect, test } from 'vitest';
import type { LedgerEvent } from '../../../src/trace/ledger.ts';
import { judged } from './judged.ts';

const ID = 'update/optimiser-keeps-its-state';
type Step = readonly [lost: number, changed: number, anew?: boolean];

const noticed = (steps: readonly Step[]): ReturnType<typeof judged>['notices'] =>
  judged(ID, {
    events: steps.map(
      ([lost, changed, anew = false], at): LedgerEvent => ({
        rank: 0,
        step: at + 1,
        what: 'state',
        place: 'train.py:9',
        names: [],
        values: { of: 8, lost, changed, anew },
      }),
    ),
  }).notices;

describe('the state of an optimiser', () => {
  test.each<[what: string, words: string, steps: readonly Step[]]>([
    ['made again', 'Step 1 at train.py:9 is made by an optimiser that has no state yet', [[8, 0, true]]],
    [
      'emptied',
      'Each of 2 steps at train.py:9 finds the state of its optimiser empty',
      [
        [8, 0],
        [8, 0],
      ],
    ],
    ['overwritten', 'finds another state in its optimiser', [[0, 8]]],
  ])('is asked about where it is %s in each step', (_what, words, steps) => {
    expect(noticed(steps)).toMatchObject([{ asked: true }]);
    expect(noticed(steps)?.[0]?.sentence).toContain(words);
  });

  test('that is lost once in several steps is a remark', () => {
    expect(
      noticed([
        [0, 0],
        [8, 0, true],
        [0, 0],
      ]),
    ).toMatchObject([{ remark: true }]);
  });

  test.each<[what: string, steps: readonly Step[]]>([
    [
      'is as it was',
      [
        [0, 0],
        [0, 0],
      ],
    ],
    [
      'of some tensors begins anew',
      [
        [3, 1],
        [0, 0],
      ],
    ],
    ['is that of another optimiser, and is not lost', [[0, 0, true]]],
  ])('that %s is right', (_what, steps) => {
    expect(noticed(steps)).toBeUndefined();
  });
});
