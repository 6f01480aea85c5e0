// Values that a run cannot have, and the same metrics as they look in healthy ones.
import { make } from '../logs.ts';
import type { Cases } from './case.ts';
import { drawn, flat, followed } from './values.ts';

const { by, noisy, falling } = drawn(53);
const LONG = 60;
const lengths = noisy(LONG, 300, 0.05);
const softplus = (margin: number): number => Math.log1p(Math.exp(-margin));
const margins = make(LONG, (row) => (row === 0 ? 0 : 1.5 * (1 - Math.exp(-row / 30)) + 0.05 * by.normal()));
const pairs = (scale: number): Record<string, number[]> => ({
  loss: margins.map((margin) => scale * softplus(margin)),
  'rewards/margins': margins,
});
const evaluatedEvery = (every: number, value: (row: number) => number, rows = LONG): (number | undefined)[] =>
  Array.from({ length: rows }, (_, row) => (row % every === every - 1 ? value(row) : undefined));
const loss = falling(LONG);
const grows = (from: number, times: number): number[] =>
  make(3 * LONG, (row) => (row < from ? 0.3 : 0.3 * times ** ((row - from) / 10)) * by.heavy(1, 0.1));

export const POSSIBLE: Readonly<Record<string, Cases>> = {
  'monitor/values-are-in-range': {
    breaking: [
      {
        what: 'log-probabilities above 0',
        series: { 'logps/chosen': flat(LONG, -120).map((value, row) => (row < 20 ? value : -value)) },
        onset: 20,
      },
      {
        what: 'an explained variance of 1.4',
        series: { explained_variance: noisy(LONG, 1.4, 0.02) },
        onset: 0,
      },
      {
        what: 'a share that is a sum over ranks, in counts',
        series: { 'completions/clipped_ratio': noisy(LONG, 900) },
        onset: 0,
      },
      {
        what: 'a share of clipped tokens a little below 0',
        series: { clip_fraction: make(LONG, () => -0.002 + 0.0005 * by.normal()) },
        onset: 0,
      },
      { what: 'a norm below 0', series: { grad_norm: noisy(LONG, -1) }, onset: 0 },
      {
        what: 'a held-out accuracy that is a count',
        series: { loss, eval_mean_token_accuracy: noisy(LONG, 5000) },
        onset: 0,
      },
    ],
    holding: [
      { what: 'shares in percent', series: { mean_token_accuracy: make(LONG, (row) => 30 + row) } },
      {
        what: 'values at their bounds, and -1 for none',
        series: {
          'rewards/accuracies': followed(flat(30, 1), ...flat(30, 1.0001)),
          'completions/clipped_ratio': make(LONG, (row) => (row % 2 === 0 ? -1 : 0)),
          explained_variance: make(LONG, (row) => -5 + row / 10),
          reward_std: flat(LONG, 0),
        },
      },
    ],
  },
  'monitor/entropy-not-negative': {
    breaking: [
      {
        what: 'the entropy of a policy of texts with the sign of a bonus',
        series: { entropy: noisy(LONG, -0.6), completion_length: lengths },
        onset: 0,
        within: 5,
      },
    ],
    holding: [
      {
        what: 'an entropy that falls to nothing',
        series: {
          entropy: make(LONG, (row) => Math.max(0, 0.5 - row / 50) - 1e-4),
          completion_length: lengths,
        },
      },
      {
        what: 'that of a continuous action',
        series: { entropy: noisy(LONG, -0.6), ep_rew_mean: noisy(LONG, 3) },
        silent: true,
      },
    ],
  },
  'monitor/mean-between-extremes': {
    breaking: [
      {
        what: 'a mean length above the longest completion',
        series: {
          'completions/mean_length': lengths,
          'completions/min_length': flat(LONG, 20),
          'completions/max_length': lengths.map((value) => value * 0.8),
        },
        onset: 0,
        within: 5,
      },
      {
        what: 'a mean over twice as many rows as there are, from some step on',
        series: {
          'critic/score/mean': make(LONG, (row) => (row < 30 ? 0.6 : 0.3) + by.uniform() / 100),
          'critic/score/min': flat(LONG, 0.4),
          'critic/score/max': flat(LONG, 1),
        },
        onset: 30,
        within: 5,
      },
    ],
    holding: [
      {
        what: 'lengths that are all alike',
        series: {
          'response_length/mean': flat(LONG, 128),
          'response_length/min': flat(LONG, 128),
          'response_length/max': flat(LONG, 128),
        },
      },
      {
        what: 'a mean below 0, and a smallest value so far',
        series: {
          reward_mean: noisy(LONG, -0.4),
          reward_min: flat(LONG, -3),
          reward_max: flat(LONG, 0),
        },
      },
    ],
  },
  'monitor/evaluation-is-its-own': {
    breaking: [
      {
        what: 'an evaluation of the batch that was trained',
        series: { loss, eval_loss: evaluatedEvery(5, (row) => loss[row] as number) },
        onset: 9,
        within: 21,
      },
    ],
    holding: [
      {
        what: 'an evaluation near the training loss',
        series: { loss, eval_loss: evaluatedEvery(5, (row) => (loss[row] as number) * 1.0001) },
      },
      {
        what: 'two names of one number, both at each step',
        series: { loss, val_loss: loss },
      },
      {
        what: 'losses that are rounded to the same digits',
        series: {
          loss: flat(LONG, 1.2),
          eval_loss: evaluatedEvery(5, () => 1.2),
        },
      },
    ],
  },
  'monitor/preference-loss-begins-at-log-2': {
    breaking: [
      { what: 'eight batches that are added up', series: pairs(8), onset: 0 },
      { what: 'a loss that is divided by eight batches twice', series: pairs(1 / 8), onset: 0 },
      {
        what: 'six batches, as the run declares',
        series: pairs(6),
        declared: { gradient_accumulation_steps: 6 },
        onset: 0,
      },
    ],
    holding: [
      { what: 'a loss of one batch', series: pairs(1) },
      { what: 'two halves, as BCO and NCA have them', series: pairs(2) },
      {
        what: 'squares: IPO with a beta of 0.1, 0.15 and 0.3',
        series: { ...pairs(1), loss: margins.map((margin) => (margin - 1 / 0.3) ** 2) },
        declared: { beta: 0.15 },
      },
    ],
  },
  'monitor/value-loss-explodes': {
    breaking: [
      {
        what: 'targets that run away',
        series: { value_loss: grows(60, 5), reward: noisy(3 * LONG, 0.5) },
        onset: 60,
        within: 120,
      },
      {
        what: 'the same without a reward',
        series: { 'losses/value_loss': grows(60, 5) },
        onset: 60,
        within: 120,
      },
    ],
    holding: [
      {
        what: 'rewards that are found late',
        series: {
          value_loss: make(3 * LONG, (row) => (row < 60 ? 1e-5 : 0.2) * by.heavy(1, 0.2)),
          reward: make(3 * LONG, (row) => (row < 60 ? 0 : 0.8)),
        },
      },
      {
        what: 'rewards that grow to hundreds',
        series: {
          value_loss: make(3 * LONG, (row) => 0.1 + row ** 2 / 10),
          reward: make(3 * LONG, (row) => row),
        },
      },
    ],
  },
  'monitor/loss-scale-lives': {
    breaking: [
      {
        what: 'a scale that is halved until nothing is left',
        series: { loss_scale: make(LONG, (row) => 2 ** (16 - row)) },
        onset: 23,
        within: 3,
      },
    ],
    holding: [
      {
        what: 'a scale that is halved and doubled',
        series: { loss_scale: make(LONG, (row) => 2 ** (12 + (row % 4))) },
      },
      { what: 'the scale of bfloat16', series: { 'loss-scale': flat(LONG, 1) } },
    ],
  },
  'monitor/chosen-is-not-rejected': {
    breaking: [
      {
        what: 'the first half of the batch read for both',
        series: {
          'logps/chosen': lengths.map((each) => -each),
          'logps/rejected': lengths.map((each) => -each),
        },
        onset: 0,
        within: 5,
      },
      {
        what: 'one score under two names, from some step on',
        series: {
          loss,
          chosen_scores: lengths,
          rejected_scores: lengths.map((each, row) => (row < 30 ? each - 1 : each)),
        },
        onset: 30,
        within: 5,
      },
      {
        what: 'the same answer on both sides of an evaluation',
        series: { loss, 'eval_logits/chosen': lengths, 'eval_logits/rejected': lengths },
        onset: 0,
        within: 5,
      },
    ],
    holding: [
      {
        what: 'a policy that still is its reference',
        series: { 'rewards/chosen': flat(LONG, 0), 'rewards/rejected': flat(LONG, 0) },
      },
      {
        what: 'answers that hardly differ',
        series: { 'logps/chosen': lengths, 'logps/rejected': lengths.map((each) => each * 1.00001) },
      },
      {
        what: 'numbers of a few digits',
        series: { 'rewards/chosen': flat(LONG, 0.5), 'rewards/rejected': flat(LONG, 0.5) },
      },
    ],
  },
  'monitor/clipped-tokens-have-moved': {
    breaking: [
      {
        what: 'a distance of the current policy to itself',
        series: { approx_kl: flat(LONG, 0), clip_fraction: noisy(LONG, 0.08) },
        onset: 0,
        within: 5,
      },
      {
        what: 'the same of verl, from some step on',
        series: {
          'actor/ppo_kl': followed(noisy(30, 0.004), ...flat(30, 0)),
          'actor/pg_clipfrac': noisy(LONG, 0.1),
        },
        onset: 30,
        within: 5,
      },
      {
        what: 'the same of TRL',
        series: { 'policy/approxkl_avg': flat(LONG, 0), 'policy/clipfrac_avg': noisy(LONG, 0.2) },
        onset: 0,
        within: 5,
      },
    ],
    holding: [
      {
        what: 'an update that clips a few tokens, in four decimals',
        series: { approx_kl: flat(LONG, 0), clip_fraction: flat(LONG, 0.001) },
      },
      {
        what: 'a first update without any',
        series: { approx_kl: flat(LONG, 0), clip_fraction: flat(LONG, 0) },
      },
      {
        what: 'an update that clips many',
        series: { approx_kl: noisy(LONG, 0.01), clip_fraction: noisy(LONG, 0.2) },
      },
    ],
  },
};
