// GRPO: prompts of different difficulty, a group of completions of each, and a policy that slowly gets better at them.
import { type Dice, make } from '../../rules/logs.ts';
import { norms, stepTimes } from '../noise.ts';
import { type Plan, plan } from '../plan.ts';
import { board, type Columns, called, listOf, type Naming, type Simulation, state } from '../simulation.ts';

export interface Task {
  /** Share of completions that are right: in the beginning, and when all is learnt. */
  readonly from: number;
  readonly to: number;
  /** How prompts differ, in logits. */
  readonly spread: number;
  /** A reward of its own for each completion, beside right and wrong: 0 for none. */
  readonly dense: number;
  /** Added to all rewards, and what a right completion has: -1 and 2 for rewards of -1 and 1. */
  readonly offset: number;
  readonly scale: number;
}

/** Rewards of rules: right or wrong, of which a sensible share is right from the start. */
export function grpo(by: Dice): Simulation {
  const from = by.pick([0.15, 0.3, 0.5]);
  return groups(by, {
    from,
    to: Math.min(0.95, from + by.pick([0.05, 0.2, 0.4])),
    spread: by.pick([1, 2, 3]),
    dense: by.pick([0, 0, 0.1]),
    ...by.pick([
      { offset: 0, scale: 1 },
      { offset: -1, scale: 2 },
    ]),
  });
}

/** Rewards that are hardly ever won in the beginning; many steps have none. */
export function sparse(by: Dice): Simulation {
  return groups(by, {
    from: by.pick([0.01, 0.03, 0.06]),
    to: by.pick([0.03, 0.1, 0.4, 0.8]),
    spread: by.pick([1, 2]),
    dense: 0,
    offset: 0,
    scale: 1,
  });
}

/** A task that is learnt until every completion is right. */
export function solved(by: Dice): Simulation {
  return groups(
    by,
    { from: by.pick([0.2, 0.5]), to: 0.9999, spread: 0.5, dense: 0, offset: 0, scale: 1 },
    by.pick([1.2, 1.5, 2, 4]),
  );
}

/** A reward model's number for each completion, of any scale and origin. */
export function dense(by: Dice): Simulation {
  const scale = by.pick([0.1, 1, 5]);
  return groups(by, {
    from: 0.3,
    to: by.pick([0.35, 0.5, 0.8]),
    spread: 1,
    dense: 1,
    offset: scale * by.pick([-3, 0, 2]),
    scale,
  });
}

/** A policy that calls tools, with time more often or less; some of the calls fail. */
export function withTools(by: Dice): Simulation {
  const run = grpo(by);
  const often = by.pick([0.3, 0.8, 1]);
  const most = by.pick([0.6, 1, 1, 1.5]);
  const at = (row: number): number => run.plan.progress[row] ?? 1;
  return {
    ...run,
    columns: {
      ...run.columns,
      tools: make(run.plan.rows, (row) => Math.min(1, often * (1 + (most - 1) * at(row)) * by.heavy(1, 0.1))),
      tool_failures: make(run.plan.rows, (row) => Math.min(1, by.heavy(0.2 * (1 - 0.7 * at(row)), 0.3))),
    },
  };
}

export function groups(by: Dice, task: Task, speed = by.pick([1, 1, 3])): Simulation {
  const of = plan(by, { peak: [-6.5, -5], epochs: [0.2, 1, 1, 3], every: [1, 1, 1, 5, 10] });
  // What is logged of several steps is their mean.
  const prompts = by.pick(of.every === 1 ? [4, 8, 16, 64] : [4, 8]) * of.every;
  const size = by.pick([4, 8, 8, 16]);
  const beta = by.pick([0, 0, 0.001, 0.04]);
  const rewards = rewardsOf(by, of, task, { prompts, size, speed });
  const naming = by.pick(['trl', 'trl', 'trl board', 'verl', 'openrlhf'] as const);
  const columns: Columns = {
    ...policyOf(by, of, beta, rewards),
    reward: rewards.map(({ mean }) => mean),
    reward_std: rewards.map(({ deviation }) => deviation),
    dead: rewards.map(({ dead }) => dead),
    ...lengthsOf(by, of),
    learning_rate: [...of.rates],
    epoch: [...of.epochs],
    step_time: stepTimes(by, of.rows),
  };
  return { plan: of, ...told(columns, naming, beta, by), naming: GROUP_NAMINGS[naming] };
}

// --- helpers ---

interface Rewards {
  readonly mean: number;
  readonly deviation: number;
  readonly dead: number;
}

/** Each completion is drawn: shares, deviations and groups without spread fit each other as in a real log. */
function rewardsOf(
  by: Dice,
  { rows, progress }: Plan,
  { from, to, spread, dense: noise, offset, scale }: Task,
  { prompts, size, speed }: { prompts: number; size: number; speed: number },
): Rewards[] {
  const logit = (share: number): number => Math.log(share / (1 - share));
  // Harder and easier prompts: the mean over them is nearer to a half than the mean prompt.
  const wide = Math.sqrt(1 + spread ** 2 / 3);
  return listOf(rows, (row) => {
    const learnt = Math.min(1, (progress[row] ?? 1) * speed);
    const skill = (logit(from) + (logit(to) - logit(from)) * learnt) * wide;
    let [sum, deviations, dead] = [0, 0, 0];
    for (let prompt = 0; prompt < prompts; prompt++) {
      const chance = 1 / (1 + Math.exp(-skill - spread * by.normal()));
      let [own, squares] = [0, 0];
      for (let each = 0; each < size; each++) {
        const right = by.uniform() < chance ? 1 : 0;
        const reward =
          offset +
          scale *
            (noise > 0 ? (1 - Math.min(noise, 1)) * right + noise * (chance + 0.3 * by.normal()) : right);
        own += reward;
        squares += reward * reward;
      }
      const mean = own / size;
      const variance = Math.max(0, squares / size - mean * mean) * (size / (size - 1));
      const deviation = variance < 1e-12 ? 0 : Math.sqrt(variance);
      sum += mean;
      deviations += deviation;
      if (deviation === 0) dead++;
    }
    return { mean: sum / prompts, deviation: deviations / prompts, dead: dead / prompts };
  });
}

/** What the policy's update logs: losses around 0 and a KL that grows smoothly, an entropy that sinks. */
function policyOf(by: Dice, { rows, progress }: Plan, beta: number, rewards: readonly Rewards[]): Columns {
  const far = by.pick([0.003, 0.02, 0.1, 0.3]);
  const bend = by.pick([0.5, 1, 2]);
  const rough = by.pick([0.05, 0.2, 0.5]);
  const tails = by.pick([0, 0, 0, 0.005]);
  const kl = make(rows, (row) => {
    if (row === 0) return by.pick([0, 1e-6]);
    const tail = by.uniform() < tails ? by.pick([3, 10, 30]) : 1;
    return by.heavy(Math.max(1e-5, far * (progress[row] ?? 1) ** bend), rough) * tail;
  });
  const size = by.pick([1e-8, 1e-3, 0.02]);
  const norm = norms(by, rows, () => 1);
  const level = by.pick([0.05, 0.2, 1]);
  const [high, low] = by.pick([
    [0.4, 0.3],
    [0.8, 0.25],
    [1.2, 0.1],
    [0.3, 0.45],
  ] as const);
  const kept = by.pick([0, 0.02, 0.1]);
  return {
    loss: kl.map((value, row) => (rewards[row]?.dead === 1 ? 0 : size * by.normal()) + beta * value),
    grad_norm: norm.map((value, row) => {
      if (rewards[row]?.dead === 1) return beta > 0 && row > 0 ? 0.05 * beta * value : 0;
      return level * value * Math.sqrt(1.05 - (rewards[row]?.dead ?? 0));
    }),
    ...(beta > 0 ? { kl } : {}),
    entropy: make(
      rows,
      (row) => (low + (high - low) * Math.exp(-3 * (progress[row] ?? 1))) * by.heavy(1, 0.08),
    ),
    clip_fraction: make(rows, () => kept * by.uniform()),
    sampling_gap: make(rows, () => by.heavy(0.01, 0.2)),
  };
}

/** They grow by up to three times, or sink while the policy learns to come to an end. */
export function lengthsOf(by: Dice, { rows, progress }: Plan): Columns {
  const start = by.pick([20, 100, 250, 800]);
  const times = by.pick([0.5, 0.8, 1, 1, 1.3, 2, 3]);
  const limit = by.pick([1.5, 3, 8]) * start * Math.max(1, times);
  const noise = by.pick([0.03, 0.1]);
  // Where they grow, more of them run into the limit, though never nearly all.
  const cut = by.pick([0, 0.02, 0.1, 0.3]) / Math.max(1, times / 2);
  const mean = make(rows, (row) =>
    Math.min(limit, start * (1 + (times - 1) * (progress[row] ?? 1)) * by.heavy(1, noise)),
  );
  return {
    length: mean,
    length_min: mean.map((value) => Math.max(1, Math.round(value * 0.3 * by.uniform()))),
    length_max: mean.map((value) => Math.round(Math.min(limit, value * (1.5 + 2 * by.uniform())))),
    truncated: mean.map((value) =>
      Math.min(1, Math.max(0, Math.round(64 * cut * (value / start) * by.heavy(1, 0.4)) / 64)),
    ),
  };
}

const TRL: Readonly<Record<string, string>> = {
  tools: 'tools/call_frequency',
  tool_failures: 'tools/failure_frequency',
  dead: 'frac_reward_zero_std',
  length: 'completions/mean_length',
  length_min: 'completions/min_length',
  length_max: 'completions/max_length',
  truncated: 'completions/clipped_ratio',
  clip_fraction: 'clip_ratio/region_mean',
  sampling_gap: 'sampling/sampling_logp_difference/mean',
};
const GROUP_NAMINGS = {
  trl: called(TRL, state),
  'trl board': called(
    Object.fromEntries(Object.entries(TRL).map(([from, to]) => [from, `train/${to}`])),
    board,
  ),
  verl: called({
    tools: 'num_tool_calls/mean',
    loss: 'actor/pg_loss',
    grad_norm: 'actor/grad_norm',
    kl: 'actor/kl_loss',
    entropy: 'actor/entropy',
    clip_fraction: 'actor/pg_clipfrac',
    learning_rate: 'actor/lr',
    reward: 'critic/score/mean',
    length: 'response_length/mean',
    length_min: 'response_length/min',
    length_max: 'response_length/max',
    truncated: 'response_length/clip_ratio',
    step_time: 'timing_s/step',
    epoch: 'training/epoch',
  }),
  openrlhf: called({
    tools: 'tool_calls',
    loss: 'policy_loss',
    learning_rate: 'actor_lr',
    length: 'response_length',
    truncated: 'truncated_rate',
    clip_fraction: 'ppo_clip_ratio',
  }),
} satisfies Record<string, Naming>;

/** Not every trainer logs everything, nor says how it is set. */
function told(
  columns: Columns,
  naming: keyof typeof GROUP_NAMINGS,
  beta: number,
  by: Dice,
): Pick<Simulation, 'columns' | 'declared'> {
  const without = naming.startsWith('trl') ? [] : ['dead', 'reward_std', 'sampling_gap'];
  if (naming.startsWith('trl') && by.uniform() < 0.5) without.push('step_time', 'sampling_gap');
  const kept = Object.fromEntries(Object.entries(columns).filter(([name]) => !without.includes(name)));
  const verl = naming === 'verl' ? { 'actor_rollout_ref/actor/kl_loss_type': 'low_var_kl' } : { beta };
  return { columns: kept, declared: by.uniform() < 0.5 ? verl : {} };
}
