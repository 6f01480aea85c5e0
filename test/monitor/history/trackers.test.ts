// Two trackers of one run are told apart from two runs, and what one of them holds otherwise is said, whatever their formats.
import { describe, expect, test } from 'vitest';
import { drawn } from '../rules/cases/values.ts';
import { type Columns, type Format, verdictOn, writtenAs } from '../rules/formats.ts';
import { make } from '../rules/logs.ts';

const { by, noisy } = drawn(131);
const ROWS = 80;
const loss = make(ROWS, (row) => (1 + Math.exp(-row / 30)) * by.heavy(1, 0.08));
const grad = noisy(ROWS, 0.7, 0.3);
const reward = make(ROWS, () => 0.3 + 0.1 * by.normal());
const rates = make(ROWS, (row) => 1e-4 * (1 - row / ROWS));
const RUN: Columns['series'] = { loss, grad_norm: grad, learning_rate: rates };
const scaled = (values: readonly number[], factor: number): number[] => values.map((value) => factor * value);
const rounded = (values: readonly number[]): number[] => values.map((value) => Number(value.toFixed(4)));
const verl = (values: Columns['series']): Columns['series'] => ({
  'actor/grad_norm': grad,
  'actor/lr': rates,
  ...values,
});

const remarksOn = async (one: readonly [Format, Columns], two: readonly [Format, Columns]): Promise<string> =>
  (await verdictOn(Object.fromEntries([writtenAs(...one), writtenAs(...two)]))).remarks;

const FAULTY: readonly (readonly [string, readonly [Format, Columns], readonly [Format, Columns], RegExp])[] =
  [
    [
      'a loss that one of them divides by four',
      ['JSON lines', { series: RUN }],
      ['TensorBoard', { series: { 'train/loss': scaled(loss, 0.25), 'train/grad_norm': grad } }],
      /loss \(.*\) is (?:0\.25|4) times as large in the second at each step/,
    ],
    [
      'a reward of another mean',
      ['verl console', { series: verl({ 'critic/score/mean': reward }) }],
      [
        'JSON lines',
        { series: verl({ 'critic/score/mean': reward.map((value) => value + 0.02 * by.normal()) }) },
      ],
      /critic\/score\/mean is .* and .* at step \d+, and differs at \d+ of 80 steps, while actor\/grad_norm is the same/,
    ],
    [
      'a step that is counted one later',
      ['CSV', { series: RUN }],
      ['TensorBoard', { series: { 'train/loss': loss, 'train/grad_norm': grad }, first: 2 }],
      /the same values in both, 1 step apart/,
    ],
    [
      'a mean that is reset one step late',
      ['JSON lines', { series: RUN }],
      [
        'CSV',
        {
          series: {
            loss: loss.map((value, row) => (row === 1 ? (value + (loss[0] as number)) / 2 : value)),
          },
        },
      ],
      /at step 2, one of them the mean of the first two values/,
    ],
    [
      'a loss of the last micro-batch beside the mean',
      ['trainer_state.json', { series: RUN }],
      ['CSV', { series: { ...RUN, loss: loss.map((value) => value * by.heavy(1, 0.2)) } }],
      /loss is .* differs at \d+ of 80 steps, while grad_norm is the same/,
    ],
  ];

const HEALTHY: readonly (readonly [string, readonly [Format, Columns], readonly [Format, Columns]])[] = [
  [
    'the same, rounded',
    ['JSON lines', { series: RUN }],
    ['TensorBoard', { series: { 'train/loss': rounded(loss), 'train/grad_norm': grad } }],
  ],
  [
    'every fifth step of it',
    ['JSON lines', { series: RUN }],
    ['CSV', { series: { loss: loss.filter((_, row) => row % 2 === 0) }, every: 2 }],
  ],
  [
    'two seeds of one task',
    ['JSON lines', { series: RUN }],
    [
      'CSV',
      {
        series: {
          loss: loss.map((value) => value * by.heavy(1, 0.1)),
          grad_norm: noisy(ROWS, 0.7, 0.3),
          learning_rate: rates,
        },
      },
    ],
  ],
  [
    'other times of the same steps',
    ['JSON lines', { series: { ...RUN, step_time: noisy(ROWS, 1) } }],
    ['CSV', { series: { ...RUN, step_time: noisy(ROWS, 1) } }],
  ],
];

describe('two logs of one folder', () => {
  test.each(FAULTY)('disagree: %s', async (_what, one, two, words) => {
    const remarks = await remarksOn(one, two);
    expect(remarks).toMatch(/are logs of one run and disagree/);
    expect(remarks).toMatch(words);
  });

  test.each(HEALTHY)('do not disagree: %s', async (_what, one, two) => {
    expect(await remarksOn(one, two)).not.toMatch(/disagree/);
  });
});
