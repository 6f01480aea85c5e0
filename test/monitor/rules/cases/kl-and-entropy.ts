// How far a policy is from others, and from itself: KL, entropy, ratios, clipping, and the gap to what was sampled.
import { make } from '../logs.ts';
import type { Cases } from './case.ts';
import { drawn, flat, followed } from './values.ts';

const { by, falling, grpo, noisy } = drawn(10);

export const KL_AND_ENTROPY: Readonly<Record<string, Cases>> = {
  'monitor/k3-kl-negative': {
    breaking: [
      { what: 'the name says k3', series: { 'rollout_corr/k3_kl': [0, 0.01, -0.2] }, onset: 2 },
      {
        what: 'the run says k3',
        series: { 'actor/kl_loss': [0, 0.01, -0.2] },
        declared: { 'actor_rollout_ref/actor/kl_loss_type': 'low_var_kl' },
        onset: 2,
      },
      {
        what: "TRL's GRPO",
        series: { 'train/kl': [0, -0.4] },
        declared: { scale_rewards: 'group' },
        onset: 1,
      },
      { what: 'the user says k3', series: { kl: [0, -0.4] }, settings: { estimator: 'k3' }, onset: 1 },
    ],
    holding: [
      { what: 'an estimator that nobody named', series: { kl: [0, -0.4, 0.1] }, silent: true },
      {
        what: 'another estimator',
        series: { 'actor/kl_loss': [0, -0.4] },
        declared: { kl_loss_type: 'kl' },
        silent: true,
      },
      { what: 'rounding', series: { 'train/kl': [-1e-8, -1e-5, 0.1] }, declared: { scale_rewards: 'group' } },
      {
        what: 'the KL of a reward',
        series: { 'actor/reward_kl_penalty': [0.1, -0.1] },
        declared: { kl_loss_type: 'low_var_kl' },
        silent: true,
      },
    ],
  },
  'monitor/kl-leaves-zero': {
    breaking: [
      {
        what: 'an optimiser of other parameters',
        series: { kl: flat(20, 0), grad_norm: noisy(20, 2), learning_rate: flat(20, 1e-3) },
        declared: { beta: 0.04 },
        onset: 0,
        within: 12,
      },
    ],
    holding: [
      { what: 'a KL that is not used', series: { kl: flat(20, 0), grad_norm: noisy(20, 2) }, silent: true },
      {
        what: 'a KL that leaves 0',
        series: { kl: followed([0], ...noisy(19, 1e-4)), grad_norm: noisy(20, 2) },
        declared: { beta: 0.04 },
      },
    ],
  },
  'monitor/kl-size': {
    breaking: [{ what: 'policies with nothing in common', series: { kl: [0, 0.1, 50, 80, 90] }, onset: 2 }],
    holding: [
      {
        what: 'a KL of latent codes',
        series: { loss: flat(40, 300), recon_loss: flat(40, 280), kl: make(40, (row) => row) },
        silent: true,
      },
      {
        what: 'a student beside its teacher, summed',
        series: { loss: falling(30), kl_loss: flat(30, 290), distill_loss: flat(30, 290) },
        silent: true,
      },
      {
        what: 'preferences, of whole completions',
        series: { loss: flat(30, 0.4), kl: flat(30, 30), 'rewards/chosen': flat(30, 1) },
        silent: true,
      },
      { what: 'one token of a rare kind', series: { kl: followed(noisy(9, 0.01), 30, 0.01) } },
      { what: 'whole completions', series: { 'objective/kl': noisy(20, 60) }, silent: true },
    ],
  },
  'monitor/entropy-collapse': {
    breaking: [
      { what: 'at once', series: grpo(6, { entropy: [2.4, 0, 0, 0, 0, 0], reward: flat(6, 0.1) }), onset: 1 },
      {
        what: 'in a few steps',
        series: grpo(9, { entropy: [2.4, 1.7, 0.9, 0.3, 0.1, 0.08, 0.05, 0.02, 0.01], reward: flat(9, 0.1) }),
        onset: 4,
      },
    ],
    holding: [
      {
        what: 'a policy that learnt',
        series: grpo(60, {
          entropy: make(60, (row) => 2 * Math.exp(-row / 8)),
          reward: make(60, (row) => row / 60),
        }),
      },
      { what: 'a slow fall', series: grpo(200, { entropy: make(200, (row) => 0.3 + Math.exp(-row / 50)) }) },
      { what: 'a low one', series: grpo(30, { entropy: noisy(30, 0.05) }) },
      {
        what: 'supervised training',
        series: { loss: falling(60), entropy: make(60, (row) => 2 * Math.exp(-row / 8)) },
        silent: true,
      },
    ],
  },
  'monitor/entropy-in-bounds': {
    breaking: [
      {
        what: 'a sum over tokens',
        series: { entropy: [40, 41] },
        declared: { 'model_config/vocab_size': 32_000 },
        onset: 0,
      },
    ],
    holding: [
      {
        what: 'a blind guess',
        series: { entropy: flat(3, Math.log(32_000)) },
        declared: { vocab_size: 32_000 },
      },
      { what: 'an unknown vocabulary', series: { entropy: [40] }, silent: true },
    ],
  },
  'monitor/first-ratio-is-one': {
    breaking: [
      {
        what: 'a ratio of another pass',
        series: { 'ratio/mean': flat(5, 1.2) },
        settings: { on_policy: true },
        onset: 0,
      },
      {
        what: 'clipping where each batch is used once',
        series: { 'train/clip_ratio/region_mean': followed(flat(5, 0), 0.2, 0.3, 0.2) },
        declared: { num_iterations: 1, steps_per_generation: 4, gradient_accumulation_steps: 4 },
        onset: 5,
      },
    ],
    holding: [
      {
        what: 'rounding',
        series: { ratio: make(9, () => 1 + 1e-3 * by.normal()) },
        settings: { on_policy: true },
      },
      {
        what: 'two updates a batch',
        series: { 'train/clip_ratio/region_mean': flat(9, 0.2) },
        declared: { num_iterations: 2 },
        silent: true,
      },
      {
        what: 'one update of several',
        series: { 'train/clip_ratio/region_mean': flat(9, 0.2) },
        declared: { num_iterations: 1, steps_per_generation: 8, gradient_accumulation_steps: 1 },
        silent: true,
      },
    ],
  },
  'monitor/mean-ratio': {
    breaking: [
      { what: 'other rows', series: { ratio_mean: followed(noisy(5, 1, 0.02), 3.8, 4, 3.5, 4) }, onset: 5 },
    ],
    holding: [
      {
        what: 'heavy tails',
        series: { ratio_mean: make(60, (row) => (row % 9 === 8 ? 1.8 : 1 + 0.1 * by.normal())) },
      },
    ],
  },
  'monitor/clip-fraction': {
    breaking: [
      {
        what: 'most of it',
        series: { 'actor/pg_clipfrac': followed(flat(5, 0.1), ...flat(6, 0.7)) },
        onset: 5,
        within: 4,
      },
    ],
    holding: [
      {
        what: 'gradients that are clipped in a supervised run',
        series: { loss: falling(20), clip_frac: flat(20, 1) },
        silent: true,
      },
      {
        what: 'two updates a batch',
        series: { 'actor/pg_clipfrac': make(60, (row) => (row % 2 === 0 ? 0 : 0.3)) },
      },
    ],
  },
  'monitor/sampling-gap': {
    breaking: [
      {
        what: 'another temperature',
        series: { 'sampling/sampling_logp_difference/mean': flat(5, 0.9) },
        onset: 0,
      },
      { what: 'as a factor', series: { 'train/token_mult_prob_error': flat(5, 2.5) }, onset: 0 },
    ],
    holding: [
      { what: 'kernels', series: { 'sampling/sampling_logp_difference/mean': noisy(30, 0.02) } },
      { what: 'as a factor', series: { token_mult_prob_error: noisy(30, 1.02, 0.01) } },
    ],
  },
};
