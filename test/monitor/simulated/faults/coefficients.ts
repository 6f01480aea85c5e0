// Faults of the KL and the entropy that no level shows: their sign, their coefficient, and what cannot be.
import type { Kind } from '../healthy.ts';
import { changed, type Fault, fresh, only } from './fault.ts';

const GROUPS: readonly Kind[] = ['grpo', 'grpo, dense'];
const VOCABULARY = 32_000;

export const COEFFICIENT_FAULTS: readonly Fault[] = [
  {
    name: 'a k3 estimate below 0',
    breaks: ['monitor/k3-kl-negative'],
    kinds: GROUPS,
    strengths: [1e-4, 1e-3, 0.01, 0.1],
    strengthName: 'by #',
    onset: 'later',
    plant: ({ run, onset, strength, by }) => ({
      'rollout_corr/k3_kl': fresh(run, (row) => (row < onset ? by.heavy(0.01, 0.2) : -strength)),
    }),
  },
  {
    name: 'a KL with its sign turned',
    breaks: ['monitor/kl-stays-negative'],
    kinds: ['grpo', 'grpo, dense', 'ppo'],
    strengths: [0.3, 0.6, 0.9, 1],
    strengthName: '# of the rows',
    onset: 'start',
    plant: ({ run, strength, by }) =>
      only(run, {
        kl: changed(run.columns.kl, 0, (value) => (by.uniform() < strength ? -value : value)),
      }),
  },
  {
    name: 'a KL that stays 0',
    breaks: ['monitor/kl-leaves-zero'],
    kinds: GROUPS,
    strengths: [3, 10, 30, 1000],
    strengthName: '# rows',
    onset: 'start',
    plant: ({ run, strength }) => ({
      kl: changed(run.columns.kl ?? fresh(run, () => 0.01), 0, (value, since) =>
        since < strength ? 0 : value,
      ),
    }),
    says: () => ({ declared: { beta: 0.04 } }),
  },
  {
    name: 'a coefficient of the KL too large',
    breaks: ['monitor/kl-coefficient'],
    kinds: GROUPS,
    strengths: [0.1, 1, 10, 100],
    strengthName: '#',
    onset: 'start',
    plant: ({ run, by }) => ({ kl: run.columns.kl ?? fresh(run, () => by.heavy(0.01, 0.3)) }),
    says: ({ strength }) => ({ declared: { beta: strength } }),
  },
  {
    name: 'a KL without a coefficient',
    breaks: ['monitor/kl-is-used'],
    kinds: GROUPS,
    strengths: [0.01, 0.1, 1, 10],
    strengthName: 'a KL of #',
    onset: 'start',
    plant: ({ run, strength, by }) => ({ 'actor/kl_loss': fresh(run, () => by.heavy(strength, 0.3)) }),
    says: () => ({ declared: { kl_loss_coef: 0 } }),
  },
  {
    name: 'an entropy summed over tokens',
    breaks: ['monitor/entropy-in-bounds'],
    kinds: ['grpo', 'grpo, dense', 'ppo'],
    strengths: [3, 30, 300, 3000],
    strengthName: '# of them',
    onset: 'start',
    plant: ({ run, strength }) =>
      only(run, { entropy: changed(run.columns.entropy, 0, (value) => value * strength) }),
    says: () => ({ declared: { 'model_config/vocab_size': VOCABULARY } }),
  },
];
