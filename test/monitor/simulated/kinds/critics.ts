// PPO: a policy and a critic that learns the value of what it does.
import { type Dice, make } from '../../rules/logs.ts';
import { norms, stepTimes } from '../noise.ts';
import { plan } from '../plan.ts';
import { type Columns, called, type Naming, type Simulation } from '../simulation.ts';
import { lengthsOf } from './groups.ts';

const NAMINGS: readonly Naming[] = [
  called({
    policy_loss: 'actor/pg_loss',
    value_loss: 'critic/vf_loss',
    value_error: 'critic/vf_explained_var',
    approx_kl: 'actor/ppo_kl',
    clip_fraction: 'actor/pg_clipfrac',
    grad_norm: 'actor/grad_norm',
    critic_norm: 'critic/grad_norm',
    learning_rate: 'actor/lr',
    entropy: 'actor/entropy',
    kl: 'actor/reward_kl_penalty',
    reward: 'critic/score/mean',
    advantage: 'critic/advantages/mean',
    length: 'response_length/mean',
    length_min: 'response_length/min',
    length_max: 'response_length/max',
    truncated: 'response_length/clip_ratio',
    step_time: 'timing_s/step',
    throughput: 'perf/throughput',
  }),
  called({
    policy_loss: 'loss/policy_avg',
    value_loss: 'loss/value_avg',
    approx_kl: 'policy/approxkl_avg',
    clip_fraction: 'policy/clipfrac_avg',
    learning_rate: 'lr',
    entropy: 'policy/entropy_avg',
    kl: 'objective/kl',
    reward: 'objective/scores',
    ratio: 'val/ratio',
  }),
  called({
    policy_loss: 'losses/policy_loss',
    value_loss: 'losses/value_loss',
    approx_kl: 'losses/approx_kl',
    clip_fraction: 'losses/clipfrac',
    learning_rate: 'charts/learning_rate',
    entropy: 'losses/entropy',
    reward: 'reward_mean',
  }),
  called({
    approx_kl: 'ppo_kl',
    value_loss: 'critic_loss',
    learning_rate: 'actor_lr',
    clip_fraction: 'ppo_clip_ratio',
    length: 'response_length',
    truncated: 'truncated_rate',
  }),
];

export function ppo(by: Dice): Simulation {
  const of = plan(by, { peak: [-6.3, -5], epochs: [0.5, 1, 3], every: [1, 1, 1, 10] });
  const naming = by.pick(NAMINGS);
  const { progress, rows } = of;
  const at = (row: number): number => progress[row] ?? 1;
  const gain = by.pick([0.1, 0.5, 2]);
  const rough = by.pick([0.1, 0.3]);
  const origin = by.pick([-2, 0, 1.5]);
  const moved = by.pick([1e-4, 1e-3, 0.01]);
  const grows = by.pick([0.7, 1, 1.5]);
  const error = by.pick([0.05, 1, 20]);
  // In nats of a whole completion where the name says so.
  const far = naming('kl') === 'objective/kl' ? by.pick([2, 10, 25]) : by.pick([0.02, 0.1]);
  const entropy = by.pick([0.6, 1.2, 2.5]);
  const times = stepTimes(by, rows);
  // A plain estimate, mean of log ratios, may be negative; the others are not.
  const signed = naming('approx_kl').includes('ppo_kl');
  const columns: Columns = {
    policy_loss: make(rows, () => 0.01 * by.normal() - 0.003),
    value_loss: make(
      rows,
      (row) => error * (0.2 + Math.exp(-8 * at(row))) * by.heavy(1, by.pick([0.3, 0.3])),
    ),
    approx_kl: make(
      rows,
      (row) => (signed ? 0.2 * moved * by.normal() : 0) + by.heavy(moved * grows ** at(row), 0.4),
    ),
    clip_fraction: make(rows, () => Math.min(1, by.heavy(0.03 + 3 * moved, 0.4))),
    grad_norm: norms(by, rows, () => 0.5),
    ...(by.uniform() < 0.5
      ? { critic_norm: norms(by, rows, (row) => error * (1 + 5 * Math.exp(-8 * at(row)))) }
      : {}),
    entropy: make(rows, (row) => entropy * (0.4 + 0.6 * Math.exp(-2 * at(row))) * by.heavy(1, 0.06)),
    kl: make(rows, (row) => (row === 0 ? 0 : by.heavy(far * at(row) ** 0.7 + 1e-5, 0.2))),
    ratio: make(rows, () => 1 + 0.003 * by.normal()),
    reward: make(rows, (row) => origin + gain * (1 - Math.exp(-2 * at(row))) + rough * gain * by.normal()),
    advantage: make(rows, () => -0.05 + 0.03 * by.normal()),
    ...lengthsOf(by, of),
    learning_rate: [...of.rates],
    step_time: times,
    throughput: times.map((time) => 50_000 / time),
  };
  return { plan: of, columns, naming };
}
