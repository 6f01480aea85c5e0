// A resumed run beside the trace of the run before it: what begins again is asked about, each by itself.
import { describe, expect, test } from 'vitest';
import type { LedgerStep } from '../../../src/trace/ledger.ts';
import { type LedgerSketch, rankStep } from '../traced.ts';
import { judged } from './judged.ts';

const ID = 'update/a-resumed-run-goes-on';

/** Each step: the token of its row, its rate, and the count of its optimiser. */
type Step = readonly [token: number, rate: number, count?: number];

const run = (steps: readonly Step[]): LedgerSketch => ({
  rows: steps.map(([token], step) => ({ ids: [5, 6, token, 2], step, forward: step })),
  steps: steps.map(([, rate], index): LedgerStep => {
    const { done, ...rest } = rankStep(0);
    return {
      index,
      ranks: [{ ...rest, ...(done === undefined ? {} : { done: { ...done, learningRates: [rate] } }) }],
    };
  }),
  events: steps.flatMap(([, , count], step) =>
    count === undefined
      ? []
      : [{ what: 'state', step, values: { of: 0, lost: 0, changed: 0, anew: false, count } }],
  ),
});

const EARLIER: readonly Step[] = [
  [7, 0.1, 0],
  [8, 0.2, 1],
  [9, 0.3, 2],
];

const said = (steps: readonly Step[], earlier = EARLIER): string => {
  const { notices = [] } = judged(ID, { ...run(steps), earlier: run(earlier) });
  expect(notices.every(({ asked }) => asked === true)).toBe(true);
  return notices.map(({ sentence }) => sentence).join(' ');
};

describe('is asked about', () => {
  test.each<[what: string, words: string, steps: readonly Step[]]>([
    [
      'an optimiser without its state',
      'had made 3 when the earlier one ended',
      [
        [10, 0.4, 0],
        [11, 0.5, 1],
      ],
    ],
    [
      'a schedule that begins again',
      'The schedule begins again',
      [
        [10, 0.1, 3],
        [11, 0.2, 4],
      ],
    ],
    [
      'data that begin again',
      'the data begin again',
      [
        [7, 0.4, 3],
        [8, 0.5, 4],
      ],
    ],
    [
      'an optimiser without a counter whose data begin again',
      'The 2 first steps of this run',
      [
        [7, 0.4],
        [8, 0.5],
      ],
    ],
  ])('%s', (_what, words, steps) => {
    expect(said(steps)).toContain(words);
  });

  test('all three, each in a sentence', () => {
    const again = said(EARLIER);
    for (const words of ['has made no step', 'The schedule begins again', 'the data begin again'])
      expect(again).toContain(words);
  });
});

describe('is right', () => {
  test.each<[what: string, steps: readonly Step[], earlier?: readonly Step[]]>([
    [
      'a run that goes on',
      [
        [10, 0.4, 3],
        [11, 0.5, 4],
      ],
    ],
    [
      'a checkpoint from before the end',
      [
        [9, 0.3, 2],
        [10, 0.4, 3],
      ],
    ],
    [
      'a constant rate',
      [
        [10, 0.1, 3],
        [11, 0.1, 4],
      ],
      [
        [7, 0.1, 0],
        [8, 0.1, 1],
      ],
    ],
    [
      'one batch that is overfitted',
      [
        [7, 0.4, 3],
        [7, 0.5, 4],
      ],
      [
        [7, 0.1, 0],
        [7, 0.2, 1],
      ],
    ],
    [
      'an optimiser without a counter',
      [
        [10, 0.4],
        [11, 0.5],
      ],
      [
        [7, 0.1],
        [8, 0.2],
      ],
    ],
    [
      'other data in another order',
      [
        [8, 0.4, 3],
        [7, 0.5, 4],
      ],
    ],
  ])('%s', (_what, steps, earlier) => {
    expect(said(steps, earlier)).toBe('');
  });
});

test('without an earlier trace nothing is judged', () => {
  expect(judged(ID, run(EARLIER))).toMatchObject({ judged: 0, setAside: [] });
});

describe('the optimiser and its schedule, without an earlier trace', () => {
  interface Begun {
    /** Steps that the optimiser has made, and where its scheduler stands. */
    readonly count: number;
    readonly last: number;
    readonly calls?: number;
    /** Of those calls, after a backward pass. */
    readonly behind?: number;
    readonly explicit?: boolean;
    /** Parameters that the second step finds a state of. */
    readonly of?: number;
    readonly rates?: readonly [number, number];
    /** Calls of the scheduler between the two steps. */
    readonly between?: number;
  }

  const begun = ({
    count,
    last,
    calls = 0,
    behind = 0,
    explicit = false,
    of = 8,
    rates = [0.1, 0.2],
    between = 1,
  }: Begun): ReturnType<typeof judged> => {
    const { events = [], ...rest } = run([
      [7, rates[0]],
      [8, rates[1]],
    ]);
    const step = (at: number, scheduler: object, state: object) => [
      { what: 'schedule', step: at, values: { scheduler: 'LambdaLR', optimizer: 0, explicit, ...scheduler } },
      { what: 'state', step: at, place: 'train.py:9', values: { optimizer: 0, lost: 0, ...state } },
    ];
    return judged(ID, {
      ...rest,
      events: [
        ...events,
        ...step(0, { last, calls, behind_backward: behind }, { count, of: 0 }),
        ...step(1, { last: last + between, calls: between }, { count: count + 1, of }),
      ],
    });
  };

  test.each<[what: string, words: string, begun: Begun]>([
    ['a schedule that was loaded', 'LambdaLR is at step 6 when step 0 at train.py:9', { count: 0, last: 6 }],
    ['one that was stepped there', 'its optimiser has no state', { count: 0, last: 6, calls: 6 }],
    ['an optimiser alone', 'has made 6 steps', { count: 6, last: 0 }],
  ])('are asked about: %s', (_what, words, how) => {
    const { notices = [] } = begun(how);
    expect(notices).toMatchObject([{ asked: true }]);
    expect(notices[0]?.sentence).toContain(words);
  });

  test.each<[what: string, begun: Begun]>([
    ['both were loaded', { count: 6, last: 6 }],
    ['the run is the first one', { count: 0, last: 0 }],
    ['the scheduler is stepped once before the first step', { count: 0, last: 1, calls: 1 }],
    ['the scheduler is stepped after each micro-batch', { count: 0, last: 4, calls: 4, behind: 4 }],
    ['the optimiser has no state', { count: 0, last: 6, of: 0 }],
    ['the scheduler is given its epoch', { count: 0, last: 6, explicit: true }],
    ['the schedule goes by epochs', { count: 6, last: 0, between: 0 }],
    ['the rate stays', { count: 6, last: 0, rates: [0.1, 0.1] }],
    ['one step of zeros made the state', { count: 1, last: 0 }],
  ])('are right where %s', (_what, how) => {
    expect(begun(how).notices).toBeUndefined();
  });

  test('count as judged where both go on', () => {
    expect(begun({ count: 6, last: 6 }).judged).toBe(1);
    expect(begun({ count: 0, last: 0 }).judged).toBe(0);
  });
});
