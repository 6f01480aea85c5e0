// A series that is a mean since the start is told by its noise, or by the values beside it; smooth, smoothed and quiet series are not.
import { describe, expect, test } from 'vitest';
import { drawn } from '../rules/cases/values.ts';
import { type Columns, FORMATS, type Format, verdictAs } from '../rules/formats.ts';
import { make } from '../rules/logs.ts';

const { by, falling, noisy } = drawn(121);
const since = (values: readonly number[]): number[] => {
  let sum = 0;
  return values.map((value, at) => {
    sum += value;
    return sum / (at + 1);
  });
};
const smoothed = (values: readonly number[], weight: number): number[] => {
  let state = values[0] as number;
  return values.map((value) => {
    state = weight * state + (1 - weight) * value;
    return state;
  });
};
const loss = (count: number): number[] =>
  make(count, (row) => (1.2 + Math.exp(-row / 60)) * by.heavy(1, 0.06));
const power = (count: number, noise = 0.02): number[] =>
  make(count, (row) => (2 + 6 * (1 + row) ** -0.5) * by.heavy(1, noise));
const RAW = loss(100);

const FAULTY: readonly (readonly [string, Format, Columns])[] = [
  ['a loss', 'trainer_state.json', { series: { loss: since(loss(200)) }, every: 10 }],
  ['a loss over two thousand steps', 'CSV', { series: { 'train/loss': since(loss(2000)) } }],
  [
    'a reward',
    'verl console',
    {
      series: {
        'actor/pg_loss': noisy(150, 0.1),
        'critic/score/mean': since(make(150, (row) => 0.3 + row / 500 + 0.05 * by.normal())),
      },
    },
  ],
  [
    'an accuracy of tokens',
    'TensorBoard',
    {
      series: {
        'train/loss': loss(120),
        'train/mean_token_accuracy': since(make(120, () => 0.6 + 0.02 * by.normal())),
      },
    },
  ],
  [
    'a short loss beside its own values',
    'JSON lines',
    { series: { loss: since(RAW.slice(0, 40)), 'train/loss': RAW.slice(0, 40) } },
  ],
];

const HEALTHY: readonly (readonly [string, Columns])[] = [
  ['a loss', { series: { loss: loss(300), grad_norm: noisy(300, 1, 0.4) } }],
  ['a loss of a pretraining', { series: { loss: power(300) } }],
  ['the same without noise', { series: { loss: power(300, 0) } }],
  ['a smoothed loss', { series: { loss: smoothed(loss(300), 0.98), reward: smoothed(noisy(300, 1), 0.9) } }],
  [
    'a task that is soon learnt',
    { series: { loss: make(200, (row) => (2 / (1 + row)) * by.heavy(1, 0.3)) } },
  ],
  ['a mean that is called one', { series: { loss: loss(100), loss_avg: since(loss(100)) } }],
  [
    'a loss that falls by its logarithm',
    { series: { loss: make(200, (row) => 4 - 0.5 * Math.log(1 + row) + 0.01 * by.normal()) } },
  ],
  ['a short one', { series: { loss: since(falling(60)) } }],
];

describe('a mean since the start', () => {
  test.each(FAULTY)('is told: %s, in %s', async (_what, format, columns) => {
    expect((await verdictAs(format, columns)).remarks).toMatch(/the mean of all .* since the start/);
  });

  test.each(HEALTHY)('is not seen in %s', async (_what, columns) => {
    for (const format of FORMATS)
      expect((await verdictAs(format, columns)).remarks, format).not.toMatch(/since the start/);
  });
});
