// Known mistakes name causes: each is another answer than the right one on batches drawn like those of the properties, and the
// catalogue of bugs has the row that it names.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bugs } from '../../src/bugs/index.ts';
import {
  advantageMistakes,
  balanceLoss,
  balanceMistakes,
  causeOf,
  causeWords,
  groupAdvantages,
  klMistakes,
  klPerToken,
  type LossSettings,
  layTracks,
  layValues,
  lossMistakes,
  policyLoss,
  sftLoss,
  sftMistakes,
  tracks,
  type UnpairedSettings,
  unpairedLoss,
  unpairedLossMistakes,
  type ValueLossSettings,
  valueCase,
  valueLoss,
  valueLossMistakes,
} from '../../src/index.ts';

const K3 = { estimator: 'k3', clamp: null, clampWhere: null, ratioCorrection: false } as const;
const K2 = { ...K3, estimator: 'k2' } as const;
const SETTINGS: LossSettings = {
  aggregation: 'token-mean',
  norm: 1,
  clipLow: 0.2,
  clipHigh: 0.28,
  klCoef: 0.04,
  kl: K3,
};
const GROUP = { scaling: 'group', ddof: 1, epsilon: 1e-4, baseline: 'group-mean' } as const;
const REWARDS = [1, 0, 3, 2, 5, 0, 0, 1];
const GROUPS = [0, 0, 1, 1, 0, 1, 0, 1];

const BALANCE = {
  coef: 0.02,
  counts: 'token',
  scores: 'softmax',
  layers: 'together',
  scope: 'batch',
} as const;
/** Router logits (2, 2, 2 x 3), the second row padded. */
const ROUTED = {
  router_logits: [
    [
      [2, 1, -1, -2, 0, 0.5],
      [1, -0.5, 2, -2, 0.25, 1.75],
    ],
    [
      [-2, 1.5, 0.5, 2, -1.5, 1],
      [2, 1.25, -1, -2, -1, 0.5],
    ],
  ],
  attention_mask: [
    [1, 1],
    [1, 0],
  ],
  experts: 3,
  top_k: 2,
  micro_batches: [[0], [1]],
};

/** Logits (1, 4, 3), labels, ids and attention mask (1, 4): a padded row whose label in front nothing predicts. */
const SFT = [
  [
    [
      [0.5, -1, 2],
      [1, 0, -0.5],
      [0.25, 0.75, -2],
      [0, 1, 2],
    ],
  ],
  [[0, -100, 1, 2]],
  [[0, 2, 1, 2]],
  [[0, 1, 1, 1]],
] as const;

/** Cases in which each list of mistakes is to differ from what is right. */
const drawn = fc.sample(tracks(), { seed: 3, numRuns: 60 }).map((each) => layTracks(each, { whole: true }));
const inputs = drawn.map((laid) => ({ ...laid, mask: laid.completion_mask }));
const CRITIC: ValueLossSettings = { aggregation: 'token-mean', factor: 0.5, clip: 0.2 };
/** Undesirable rows weigh more, and the KL is 2. */
const LABELLED: UnpairedSettings = { objective: 'kto', beta: 0.1, desirableWeight: 1, undesirableWeight: 2 };
const ROWS = {
  logprobs: [[-1, -2], [-3]],
  ref_logprobs: [[-2, -4], [-1]],
  desirable: [1, 0],
  kl_logprobs: [[-1], [-1, -1]],
  ref_kl_logprobs: [[-4], [-1, -2]],
};
const critics = fc
  .sample(valueCase({ gaps: true }), { seed: 3, numRuns: 60 })
  .map((each) => layValues(each))
  .map((laid) => ({ ...laid, mask: laid.completion_mask }));
const flat = (values: readonly (readonly number[])[]): string => JSON.stringify(values);

/** Words to the number of cases in which it is another answer. */
function told(lists: readonly (readonly { words: string; other: boolean }[])[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { words, other } of lists.flat()) {
    const kind = words.replaceAll(/[\d.]+/g, '#');
    counts.set(kind, (counts.get(kind) ?? 0) + Number(other));
  }
  return counts;
}

describe('each known mistake is another number than the right one', () => {
  test.each([
    [
      'KL',
      drawn.flatMap((laid) =>
        [K3, K2].map((variant) => {
          const right = klPerToken(laid.logprobs, laid.ref_logprobs, laid.old_logprobs, variant);
          return klMistakes(laid, variant).map(({ words, answer }) => ({
            words,
            other: answer.mean !== undefined || flat(answer.kl) !== flat(right),
          }));
        }),
      ),
    ],
    [
      'advantages',
      [
        advantageMistakes(REWARDS, GROUPS, GROUP).map(({ words, answer }) => ({
          words,
          other: answer.some(
            (value, row) => Math.abs(value - (groupAdvantages(REWARDS, GROUPS, GROUP)[row] ?? 0)) > 1e-6,
          ),
        })),
      ],
    ],
    [
      'policy losses',
      inputs.map((input) => {
        const rows = input.mask.map((_, row) => row);
        const right = policyLoss(input, SETTINGS);
        return lossMistakes(
          input,
          SETTINGS,
          rows.length > 1 ? [rows.slice(0, 1), rows.slice(1)] : [rows],
        ).map(({ words, answer }) => ({
          words,
          other: answer.loss !== right.loss || flat(answer.weights) !== flat(right.weights),
        }));
      }),
    ],
    [
      'losses of critics',
      critics.map((input) => {
        const right = valueLoss(input, CRITIC);
        return valueLossMistakes(input, CRITIC, input.micro_batches).map(({ words, answer }) => ({
          words,
          other: answer.loss !== right.loss || flat(answer.weights) !== flat(right.weights),
        }));
      }),
    ],
  ])('%s', (_, lists) => {
    const counts = told(lists);
    expect(counts.size).toBeGreaterThan(5);
    for (const [words, times] of counts) {
      expect([words, times > 0]).toEqual([words, true]);
    }
  });

  test('losses of labelled completions', () => {
    const below = { ...ROWS, kl_logprobs: ROWS.ref_kl_logprobs, ref_kl_logprobs: ROWS.kl_logprobs };
    const [mistakes, others] = [ROWS, below].map((input) => unpairedLossMistakes(input, LABELLED));
    expect(mistakes?.length).toBeGreaterThan(7);
    for (const [at, { words, answer }] of mistakes?.entries() ?? []) {
      const same = [
        answer.loss === unpairedLoss(ROWS, LABELLED).loss,
        others?.[at]?.answer.loss === unpairedLoss(below, LABELLED).loss,
      ];
      expect([words, same.includes(false)]).toEqual([words, true]);
    }
  });

  test('losses that balance experts', () => {
    const right = balanceLoss(ROUTED, BALANCE);
    const mistakes = balanceMistakes(ROUTED, BALANCE);
    expect(mistakes.length).toBeGreaterThan(7);
    for (const { words, answer } of mistakes) expect([words, answer]).not.toEqual([words, right]);
  });

  test('supervised losses', () => {
    const right = sftLoss(SFT[0], SFT[1]).loss;
    const mistakes = sftMistakes(...SFT);
    expect(mistakes.length).toBeGreaterThan(7);
    for (const { words, answer } of mistakes) expect([words, answer === right]).toEqual([words, false]);
  });
});

test('the catalogue tells the formula of each bug that a mistake names, and of no other', () => {
  const all = [
    ...drawn.flatMap((laid) => klMistakes(laid, K3)),
    ...advantageMistakes(REWARDS, GROUPS, GROUP),
    ...inputs.flatMap((input) => lossMistakes(input, SETTINGS, [[0], [0]])),
    ...sftMistakes(...SFT),
    ...unpairedLossMistakes(ROWS, LABELLED),
    ...balanceMistakes(ROUTED, BALANCE),
    ...critics.flatMap((input) => valueLossMistakes(input, CRITIC, [[0], [0]])),
  ];
  const named = new Set(all.flatMap(({ bug }) => (bug === undefined ? [] : [bug])));
  const told = bugs.filter(({ formula }) => formula !== undefined).map(({ id }) => id);
  expect([...named].sort()).toEqual(told.sort());
});

describe('a cause', () => {
  const turned = { words: 'its sign is turned', bug: 'KL-01', answer: -1 };
  const other = { words: 'it is missing', answer: 0, legal: true as const };

  test('is named with its row', () => {
    const cause = causeOf([turned, other], (answer) => answer === -1, [1]);
    expect(cause).toEqual({ words: 'its sign is turned (KL-01)', proven: true });
    expect(causeWords(cause)).toBe(' It fits exactly if its sign is turned (KL-01).');
  });

  test('is not proven where somebody means it, and says both where two fit', () => {
    expect(causeOf([turned, other], () => true, [])).toEqual({
      words: 'its sign is turned (KL-01), or if it is missing',
      proven: false,
    });
  });

  test('is not named where nothing fits', () => {
    expect(causeOf([turned], () => false, [])).toBeUndefined();
    expect(
      causeOf([turned], () => true, [1]),
      'what is right fits as well',
    ).toBeUndefined();
    expect(causeWords(undefined)).toBe('');
  });
});
