// Runs that learn as they should, of trainers that are merely different from each other: no rule over their logs is broken,
// and those that ought to have judged them did.
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  failedIn,
  type Monitored,
  monitored,
  seeds,
  TRAINING_TIMEOUT,
  type Training,
  trained,
} from './runs.ts';

const rl: Training = { script: 'rl' };
const sft: Training = { script: 'supervised' };
const dpo: Training = { script: 'supervised', method: 'dpo', lr: 1e-3 };
const hf: Training = { script: 'supervised', method: 'hf' };

const TEN_SEEDS = { grpo: seeds(10, rl), sft: seeds(10, sft) };
const OTHERS = {
  'grpo with a reference, two updates a batch': seeds(2, { ...rl, beta: 0.04, num_iterations: 2 }),
  'grpo with rewards of 0 and 1': seeds(2, { ...rl, sparse: true }),
  'grpo without scaling, accumulating': seeds(2, {
    ...rl,
    scale_rewards: 'none',
    batch: 8,
    gradient_accumulation_steps: 2,
  }),
  'grpo with its completions and checkpoints': seeds(1, { ...rl, log_completions: true, checkpoints: true }),
  'grpo that learns slowly': seeds(2, { ...rl, lr: 1e-5, beta: 0.04, schedule: 'cosine' }),
  rloo: seeds(2, { ...rl, method: 'rloo', beta: 0.05 }),
  dpo: seeds(2, dpo),
  'transformers, evaluated': seeds(2, { ...hf, evaluate: true, schedule: 'linear', steps: 60 }),
  'sft without clipping': seeds(2, { ...sft, clip: 0, schedule: 'constant' }),
  'sft at a high rate': seeds(2, { ...sft, lr: 2e-2, checkpoints: true }),
  'grpo by hand, csv': seeds(2, { script: 'by_hand', form: 'csv' }),
  'grpo by hand, JSON lines': seeds(1, { script: 'by_hand', form: 'jsonl' }),
  'grpo by hand, TensorBoard': seeds(1, { script: 'by_hand', form: 'tensorboard' }),
  'two losses, TensorBoard': seeds(2, { script: 'two_losses', form: 'tensorboard' }),
  'two losses, csv': seeds(1, { script: 'two_losses', form: 'csv' }),
};

let folder = '';
beforeAll(async () => {
  folder = await trained({ ...TEN_SEEDS, ...OTHERS });
}, TRAINING_TIMEOUT);

describe('ten seeds', () => {
  test('of GRPO are not blamed, and were judged', async () => {
    const run = await monitored(join(folder, 'grpo'));
    quiet(run);
    expect(passedIn(run), run.out).toEqual(expect.arrayContaining(JUDGED_OF_GRPO));
  });

  test('of supervised fine-tuning are not blamed, and were judged', async () => {
    const run = await monitored(join(folder, 'sft'));
    quiet(run);
    expect(passedIn(run), run.out).toEqual(expect.arrayContaining(JUDGED_OF_SFT));
  });
});

test.concurrent.each(Object.keys(OTHERS))('%s: not blamed', async (name) => {
  quiet(await monitored(join(folder, name)));
});

/** Rules that any log of a trainer lets judge: none of them may have looked away. */
const JUDGED_OF_ALL = [
  'finite-training',
  'zero-loss',
  'gradient-flows',
  'loss-moves',
  'learning-rate-size',
  'learning-rate-as-scheduled',
  'learning-rate-not-zero',
  'grad-norm-explodes',
  'grad-norm-spike',
];
const JUDGED_OF_GRPO = [
  ...JUDGED_OF_ALL,
  'entropy-collapse',
  'rewards-differ',
  'first-ratio-is-one',
  'clip-fraction',
  'length-stuck-at-one',
  'length-stuck-at-limit',
  'truncated-share',
];
const JUDGED_OF_SFT = [...JUDGED_OF_ALL, 'supervised-loss-not-negative', 'loss-diverges', 'loss-rises'];

function quiet(run: Monitored): void {
  expect(failedIn(run), run.out).toEqual([]);
  expect(
    run.results.some(({ verdict }) => verdict === 'error'),
    run.out,
  ).toBe(false);
  expect(passedIn(run).length, run.out).toBeGreaterThan(0);
  expect(run.exitCode, run.out).toBe(0);
}

function passedIn({ results }: Monitored): readonly string[] {
  return results.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id.replace('monitor/', ''));
}
