// How long a simulated run is, how often it logs, and the learning rate it is given: what all else in it follows from.

import type { SettingValue } from '../../../src/monitor/rule.ts';
import { type Dice, make } from '../rules/logs.ts';

export interface Plan {
  /** Logged rows. */
  readonly rows: number;
  /** Steps of the optimiser from one row to the next. */
  readonly every: number;
  readonly steps: readonly number[];
  /** Steps of one pass over the data. */
  readonly perEpoch: number;
  readonly epochs: readonly number[];
  readonly peak: number;
  readonly rates: readonly number[];
  /** Of all that this run will learn, how much is behind it, 0 to 1: the sum of its rates. */
  readonly progress: readonly number[];
  readonly declared: Readonly<Record<string, SettingValue>>;
}

export interface PlanSketch {
  /** Powers of ten that the peak of the rate lies between. */
  readonly peak: readonly [number, number];
  readonly rows?: readonly [number, number];
  /** Passes over the data; fewer than one is a share. */
  readonly epochs?: readonly number[];
  readonly every?: readonly number[];
}

export function plan(by: Dice, sketch: PlanSketch): Plan {
  const rows = sketch.rows === undefined ? length(by) : by.whole(...sketch.rows);
  const every = by.pick(sketch.every ?? [1, 1, 5, 10, 10, 20, 25, 50, 100]);
  const total = rows * every;
  const passes = by.pick(sketch.epochs ?? [1, 1, 1, 2, 3, 3, 5]);
  const perEpoch = Math.max(1, total / passes);
  const steps = make(rows, (row) => (row + 1) * every);
  const [low, high] = sketch.peak;
  const peak = 10 ** (low + (high - low) * by.uniform()) * by.pick([1, 1, 1.0001]);
  const { kind, warmup, rateAt, declared } = schedule(by, peak, total, every);
  // What is logged is the rate of the step that was, or of the next one.
  const shift = by.pick([0, -1]);
  const rates = steps.map((step) => rateAt(Math.max(0, step + shift)));
  let sum = 0;
  const sums = steps.map((step) => {
    sum += rateAt(step - every / 2) / peak;
    return sum;
  });
  const said = {
    lr_scheduler_type: kind,
    learning_rate: peak,
    max_steps: total,
    warmup_steps: warmup,
    ...declared,
  };
  return {
    rows,
    every,
    steps,
    perEpoch,
    epochs: steps.map((step) => Math.round((step / perEpoch) * 1e4) / 1e4),
    peak,
    rates,
    progress: sums.map((each) => each / Math.max(sum, 1e-9)),
    declared: by.uniform() < 0.5 ? said : {},
  };
}

// --- helpers ---

/** Many logs of fine-tunes have 30 to 100 points; few have thousands. */
function length(by: Dice): number {
  const [from, to] = by.pick([
    [20, 40],
    [30, 100],
    [30, 100],
    [30, 100],
    [100, 400],
    [100, 400],
    [400, 1000],
  ] as const);
  return by.uniform() < 0.03 ? by.whole(1000, 3000) : by.whole(from, to);
}

interface Schedule {
  readonly kind: string;
  readonly warmup: number;
  readonly rateAt: (step: number) => number;
  readonly declared: Readonly<Record<string, SettingValue>>;
}

const SCHEDULES = [
  'linear',
  'linear',
  'linear',
  'cosine',
  'cosine',
  'cosine',
  'constant',
  'constant_with_warmup',
  'cosine_with_restarts',
  'inverse_sqrt',
  'polynomial',
  'cosine_with_min_lr',
  'warmup_stable_decay',
] as const;

/** As transformers computes them. */
function schedule(by: Dice, peak: number, total: number, every: number): Schedule {
  const kind = by.pick(SCHEDULES);
  const share = by.pick([0, 0, 0.03, 0.05, 0.1, 0.1, 0.3]);
  const warmup =
    kind === 'constant' ? 0 : by.uniform() < 0.2 ? Math.min(total >> 1, 2 * every) : Math.ceil(total * share);
  const cycles = by.pick([2, 3, 4]);
  const floor = by.pick([0.1, 0.01]);
  const decay = Math.ceil(total * by.pick([0.1, 0.2]));
  const behind = (step: number): number => {
    const progress = Math.min(1, (step - warmup) / Math.max(1, total - warmup));
    const cosine = 0.5 * (1 + Math.cos(Math.PI * progress));
    switch (kind) {
      case 'linear':
        return 1 - progress;
      case 'cosine':
        return cosine;
      case 'cosine_with_restarts':
        return progress >= 1 ? 0 : 0.5 * (1 + Math.cos(Math.PI * ((cycles * progress) % 1)));
      case 'cosine_with_min_lr':
        return floor + (1 - floor) * cosine;
      case 'polynomial':
        return (1 - 1e-7 / peak) * (1 - progress) + 1e-7 / peak;
      case 'inverse_sqrt': {
        const scale = warmup > 0 ? warmup : 10_000;
        return 1 / Math.sqrt((step + scale - warmup) / scale);
      }
      case 'warmup_stable_decay':
        return Math.min(1, Math.max(0, total - step) / Math.max(1, decay));
      default:
        return 1;
    }
  };
  return {
    kind,
    warmup,
    rateAt: (step) => peak * (step < warmup ? step / Math.max(1, warmup) : behind(step)),
    declared: kind === 'cosine_with_restarts' ? { 'lr_scheduler_kwargs/num_cycles': cycles } : {},
  };
}
