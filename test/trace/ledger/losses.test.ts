// The loss of a backward pass beside its gradient: factors that the gradient lost are asked about, and terms beside a likelihood are not.
import { describe, expect, test } from 'vitest';
import type { LedgerEvent } from '../../../src/trace/ledger.ts';
import { judged } from './judged.ts';

const ID = 'update/gradient-is-that-of-the-loss';
type Pass = readonly [value: number, explained: number, tokens?: number];

const said = (passes: readonly Pass[], half = false): ReturnType<typeof judged> =>
  judged(ID, {
    events: passes.map(
      ([value, explained, tokens = 9], at): LedgerEvent => ({
        rank: 0,
        step: at >> 1,
        what: 'loss',
        place: 'train.py:7',
        names: [],
        values: { value, explained, tokens, half },
      }),
    ),
  });

describe('is asked about', () => {
  test.each<[what: string, words: string, passes: readonly Pass[], half?: boolean]>([
    [
      'a division by micro-batches that is ignored',
      '4 times that',
      [
        [1, 4],
        [0.9, 3.6],
        [0.8, 3.2],
      ],
    ],
    [
      'a coefficient that is ignored',
      '3.33333 times that',
      [
        [0.3, 1],
        [0.27, 0.9],
      ],
    ],
    [
      'a division by tokens that is ignored',
      '9 to 12 times that',
      [
        [1, 9],
        [1.1, 13.2, 12],
      ],
    ],
    [
      'a factor that is used twice',
      '0.5 times that',
      [
        [2, 1],
        [1.8, 0.9],
      ],
    ],
    [
      'a count of tokens that is used twice',
      '0.0833333 to 0.111111 times that',
      [
        [9, 1],
        [13.2, 1.1, 12],
      ],
    ],
    [
      'a gradient that is added up twice, in half precision',
      '2.01 times that',
      [
        [1, 2.01],
        [0.7, 1.39],
      ],
      true,
    ],
  ])('%s', (_what, words, passes, half) => {
    const [notice] = said(passes, half).notices ?? [];
    expect(notice?.asked).toBe(true);
    expect(notice?.sentence).toContain(
      `backward passes at train.py:7 the gradient is not that of the loss, but ${words}`,
    );
  });
});

test('is asked about: a factor that is another one in each step', () => {
  const [notice] =
    said([
      [1, 5.3],
      [0.7, 3.71],
      [1.1, 8.03],
      [0.8, 5.84],
    ]).notices ?? [];
  expect(notice?.sentence).toContain('5.3 to 7.3 times that');
});

describe('is not asked about', () => {
  test.each<[what: string, passes: readonly Pass[]]>([
    [
      'a loss that is its likelihood',
      [
        [1, 1],
        [0.9, 0.9001],
        [0.8, 0.799],
      ],
    ],
    [
      'a term that stays what it is while the likelihood falls',
      [
        [8.4, 8],
        [8.3, 7.9],
        [8.2, 7.8],
      ],
    ],
    [
      'a penalty that hardly changes',
      [
        [6.4, 5.9],
        [6.2, 5.701],
        [6.15, 5.65],
      ],
    ],
    [
      'a term of a router beside the likelihood',
      [
        [3.2, 3],
        [3.19, 2.99],
        [3.16, 2.96],
      ],
    ],
    [
      'a term as large as the likelihood',
      [
        [6.02, 3],
        [5.9, 2.9],
        [5.7, 2.75],
      ],
    ],
    [
      'a term that is taken off',
      [
        [2, 3],
        [1.9, 2.91],
        [1.8, 2.82],
      ],
    ],
    [
      'one batch over and over with a term beside',
      [
        [2, 3],
        [2, 3],
      ],
    ],
    ['a single pass', [[1, 4]]],
    [
      'a loss below 0, or next to nothing',
      [
        [-1, 4],
        [-0.9, 3.6],
        [0, 3.2],
      ],
    ],
    [
      'one pass of several that is off',
      [
        [1, 1],
        [0.9, 1.8],
        [0.8, 0.8],
      ],
    ],
  ])('%s', (_what, passes) => {
    const { notices = [], findings } = said(passes);
    expect([...notices, ...findings]).toEqual([]);
  });
});

describe('the gradient of the head', () => {
  const HEAD = 'update/head-gradient-is-of-its-calls';
  type Step = readonly [factor: number, cosine: number];
  const event = (what: string, step: number, values: LedgerEvent['values']): LedgerEvent => ({
    rank: 0,
    step,
    what,
    place: 'train.py:9',
    names: [],
    values,
  });
  const of = (
    steps: readonly Step[],
    half = false,
    more: readonly LedgerEvent[] = [],
  ): ReturnType<typeof judged> =>
    judged(HEAD, {
      events: [
        ...steps.map(([factor, cosine], at) => event('head', at, { factor, cosine, passes: 2, half })),
        ...more,
      ],
    });

  test.each<[what: string, words: string, steps: readonly Step[], half?: boolean]>([
    [
      'added up twice',
      '2 times the sum',
      [
        [2, 1],
        [2, 1],
      ],
    ],
    [
      'without a division',
      '12 times the sum',
      [
        [12, 1],
        [14, 1],
      ],
    ],
    [
      'divided twice, in half precision',
      '0.5 times the sum',
      [
        [0.5, 0.999],
        [0.51, 0.998],
      ],
      true,
    ],
    ['a sign that is turned', 'another one than the sum', [[-1, -1]]],
  ])('is asked about: %s', (_what, words, steps, half) => {
    const [notice] = of(steps, half).notices ?? [];
    expect(notice?.sentence).toContain(`the gradient of the head's weight is ${words}`);
    expect(notice?.asked).toBe(!words.startsWith('another'));
  });

  test('that the weight is used elsewhere is a notice', () => {
    expect(
      of([
        [1.2, 0.8],
        [1.1, 0.9],
      ]).notices,
    ).toMatchObject([{ asked: false }]);
  });

  test.each<[what: string, steps: readonly Step[], half?: boolean]>([
    [
      'the sum',
      [
        [1, 1],
        [1.0001, 0.99999],
      ],
    ],
    [
      'the sum in half precision',
      [
        [1.03, 0.995],
        [0.98, 0.997],
      ],
      true,
    ],
    [
      'one step of several',
      [
        [1, 1],
        [1.5, 0.9],
      ],
    ],
  ])('is right: %s', (_what, steps, half) => {
    expect(of(steps, half)).toMatchObject({ findings: [], notices: [] });
  });

  test('with the gradient of the step before is the matter of another rule', () => {
    const used = [event('left-over', 1, {})];
    expect(
      of(
        [
          [1, 1],
          [2, 1],
        ],
        false,
        used,
      ),
    ).toMatchObject({ judged: 1, setAside: ['gradients of an earlier step were left over'], notices: [] });
  });
});
