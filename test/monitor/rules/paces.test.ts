// Paces whose tokens and seconds are not of one span are found in the logs of any trainer, and paces that only change are not.
import { describe, expect, test } from 'vitest';
import { drawn } from './cases/values.ts';
import { type Columns, FORMATS, type Format, verdictAs } from './formats.ts';
import { make } from './logs.ts';

const { by, noisy, falling } = drawn(91);
const RULE = 'pace-of-one-span';

const FAULTY: readonly (readonly [string, Format, Columns])[] = [
  [
    'tokens since the start over the time of one step',
    'trainer_state.json',
    {
      series: { loss: falling(100), tokens_per_second: make(100, (row) => (row + 1) * by.heavy(4000, 0.1)) },
      first: 10,
      every: 10,
    },
  ],
  [
    'the same over thousands of steps, from step 0',
    'CSV',
    {
      series: { loss: falling(2000), 'samples/sec': make(2000, (row) => (row + 1) * by.heavy(16, 0.2)) },
      first: 0,
    },
  ],
  [
    'the tokens of one step over the time since the start',
    'verl console',
    {
      series: {
        'actor/pg_loss': noisy(80, 0.1),
        'perf/throughput': make(80, (row) => by.heavy(9e5, 0.03) / (5 + 30 * (row + 1))),
      },
    },
  ],
  [
    'the time since the start as the time of a step',
    'TensorBoard',
    { series: { 'train/loss': falling(300), 'train/step_time': make(300, (row) => 20 + 1.7 * (row + 1)) } },
  ],
  [
    'a resumed run whose counter goes on, beside its tokens and times',
    'JSON lines',
    (() => {
      const times = noisy(60, 2);
      const tokens = make(60, (row) => 8192 * (row + 401));
      return {
        series: {
          loss: falling(60),
          step_time: times,
          num_input_tokens_seen: tokens,
          'train/tokens_per_sec': make(60, (row) => (tokens[row] as number) / (times[row] as number)),
        },
        first: 401,
      };
    })(),
  ],
];

const HEALTHY: readonly (readonly [string, Columns])[] = [
  [
    'a pace that warms up from nothing over the first thirty steps',
    {
      series: {
        loss: falling(200),
        tokens_per_second: make(200, (row) => 9000 * Math.min(1, (row + 1) / 30)),
      },
    },
  ],
  [
    'a warm-up of compilation',
    {
      series: {
        loss: falling(200),
        tokens_per_second: make(200, (row) => 50_000 * (1 - 0.95 * Math.exp(-row / 15)) * by.heavy(1, 0.03)),
      },
    },
  ],
  [
    'a curriculum whose rows grow with the step',
    {
      series: {
        loss: falling(200),
        seq_len: make(200, (row) => 32 * (row + 1)),
        tokens_per_second: make(200, (row) => 900 * (row + 1) * by.heavy(1, 0.03)),
      },
    },
  ],
  [
    'a pace since the start',
    { series: { loss: falling(200), 'tokens/s': make(200, (row) => (9000 * (row + 1)) / (30 + row + 1)) } },
  ],
  [
    'completions that become longer',
    { series: { loss: falling(200), step_time: make(200, (row) => (10 + row) * by.heavy(1, 0.1)) } },
  ],
  [
    'a pace that falls to a third',
    { series: { loss: falling(200), samples_per_second: make(200, (row) => 300 / (1 + row / 100)) } },
  ],
];

describe('a pace', () => {
  test.each(FAULTY)('is blamed: %s, in %s', async (_what, format, columns) => {
    const { failed } = await verdictAs(format, columns);
    expect(failed[RULE]).toMatch(/in proportion to|rises at every step/);
  });

  test.each(HEALTHY)('is not blamed: %s', async (_what, columns) => {
    for (const format of FORMATS) expect((await verdictAs(format, columns)).failed[RULE]).toBeUndefined();
  });
});
