// Learning rates beside declared schedules: cosines with a floor, and peaks that are not the declared ones.
import { make } from '../logs.ts';
import type { Cases } from './case.ts';

interface Decay {
  readonly peak: number;
  readonly steps: number;
  readonly warmup?: number;
  readonly floor?: number;
}
/** What a trainer logs after each step, as nanoGPT computes it. */
const cosine = ({ peak, steps, warmup = 0, floor = 0 }: Decay): number[] =>
  make(steps, (row) =>
    row < warmup
      ? (peak * (row + 1)) / warmup
      : floor + (peak - floor) * 0.5 * (1 + Math.cos((Math.PI * (row - warmup)) / (steps - warmup))),
  );
const clipped = (decay: Decay, low: number): number[] =>
  cosine(decay).map((rate, row) => (row < (decay.warmup ?? 0) ? rate : Math.max(rate, low)));
const declares = (kind: string, { peak, steps, warmup = 0 }: Decay) => ({
  lr_scheduler_type: kind,
  learning_rate: peak,
  max_steps: steps,
  warmup_steps: warmup,
});
const LONG = { peak: 3e-4, steps: 400, warmup: 40 };
const SHORT = { peak: 2e-5, steps: 60 };
const BIG = { peak: 1e-3, steps: 150, warmup: 5 };

export const RATES: Readonly<Record<string, Cases>> = {
  'monitor/learning-rate-as-scheduled': {
    breaking: [
      {
        what: 'a peak of 1.1 of the declared one, without a warm-up',
        series: { learning_rate: cosine({ ...SHORT, peak: 1.1 * SHORT.peak }) },
        declared: declares('cosine', SHORT),
        onset: 0,
        within: 12,
      },
      {
        what: 'a peak of 0.8 of the declared one, on a line',
        series: { 'train/learning_rate': make(200, (row) => 0.8e-4 * (1 - row / 200)) },
        declared: declares('linear', { peak: 1e-4, steps: 200 }),
        onset: 0,
        within: 12,
      },
      {
        what: 'a constant that is a quarter too high',
        series: { lr: make(30, () => 1.25e-5) },
        declared: { lr_scheduler_type: 'constant', learning_rate: 1e-5 },
        onset: 0,
        within: 12,
      },
      {
        what: 'a peak of 1.1 of the declared one, behind a warm-up',
        series: { learning_rate: cosine({ ...LONG, peak: 1.1 * LONG.peak }) },
        declared: declares('cosine', LONG),
        onset: 6,
        within: 30,
      },
      {
        what: 'another floor than the declared one',
        series: { learning_rate: cosine({ ...BIG, floor: 2e-4 }) },
        declared: { ...declares('cosine', BIG), min_lr: 1e-4 },
        onset: 5,
        within: 60,
      },
      {
        what: 'a cosine over a third more steps',
        series: { learning_rate: cosine({ ...LONG, steps: 530 }).slice(0, 400) },
        declared: declares('cosine', LONG),
        onset: 40,
        within: 200,
      },
    ],
    holding: [
      {
        what: 'a cosine that ends at a tenth of its peak, which nobody declared',
        series: { learning_rate: cosine({ ...LONG, floor: 3e-5 }) },
        declared: declares('cosine', LONG),
      },
      {
        what: 'one whose floor is declared',
        series: { learning_rate: cosine({ ...BIG, floor: 1e-4 }) },
        declared: { ...declares('cosine', BIG), min_lr: 1e-4 },
      },
      {
        what: 'one whose floor is declared as a share, nested',
        series: { learning_rate: cosine({ ...SHORT, floor: 4e-6 }) },
        declared: { ...declares('cosine', SHORT), 'lr_scheduler_kwargs/min_lr_rate': 0.2 },
      },
      {
        what: 'one that is cut off at its floor',
        series: { learning_rate: clipped(BIG, 1.5e-4) },
        declared: declares('cosine', BIG),
      },
      {
        what: 'a scaled rate for each of four devices',
        series: { learning_rate: cosine({ ...SHORT, peak: 4 * SHORT.peak }) },
        declared: declares('cosine', SHORT),
        silent: true,
      },
    ],
  },
};
