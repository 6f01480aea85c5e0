// Learning rates beside what a run declares, in the logs of several trainers: a wrong peak, a schedule that is stepped twice or is
// told too few steps; and what somebody may have meant, which is a remark.
import { describe, expect, test } from 'vitest';
import { drawn } from './cases/values.ts';
import { type Columns, FORMATS, type Format, verdictAs } from './formats.ts';
import { make } from './logs.ts';

const { falling, noisy } = drawn(81);
const PEAK = 1.3e-5;
const cosine = (count: number, steps: number, peak = PEAK, low = 0): number[] =>
  make(count, (row) => low + (peak - low) * 0.5 * (1 + Math.cos((Math.PI * row) / steps)));
const linear = (count: number, steps: number, peak = PEAK): number[] =>
  make(count, (row) => peak * Math.max(0, 1 - row / steps));
const sft = (name: string, rates: readonly number[]): Columns['series'] => ({
  [name.startsWith('train/') ? 'train/loss' : 'loss']: falling(rates.length),
  [name]: rates,
});
const verl = (rates: readonly number[]): Columns['series'] => ({
  'actor/pg_loss': noisy(rates.length, 0.1),
  'actor/lr': rates,
});
const HF = { lr_scheduler_type: 'cosine', learning_rate: PEAK, max_steps: 200 };
const VERL = {
  'actor_rollout_ref/actor/optim/lr': PEAK,
  'actor_rollout_ref/actor/optim/lr_scheduler_type': 'cosine',
  'actor_rollout_ref/actor/optim/total_training_steps': 200,
  'actor_rollout_ref/actor/optim/lr_warmup_steps': -1,
  'actor_rollout_ref/actor/optim/lr_warmup_steps_ratio': 0,
};
const MEGATRON = { lr_decay_style: 'linear', lr: PEAK, train_iters: 200, lr_warmup_iters: 0 };

const FAULTY: readonly (readonly [string, Format, Columns])[] = [
  [
    'five times the declared peak',
    'trainer_state.json',
    { series: sft('learning_rate', cosine(200, 200, 5 * PEAK)), declared: HF },
  ],
  [
    'ten times the declared peak of verl',
    'verl console',
    { series: verl(cosine(200, 200, 10 * PEAK)), declared: VERL },
  ],
  ['half the steps, of verl', 'verl console', { series: verl(cosine(200, 100)), declared: VERL }],
  ['a scheduler of two processes', 'CSV', { series: sft('lr', cosine(200, 100)), declared: HF }],
  [
    'half the steps, of Megatron',
    'JSON lines',
    { series: sft('learning-rate', linear(200, 100)), declared: MEGATRON },
  ],
  [
    'a decay that is shorter by its warm-up',
    'TensorBoard',
    {
      series: sft('train/learning_rate', [...make(40, (row) => (PEAK * row) / 40), ...linear(160, 120)]),
      declared: { ...HF, lr_scheduler_type: 'linear', warmup_steps: 40 },
      first: 0,
    },
  ],
];

const HEALTHY: readonly (readonly [string, Columns])[] = [
  ['the declared cosine', { series: sft('learning_rate', cosine(200, 200)), declared: HF }],
  [
    'verl, with a floor',
    {
      series: verl(cosine(200, 200, PEAK, 0.1 * PEAK)),
      declared: { ...VERL, 'actor_rollout_ref/actor/optim/min_lr_ratio': 0.1 },
    },
  ],
  [
    'a constant of verl that warms up',
    {
      series: verl([...make(20, (row) => (PEAK * (row + 1)) / 20), ...make(180, () => PEAK)]),
      declared: {
        ...VERL,
        'actor_rollout_ref/actor/optim/lr_scheduler_type': 'constant',
        'actor_rollout_ref/actor/optim/lr_warmup_steps': 20,
      },
    },
  ],
  [
    'Megatron, which stays at its floor',
    {
      series: sft('learning-rate', [...linear(120, 150), ...make(80, () => 0.2 * PEAK)]),
      declared: { ...MEGATRON, lr_decay_iters: 150, min_lr: 0.2 * PEAK },
    },
  ],
];

const LEGAL: readonly (readonly [string, RegExp, Columns])[] = [
  [
    'a peak for eight devices',
    /8 times its height.*`--fact learning_rate=0\.000104`/,
    { series: sft('learning_rate', cosine(200, 200, 8 * PEAK)), declared: HF },
  ],
  [
    'a peak above the declared one, without a schedule',
    /reaches 0\.000039, 3 times the declared 0\.000013/,
    { series: sft('lr', cosine(200, 200, 3 * PEAK)), declared: { learning_rate: PEAK } },
  ],
  [
    'a floor from the middle on',
    /at its lowest, .* from step 9\d of 200 on/,
    {
      series: sft('lr', [...cosine(100, 100, PEAK, 0.1 * PEAK), ...make(100, () => 0.1 * PEAK)]),
      declared: { max_steps: 200 },
    },
  ],
  [
    'a cosine that comes up again',
    /falls to .* at step 1\d\d of 200 and rises again/,
    { series: sft('lr', cosine(200, 100)), declared: { max_iters: 200 } },
  ],
];

/** It goes back from step 80 to 60. */
const BACK = [...make(80, (row) => row + 1), ...make(60, (row) => row + 61)];
const resumed = (after: (step: number) => number): Columns => ({
  series: sft(
    'lr',
    BACK.map((step, row) => (row < 80 ? PEAK * (1 - step / 200) : after(step))),
  ),
  steps: BACK,
});

const RULES = ['learning-rate-as-scheduled', 'learning-rate-as-declared', 'learning-rate-not-zero'];
const blamed = (failed: Readonly<Record<string, string>>): string[] => RULES.filter((rule) => rule in failed);

describe('a learning rate', () => {
  test.each(FAULTY)('is blamed: %s, in %s', async (_what, format, columns) => {
    expect(blamed((await verdictAs(format, columns)).failed)).not.toEqual([]);
  });

  test.each(HEALTHY)('is neither blamed nor asked about: %s', async (_what, columns) => {
    for (const format of FORMATS) {
      const { failed, remarks } = await verdictAs(format, columns);
      expect(blamed(failed), format).toEqual([]);
      expect(remarks, format).toBe('');
    }
  });

  test.each(LEGAL)('is asked about: %s', async (_what, words, columns) => {
    const { failed, remarks } = await verdictAs('JSON lines', columns);
    expect(blamed(failed)).toEqual([]);
    expect(remarks).toMatch(words);
  });

  test('that goes on after a resumption is not asked about, and one that is stepped twice from there on is', async () => {
    const on = await verdictAs(
      'CSV',
      resumed((step) => PEAK * (1 - step / 200)),
    );
    expect(on.remarks).not.toMatch(/other rates/);
    const twice = await verdictAs(
      'CSV',
      resumed((step) => PEAK * Math.max(0, 1 - (2 * step - 60) / 200)),
    );
    expect(twice.remarks).toMatch(/goes back to step 61 and has other rates from there on/);
  });
});
