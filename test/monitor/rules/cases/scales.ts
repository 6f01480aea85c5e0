// Losses of another scale than what is computed from the same tokens, and those that only differ.
import { make } from '../logs.ts';
import type { Cases } from './case.ts';
import { drawn } from './values.ts';

const { by, falling, noisy } = drawn(71);
/** Evaluated at every tenth of the steps. */
export const held = (loss: readonly number[], factor = 1, every = 10): (number | undefined)[] =>
  loss.map((value, row) => (row % every === every - 1 ? value * factor * by.heavy(1, 0.01) : undefined));
const times = (values: readonly number[], factor: number): number[] => values.map((value) => value * factor);
const exp = (values: readonly number[], factor = 1): number[] =>
  values.map((value) => Math.exp(factor * value));
/** What learning by heart makes of a loss whose evaluation stays. */
const byHeart = (count: number): number[] => make(count, (row) => 2 * Math.exp(-row / 12) + 0.45);

const LOSS = falling(60, 2);
const PG = make(60, () => 0.05 * by.normal());
const KL = noisy(60, 0.2, 0.3);

export const SCALES: Readonly<Record<string, Cases>> = {
  'monitor/loss-scale-beside-evaluation': {
    breaking: [
      {
        what: 'a sum over eight micro-batches',
        series: { loss: times(LOSS, 8), eval_loss: held(LOSS) },
        declared: { gradient_accumulation_steps: 8 },
        onset: 0,
        within: 60,
      },
      {
        what: 'one that is divided by four micro-batches twice',
        series: { 'train/loss': times(LOSS, 0.25), 'eval/loss': held(LOSS) },
        declared: { gradient_accumulation_steps: 4 },
        onset: 0,
        within: 60,
      },
      {
        what: 'one divided by 16 twice, in a loop of somebody',
        series: { train_loss: times(LOSS, 1.1 / 16), val_loss: held(LOSS, 1, 15) },
        declared: { grad_accum: 16 },
        onset: 0,
        within: 60,
      },
      {
        what: 'a sum over five, of a Lightning module',
        series: { 'train/loss': times(LOSS, 5.6), 'val/loss': held(LOSS) },
        declared: { 'trainer/accumulate_grad_batches': 5 },
        onset: 0,
        within: 60,
      },
    ],
    holding: [
      {
        what: 'accumulation with a mean, and dropout',
        series: { loss: times(LOSS, 1.15), eval_loss: held(LOSS) },
        declared: { gradient_accumulation_steps: 8 },
      },
      {
        what: 'learning by heart',
        series: { loss: byHeart(60), eval_loss: held(make(60, () => 1.9)) },
        declared: { gradient_accumulation_steps: 4 },
      },
      {
        what: 'an evaluation on harder text',
        series: { loss: LOSS, eval_loss: held(LOSS, 1.9) },
        declared: { gradient_accumulation_steps: 2 },
      },
      {
        what: 'a rewarded policy',
        series: { loss: times(LOSS, 8), eval_loss: held(LOSS), reward: make(60, () => by.uniform()) },
        declared: { gradient_accumulation_steps: 8 },
        silent: true,
      },
    ],
  },
  'monitor/perplexity-fits-loss': {
    breaking: [
      {
        what: 'a loss that is divided by four',
        series: { loss: times(LOSS, 0.25), perplexity: exp(LOSS) },
        onset: 0,
        within: 8,
      },
      {
        what: 'a loss that is summed over eight micro-batches',
        series: { 'train/loss': times(LOSS, 8), 'train/ppl': exp(LOSS) },
        declared: { gradient_accumulation_steps: 8 },
        onset: 0,
        within: 8,
      },
      {
        what: 'the perplexity of a sum over two devices',
        series: { train_loss: LOSS, train_ppl: exp(LOSS, 2) },
        onset: 0,
        within: 8,
      },
      {
        what: 'that of an evaluation',
        series: { 'val/loss': times(LOSS, 1 / 3), 'val/perplexity': exp(LOSS) },
        onset: 0,
        within: 8,
      },
    ],
    holding: [
      { what: 'the exponential of the loss', series: { loss: LOSS, perplexity: exp(LOSS) } },
      { what: 'a loss in bits', series: { loss: times(LOSS, 1 / Math.LN2), ppl: exp(LOSS) } },
      {
        what: 'a loss with a further term',
        series: { loss: LOSS.map((value) => value + 0.4), ppl: exp(LOSS) },
      },
      {
        what: 'a mean of exponentials, of rows that differ',
        series: { loss: LOSS, ppl: LOSS.map((value) => Math.exp(value + 0.1 + 0.2 * by.uniform())) },
      },
      {
        what: 'one that is smoothed',
        series: { loss: LOSS, ppl: LOSS.map((_, row) => Math.exp(LOSS[Math.max(0, row - 3)] as number)) },
      },
    ],
  },
  'monitor/loss-adds-up': {
    breaking: [
      {
        what: 'a KL that is subtracted',
        series: { loss: PG.map((value, row) => value - 0.3 * (KL[row] as number)), pg_loss: PG, kl_loss: KL },
        declared: { kl_coef: 0.3 },
        onset: 0,
        within: 60,
      },
      {
        what: 'a KL with a hundredth of its weight',
        series: { loss: PG.map((value, row) => value + 0.02 * (KL[row] as number)), policy_loss: PG, kl: KL },
        declared: { kl_coef: 2 },
        onset: 0,
        within: 60,
      },
    ],
    holding: [
      {
        what: 'a KL with its weight',
        series: { loss: PG.map((value, row) => value + 0.3 * (KL[row] as number)), pg_loss: PG, kl_loss: KL },
        declared: { kl_coef: 0.3 },
      },
      {
        what: 'a loss with a part that is not logged',
        series: { loss: noisy(60, 1), pg_loss: PG, kl_loss: KL },
        declared: { kl_coef: 0.3 },
        silent: true,
      },
    ],
  },
};
