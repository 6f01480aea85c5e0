// What GRPOConfig and RLOOConfig declare: TRL 1.13, grpo_trainer.py and rloo_trainer.py, `_compute_loss` and
// `_generate_and_score_completions`.
import { CHOICES, type Semantics } from '../../vocabulary.ts';
import { type Declare, isOff, numberOf, type Values } from './declare.ts';

export const GRPO: Declare = (values) => {
  const objective = objectiveOf(values);
  const loss = lossOf(values);
  const kl = klOf(values);
  const advantages = advantagesOf(values);
  const level = RATIO_LEVELS.find((each) => each === values.importance_sampling_level);
  return {
    semantics: {
      ...sampledOf(values),
      ...kl,
      ...loss,
      ...objective,
      ...advantages,
      ...(level === undefined ? {} : { ratio_level: level }),
    },
    because: [
      ...(has(loss) || has(objective) ? ['loss_type'] : []),
      ...(has(kl) ? ['beta'] : []),
      ...(has(advantages) ? ['scale_rewards'] : []),
      ...BECAUSE_SAMPLED,
    ],
  };
};

export const RLOO: Declare = (values) => {
  const beta = numberOf(values.beta);
  const kl: Semantics =
    beta === undefined
      ? {}
      : { kl_placement: 'reward', kl_coef: beta, ...(beta === 0 ? {} : { kl_estimator: 'k1' }) };
  return {
    semantics: {
      ...sampledOf(values),
      ...kl,
      // A mean over rows of the advantage times the ratio of the whole completion: its slope is the same at each token.
      loss_aggregation: 'seq-mean-token-sum',
      advantage_baseline: 'leave-one-out',
      ...(values.normalize_advantages === false ? { advantage_scaling: 'none' as const } : {}),
    },
    because: ['beta', 'normalize_advantages', ...BECAUSE_SAMPLED],
  };
};

// --- helpers ---

const RATIO_LEVELS = ['token', 'sequence'] as const;
const BECAUSE_SAMPLED = ['temperature', 'mask_truncated_completions'];

const has = (semantics: Semantics): boolean => Object.keys(semantics).length > 0;

function sampledOf(values: Values): Semantics {
  return {
    // Both divide the logits by args.temperature, always.
    temperature_in_scoring: true,
    ...(typeof values.mask_truncated_completions === 'boolean'
      ? { truncated_completions_trained: !values.mask_truncated_completions }
      : {}),
  };
}

function klOf(values: Values): Semantics {
  const beta = numberOf(values.beta);
  if (beta === undefined) return {};
  if (beta === 0) return { kl_coef: 0 };
  return {
    kl_coef: beta,
    kl_estimator: 'k3',
    kl_placement: 'loss',
    kl_clamp: null,
    ...(typeof values.use_bias_correction_kl === 'boolean'
      ? { kl_ratio_correction: values.use_bias_correction_kl }
      : {}),
  };
}

/** Liger's kernel has its own code for each of these, which was not read. */
function lossOf(values: Values): Semantics {
  if (values.use_liger_kernel === true) return {};
  switch (values.loss_type) {
    case 'grpo':
    case 'sapo':
      // Micro-batches have as many rows each, so that the mean of their means is the mean over all rows.
      return { loss_aggregation: 'seq-mean-token-mean', loss_normalization: 'local' };
    case 'bnpo':
      return { loss_aggregation: 'token-mean', loss_normalization: 'local' };
    case 'dr_grpo': {
      const norm = numberOf(values.max_completion_length);
      return { loss_aggregation: 'token-sum-norm', ...(norm === undefined ? {} : { loss_norm: norm }) };
    }
    case 'dapo':
    case 'cispo':
    case 'vespo':
      // The tokens of the whole generation batch are counted, and scaled to one step: exact where it is one step.
      return values.steps_per_generation === values.gradient_accumulation_steps
        ? { loss_aggregation: 'token-mean', loss_normalization: 'global' }
        : {};
    case 'luspo':
      return { loss_aggregation: 'seq-mean-token-sum' };
    default:
      return {};
  }
}

const CLIPPED: readonly unknown[] = ['grpo', 'bnpo', 'dr_grpo', 'dapo', 'luspo'];

function objectiveOf(values: Values): Semantics {
  if (values.use_liger_kernel === true) return {};
  const entropy = isOff(values.use_adaptive_entropy) ? numberOf(values.entropy_coef) : undefined;
  const bonus: Semantics = entropy === undefined ? {} : { entropy_coef: entropy };
  if (values.loss_type === 'cispo') return { policy_objective: 'cispo', ...bonus };
  if (!CLIPPED.includes(values.loss_type)) return bonus;
  const low = numberOf(values.epsilon);
  const high = numberOf(values.epsilon_high) ?? low;
  return {
    policy_objective: 'clip',
    ...(low === undefined ? {} : { clip_low: low }),
    ...(high === undefined ? {} : { clip_high: high }),
    ...bonus,
  };
}

function advantagesOf(values: Values): Semantics {
  if (values.multi_objective_aggregation !== 'sum_then_normalize') return {};
  const scaling = CHOICES.advantage_scaling.values.find((each) => each === values.scale_rewards);
  if (scaling === undefined) return {};
  return {
    advantage_baseline: 'group-mean',
    advantage_scaling: scaling,
    // trl/trainer/utils.py, nanstd: Bessel's correction.
    ...(scaling === 'none'
      ? {}
      : { advantage_ddof: 1, advantage_epsilon: 1e-4, advantage_epsilon_placement: 'std' }),
  };
}
