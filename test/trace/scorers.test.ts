// Runs that train a model without a vocabulary, and the same model beside a language model.
import { describe, expect, test } from 'vitest';
import { ledgerProperties, tellingOf } from '../../properties/ledger/index.ts';
import { partlyBlind } from '../../src/trace/blindness.ts';
import { judgeLedger } from '../../src/trace/run.ts';
import { scoresOnly } from '../../src/trace/scorers.ts';
import { endOf, forwardOf, modelOf, processOf, recordedLedger, stepOf, trainedOf } from './recorded.ts';

const ROWS = [
  [1, 5, 6, 2],
  [1, 7, 8, 2],
];
const scorer = modelOf({ model: 0, class: 'RewardModel', head: 'score', vocab_size: 0 });
const scored = trainedOf(
  [0, 1].map((row) => ({ row, column: 4, target: -1, weight: row === 0 ? 0.25 : -0.25 })),
  { route: 'scores' },
);

const alone = [
  processOf(),
  scorer,
  forwardOf(ROWS),
  scored,
  stepOf({ models: [0], learning_rates: [0.1] }),
  endOf(),
];

test('rules about tokens do not apply to a model that predicts none, and those of whole steps judge', () => {
  const ledger = recordedLedger([alone]);
  expect(scoresOnly(ledger)).toBe(true);
  const results = judgeLedger(
    ledger,
    ledgerProperties,
    { command: '', replay: { command: '', again: '' } },
    () => {},
  );
  const verdicts = new Map(results.map(({ id, verdict }) => [id, verdict]));
  expect(verdicts.get('trace/every-step-trains')).toBe('pass');
  expect(verdicts.get('mask/padding-is-never-trained')).toBe('unsupported');
  expect(results.filter(({ verdict }) => verdict === 'fail')).toEqual([]);
  expect(partlyBlind(ledger)).toEqual([]);
  expect(tellingOf(ledger)).toContain('trace/every-step-trains');
});

test('a score stands at its column, behind the row where it is one per row', () => {
  const [row] = recordedLedger([alone]).rows;
  expect(row?.trained.map((each) => each?.weight)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    0.25,
  ]);
});

test('beside a language model that is trained, a critic makes no step and has no rows', () => {
  const ledger = recordedLedger([
    [
      processOf(),
      scorer,
      modelOf({ model: 1 }),
      forwardOf(ROWS),
      scored,
      stepOf({ models: [0], learning_rates: [0.1] }),
      forwardOf(ROWS, { forward: 1, model: 1, step: 1 }),
      trainedOf([{ column: 1, target: 6, weight: 0.5 }], { forward: 1 }),
      stepOf({ step: 1, models: [1], learning_rates: [0.1] }),
      endOf(),
    ],
  ]);
  expect(scoresOnly(ledger)).toBe(false);
  expect(ledger.models.map(({ model }) => model)).toEqual([1]);
  expect(ledger.rows.map(({ model }) => model)).toEqual([1, 1]);
  expect(ledger.steps.map(({ index }) => index)).toEqual([0]);
});

describe('a language model with a value head over its hidden states', () => {
  const trainedBy = (residual: number, over: Parameters<typeof trainedOf>[1] = {}) =>
    trainedOf(
      [1, 2].map((column) => ({ column, target: -1, weight: Number.NaN, residual })),
      { forward: 0, route: 'hidden', ...over },
    );
  const ledgerWith = (...critic: readonly ReturnType<typeof trainedOf>[]) =>
    recordedLedger([
      [
        processOf(),
        modelOf({ model: 0 }),
        modelOf({ model: 1 }),
        forwardOf(ROWS),
        ...critic,
        forwardOf(ROWS, { forward: 1, model: 1 }),
        trainedOf([{ column: 1, target: 6, weight: 0.5, residual: 1e-7 }], { forward: 1 }),
        stepOf({ models: [0, 1], learning_rates: [0.1] }),
        endOf(),
      ],
    ]);

  test('is a critic beside one whose tokens explain its gradient', () => {
    expect(ledgerWith(trainedBy(0.97)).models.map(({ model }) => model)).toEqual([1]);
    expect(ledgerWith(trainedBy(0.97), trainedBy(0.8)).rows.map(({ model }) => model)).toEqual([1, 1]);
  });

  test.each([
    ['through its own logits', [trainedBy(0.97, { route: 'logits' })]],
    ['of which a part is explained', [trainedBy(0.3)]],
    ['that tokens explain in another pass', [trainedBy(0.97), trainedBy(1e-6)]],
    ['that has no gradient', []],
  ])('is none with a gradient %s', (_what, critic) => {
    expect(ledgerWith(...critic).models.map(({ model }) => model)).toEqual([0, 1]);
  });
});
