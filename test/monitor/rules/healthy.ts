// Healthy runs of many kinds, as noisy as tiny runs are: nothing may be said of any of them.
import { type Dice, dice, type Log, make } from './logs.ts';

export const KINDS = [
  'sft',
  'grpo',
  'sparse grpo',
  'solved grpo',
  'verl ppo',
  'dpo',
  'two losses',
  'short',
  'half precision',
  'plain loop',
  'undeclared half precision',
] as const;
export type Kind = (typeof KINDS)[number];

/** One run; the same seed, the same run. */
export function healthyRun(kind: Kind, seed: number): Log {
  const by = dice(seed * 16 + KINDS.indexOf(kind) + 1);
  switch (kind) {
    case 'sft':
      return supervised(by, by.whole(30, 300));
    case 'grpo':
      return grpo(by, by.whole(20, 250));
    case 'sparse grpo':
      return sparse(by, by.whole(20, 200));
    case 'solved grpo':
      return solved(by);
    case 'verl ppo':
      return ppo(by, by.whole(20, 200));
    case 'dpo':
      return preference(by, by.whole(20, 200));
    case 'two losses':
      return twoLosses(by, by.whole(30, 200));
    case 'half precision':
      return halfPrecision(by, by.whole(30, 120));
    case 'plain loop':
      return plainLoop(by, by.whole(20, 200));
    case 'undeclared half precision':
      return undeclaredScaler(by, by.whole(30, 120));
    case 'short':
      return supervised(by, by.whole(1, 4));
  }
}

/** With a schedule that is declared as transformers declares it, and logged before or after its step. */
function rates(by: Dice, count: number, every: number): { values: number[]; declared: Log['declared'] } {
  const peak = 10 ** -by.whole(2, 6);
  const total = count * every;
  const warmup = by.pick([0, 0, Math.ceil(total * 0.1), Math.ceil(total * 0.5)]);
  const kind = by.pick(['linear', 'cosine', 'constant', 'constant_with_warmup'] as const);
  const shift = by.pick([0, -1]);
  const values = make(count, (row) => {
    const step = (row + 1) * every + shift;
    if (kind === 'constant') return peak;
    if (step < warmup) return (peak * step) / Math.max(1, warmup);
    if (kind === 'constant_with_warmup') return peak;
    const progress = (step - warmup) / Math.max(1, total - warmup);
    return kind === 'linear' ? peak * (1 - progress) : peak * 0.5 * (1 + Math.cos(Math.PI * progress));
  });
  const said = { lr_scheduler_type: kind, learning_rate: peak, max_steps: total, warmup_steps: warmup };
  return { values, declared: by.uniform() < 0.7 ? said : {} };
}

/** Descends from above, with noise, batch by batch; its gradient norms have heavy tails. */
function supervised(by: Dice, count: number): Log {
  const every = by.pick([1, 1, 5, 10]);
  const start = by.pick([2, 4, 10]);
  const end = by.pick([0.02, 0.5, 1.5]);
  const noise = by.pick([0.02, 0.1, 0.3]);
  const fall = by.pick([5, 30, 100]);
  const rate = rates(by, count, every);
  const loss = make(count, (row) => {
    const level = end + (start - end) * Math.exp(-row / fall);
    return Math.max(1e-4, level * Math.exp(noise * by.normal()));
  });
  const rounded = by.uniform() < 0.3;
  return {
    first: every,
    every,
    declared: { ...rate.declared, ...(by.uniform() < 0.5 ? { vocab_size: 32_000 } : {}) },
    series: {
      'train/loss': rounded ? loss.map((value) => Math.round(value * 1e4) / 1e4) : loss,
      'train/grad_norm': loss.map((value) => by.heavy(value, by.pick([0.3, 1]))),
      'train/learning_rate': rate.values,
      'train/mean_token_accuracy': loss.map((value) => Math.exp(-value)),
      'train/entropy': loss.map((value) => Math.min(Math.log(32_000), value * by.heavy(1, 0.1))),
      'eval/loss': make(count, (row) => (loss[row] ?? 1) * 1.1).map((value, row) =>
        row % 7 === 6 ? value : undefined,
      ) as never,
    },
  };
}

interface Groups {
  readonly reward: number;
  readonly deviation: number;
  readonly dead: number;
}

/** The rest of a log of GRPO around its rewards: zero-mean losses, gradients that are 0 where all groups are dead. */
function around(by: Dice, groups: readonly Groups[], beta: number): Log['series'] {
  const count = groups.length;
  const kl = make(count, (row) => (row === 0 ? 0 : by.heavy(0.002 * Math.min(row, 100), 0.7)));
  const length = by.pick([8, 60, 800]);
  const growth = by.pick([0, 0, 0.01]);
  const fall = by.pick([20, 200, 2000]);
  const exact = by.uniform() < 0.3;
  const dead = (row: number) => groups[row]?.dead === 1;
  return {
    'train/loss': make(count, (row) => {
      if (dead(row)) return beta * (kl[row] ?? 0);
      return (exact ? 0 : by.heavy(1e-2, 1) * by.pick([1, -1])) + beta * (kl[row] ?? 0);
    }),
    'train/grad_norm': make(count, (row) =>
      dead(row) ? (beta > 0 && row > 0 ? by.heavy(0.05, 0.3) : 0) : by.heavy(1, by.pick([0.4, 1.2])),
    ),
    'train/reward': groups.map(({ reward }) => reward),
    'train/reward_std': groups.map(({ deviation }) => deviation),
    'train/frac_reward_zero_std': groups.map((group) => group.dead),
    ...(beta > 0 ? { 'train/kl': kl } : {}),
    'train/entropy': make(count, (row) => (0.3 + 2 * Math.exp(-row / fall)) * by.heavy(1, 0.1)),
    'train/completions/mean_length': make(count, (row) => length * (1 + growth * row) * by.heavy(1, 0.15)),
    'train/completions/clipped_ratio': make(count, () => by.pick([0, 0.1, 0.25, 0.5, 0.75, 1]) * 0.9),
    'train/clip_ratio/region_mean': make(count, () => by.uniform() * 0.2),
    'train/step_time': make(count, () => by.heavy(1, 0.5)),
    'train/learning_rate': make(count, () => 1e-6),
  };
}

function grpo(by: Dice, count: number): Log {
  const spread = by.pick([0.05, 0.5, 3]);
  const slope = by.pick([0, 0.003, 0.02]);
  const centre = by.pick([-2, 0, 1]);
  const beta = by.pick([0, 0.04]);
  const groups = make(count, () => 0).map((_, row) => ({
    reward: centre + spread * (slope * row + 0.3 * by.normal()),
    deviation: spread * by.heavy(1, 0.3),
    dead: by.pick([0, 0, 0.25, 0.5]),
  }));
  return {
    series: around(by, groups, beta),
    declared: by.uniform() < 0.5 ? { beta, scale_rewards: 'group', loss_type: 'dapo' } : {},
  };
}

/** Rewards of 0 and 1, few of them 1 in the beginning. */
function sparse(by: Dice, count: number): Log {
  const prompts = 8;
  const size = 8;
  let chance = by.pick([0.03, 0.1, 0.3]);
  const groups: Groups[] = [];
  for (let row = 0; row < count; row++) {
    const solved = make(prompts, () =>
      make(size, () => (by.uniform() < chance ? 1 : 0)).reduce((a, b) => a + b, 0),
    );
    // The first steps have a solution each: what has none in three of them is what the rule is for.
    if (row < 3) solved[0] = Math.max(1, Math.min(size - 1, solved[0] ?? 0));
    const reward = solved.reduce((a, b) => a + b, 0) / (prompts * size);
    groups.push({
      reward,
      deviation: Math.sqrt(reward * (1 - reward)),
      dead: solved.filter((each) => each === 0 || each === size).length / prompts,
    });
    chance = Math.min(0.9, chance * by.pick([1, 1, 1.02]));
  }
  return { series: around(by, groups, 0) };
}

/** Learns the task, until every completion has the full reward. */
function solved(by: Dice): Log {
  const rise = by.whole(10, 40);
  const groups = make(rise + by.whole(10, 60), (row) => Math.min(1, row / rise)).map((share) => {
    const done = share >= 1;
    const reward = done ? 1 : Math.max(0.05, Math.min(0.98, share + 0.05 * by.normal()));
    return {
      reward,
      deviation: done ? 0 : Math.sqrt(reward * (1 - reward)),
      dead: done ? 1 : Math.floor(share * 8) / 8,
    };
  });
  return { series: around(by, groups, by.pick([0, 0.04])) };
}

/** Names of verl; a KL estimate that may be negative, advantages weighted by tokens. */
function ppo(by: Dice, count: number): Log {
  return {
    series: {
      'actor/pg_loss': make(count, () => 0.02 * by.normal()),
      'actor/grad_norm': make(count, () => by.heavy(0.5, 0.8)),
      'actor/ppo_kl': make(count, () => 1e-3 * by.normal()),
      'actor/kl_loss': make(count, (row) => (row === 0 ? 0 : by.heavy(1e-3 * row, 0.5))),
      'actor/pg_clipfrac': make(count, () => by.uniform() * 0.1),
      'actor/entropy': make(count, (row) => 1.2 * Math.exp(-row / 300) * by.heavy(1, 0.1)),
      'actor/lr': make(count, () => 1e-6),
      'critic/vf_loss': make(count, () => by.heavy(5, 1)),
      'critic/score/mean': make(count, (row) => -0.5 + 0.002 * row + 0.1 * by.normal()),
      'critic/advantages/mean': make(count, () => -0.2 + 0.1 * by.normal()),
      'response_length/mean': make(count, (row) => 300 + row + 40 * by.normal()),
      'response_length/clip_ratio': make(count, () => by.uniform() * 0.3),
      'perf/throughput': make(count, () => by.heavy(2000, 0.4)),
      'training/rollout_probs_diff_mean': make(count, () => by.heavy(0.005, 0.5)),
    },
    declared: by.uniform() < 0.5 ? { 'actor_rollout_ref/actor/kl_loss_type': 'low_var_kl' } : {},
  };
}

/** Begins at ln 2 exactly, for a few steps, while the learning rate warms up. */
function preference(by: Dice, count: number): Log {
  const still = by.whole(1, 4);
  const loss = make(count, (row) =>
    row < still
      ? Math.log(2)
      : Math.max(1e-6, Math.log(2) * Math.exp(-(row - still) / 40) * by.heavy(1, 0.3)),
  );
  return {
    series: {
      'train/loss': loss,
      'train/grad_norm': make(count, () => by.heavy(5, 1)),
      'train/learning_rate': make(count, (row) => 5e-7 * Math.min(1, row / 20)),
      'train/rewards/chosen': make(count, (row) => 0.01 * row + 0.1 * by.normal()),
      'train/rewards/margins': make(count, (row) => 0.02 * row + 0.1 * by.normal()),
    },
  };
}

/** A world model beside a language model whose buffer fills first; its samples are counted. */
function twoLosses(by: Dice, count: number): Log {
  const filled = by.whole(0, 20);
  const every = by.pick([1, 1, 4]);
  const on = (row: number) => row >= filled && row % every === 0;
  return {
    series: {
      'learner_step/wm_loss_avg': make(count, (row) => by.heavy(1 + 3 * Math.exp(-row / 20), 0.2)),
      'learner_step/num_sft_samples': make(count, (row) => (on(row) ? by.whole(1, 32) : 0)),
      'learner_step/llm_sft_loss_avg': make(count, (row) => (on(row) ? by.heavy(2, 0.2) : 0)),
      'learner_step/perceptual_loss_avg': make(count, () => 0),
      'learner_step/cur_lr_world_model_avg': make(count, () => 1e-4),
    },
  };
}

/** Under a loss scaler, which skips the first steps while it finds its scale, and one now and then. */
function halfPrecision(by: Dice, count: number): Log {
  const log = supervised(by, count);
  const skipped = by.whole(0, 12);
  const norms = log.series['train/grad_norm'] ?? [];
  return {
    ...log,
    declared: { fp16: true },
    series: {
      ...log.series,
      'train/grad_norm': norms.map((norm, row) => {
        if (row < skipped || by.uniform() < 0.02) return by.pick([Number.POSITIVE_INFINITY, Number.NaN]);
        return norm;
      }),
      'train/learning_rate': make(count, (row) => (row < skipped ? 0 : 1e-5)),
    },
  };
}

/**
 * The same of which nothing says that it is fp16, as where `trainer_state.json` is all there is. Its beginning tells, or
 * the schedule, which stands still at a skipped step; or else its norms overflow to infinity and come back.
 */
function undeclaredScaler(by: Dice, count: number): Log {
  const loss = make(count, (row) => (0.5 + 3 * Math.exp(-row / 30)) * by.heavy(1, 0.1));
  const told = by.pick(['beginning', 'schedule', 'infinity'] as const);
  const first = told === 'beginning' ? by.whole(1, 12) : 0;
  let before = 0;
  let done = 0;
  const norms = loss.map((value, row) => {
    // Two NaN in a row are as many as one may leave unexplained, and what is skipped first is seldom more.
    const skipped = row < first || (before < 2 && row > 2 && by.uniform() < 0.03);
    before = skipped ? before + 1 : 0;
    if (!skipped) return by.heavy(value, 0.5);
    return told === 'infinity' || first > 2 ? Number.POSITIVE_INFINITY : by.pick([NaN, Infinity]);
  });
  return {
    series: {
      'train/loss': loss,
      'train/grad_norm': norms,
      'train/learning_rate': norms.map((norm) => {
        if (told !== 'schedule') return 1e-5;
        if (Number.isFinite(norm)) done++;
        return 1e-5 * (1 - done / count);
      }),
    },
  };
}

/** Names of a loop that somebody wrote; a perplexity that overflows in the beginning, a reward that is none. */
function plainLoop(by: Dice, count: number): Log {
  const loss = make(count, (row) => (1.5 + 9 * Math.exp(-row / 15)) * by.heavy(1, 0.05));
  const resumed = by.whole(1, count);
  const again = (values: readonly number[]) => [...values.slice(0, resumed), ...values.slice(resumed >> 1)];
  return {
    series: {
      loss: again(loss),
      ppl: again(loss.map((value) => (value > 8 ? Number.POSITIVE_INFINITY : Math.exp(value)))),
      gnorm: again(loss.map((value) => by.heavy(value, 1))),
      lr: again(make(count, (row) => 3e-4 * Math.min(1, row / 10))),
      tokens_per_sec: again(loss.map(() => by.heavy(1e5, 0.5))),
      val_loss: again(loss.map((value) => value * 1.2)),
    },
  };
}
