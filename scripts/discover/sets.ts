// Trainers that `discover` is measured on, and what their functions are: those that our adapters by hand call, and the others that
// are bound. What such a function is measured to do is said of each, as its code says it.
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/version.ts';

export interface Expected {
  readonly name: string;
  readonly op: string;
  /** What of the variant must be measured. */
  readonly variant?: Readonly<Record<string, unknown>>;
  /** Its formula is none that is known, and the adapter by hand says `own_formulas`: to be shown with how it differs, and not bound. */
  readonly own?: true;
  /** A property that it breaks, and for which `check` blames the adapter by hand as well: to be bound, and shown with it. */
  readonly finding?: string;
}

export interface MeasuredSet {
  readonly title: string;
  /** The environment beside the package that has it. */
  readonly environment: '.venv' | '.venv-verl' | '.venv-places' | '.venv-sources';
  /** Within its packages, or within this package. */
  readonly paths: readonly string[];
  readonly ours?: true;
  /** What src/python/lossproof/adapters calls of it, itself or by a method that does little else; of our own files all there is. */
  readonly expected: readonly Expected[];
  /** Nobody bound these by hand; what they are is read off their code, so that no binding goes unjudged. */
  readonly read?: readonly Expected[];
}

const GROUP = { advantage_baseline: 'group-mean', advantage_scaling: 'group', advantage_ddof: 1 } as const;
const LEAVE_ONE_OUT = { advantage_baseline: 'leave-one-out', advantage_scaling: 'none' } as const;
const CLIP = { loss_aggregation: 'token-mean', policy_objective: 'clip' } as const;
const K3 = { kl_estimator: 'k3', kl_clamp: 10 } as const;
const NOTHING = 'zero-without-trained-tokens';
const LOSS = { op: 'loss', finding: `loss/${NOTHING}` } as const;
const VALUE_LOSS = { op: 'value_loss', finding: `value-loss/${NOTHING}` } as const;
/** A question: masks with gaps are of conversations with tools. */
const GAPS = 'gae/masked-tokens-are-no-steps';
const SFT = { op: 'sft_loss', variant: { sft_aggregation: 'token-mean' } } as const;

export const SETS: readonly MeasuredSet[] = [
  {
    title: 'verl 0.9.1, core algorithms',
    environment: '.venv-verl',
    paths: ['verl/trainer/ppo/core_algos.py', 'verl/utils/torch_functional.py'],
    expected: [
      { name: 'kl_penalty', op: 'kl', variant: K3 },
      { name: 'compute_gae_advantage_return', op: 'gae' },
      {
        name: 'compute_grpo_outcome_advantage',
        op: 'advantages',
        variant: { ...GROUP, advantage_epsilon: 1e-6 },
      },
      { name: 'compute_grpo_vectorized_outcome_advantage', op: 'advantages', variant: GROUP },
      { name: 'compute_rloo_outcome_advantage', op: 'advantages', variant: LEAVE_ONE_OUT },
      { name: 'compute_rloo_vectorized_outcome_advantage', op: 'advantages', variant: LEAVE_ONE_OUT },
      { name: 'compute_opo_outcome_advantage', op: 'advantages', own: true },
      { name: 'compute_reinforce_plus_plus_baseline_outcome_advantage', op: 'advantages', own: true },
      { name: 'compute_reinforce_plus_plus_outcome_advantage', op: 'advantages', own: true },
      { name: 'compute_gpg_outcome_advantage', op: 'advantages', own: true },
      {
        name: 'compute_policy_loss_vanilla',
        ...LOSS,
        variant: { ...CLIP, ratio_level: 'token', dual_clip: 3, log_ratio_clamp: 20 },
      },
      {
        name: 'compute_policy_loss_gspo',
        ...LOSS,
        variant: {
          policy_objective: 'clip',
          loss_aggregation: 'seq-mean-token-mean',
          ratio_level: 'sequence',
        },
      },
      { name: 'compute_policy_loss_cispo', ...LOSS, variant: { policy_objective: 'cispo' } },
      { name: 'compute_policy_loss_geo_mean', op: 'loss', own: true },
      {
        name: 'compute_value_loss',
        ...VALUE_LOSS,
        variant: { value_loss_factor: 0.5, value_aggregation: 'token-mean' },
      },
      { name: 'get_response_mask', op: 'mask', variant: { stop_token_in_mask: true } },
      { name: 'logprobs_from_logits', op: 'logprobs' },
      { name: 'entropy_from_logits', op: 'entropy' },
      { name: 'masked_whiten', op: 'whiten', variant: { whiten_mean: true, whiten_ddof: 1 } },
    ],
    read: [
      {
        name: 'compute_policy_loss',
        ...LOSS,
        variant: { ...CLIP, ratio_level: 'token', dual_clip: 3, log_ratio_clamp: 20 },
      },
      { name: 'kl_penalty_forward', op: 'kl', variant: K3 },
      { name: 'logprobs_from_logits_naive', op: 'logprobs' },
      { name: 'logprobs_from_logits_v2', op: 'logprobs' },
      { name: 'log_probs_from_logits_response', op: 'logprobs' },
      { name: 'entropy_from_logits_with_chunking', op: 'entropy' },
    ],
  },
  {
    title: 'OpenRLHF 0.11.2, models, losses, estimators',
    environment: '.venv-verl',
    paths: ['openrlhf/models', 'openrlhf/trainer/ppo_utils/experience_maker.py'],
    expected: [
      { name: 'compute_approx_kl', op: 'kl', variant: { kl_estimator: 'k1', kl_clamp: 10 } },
      { name: 'compute_reward', op: 'token_rewards' },
      { name: 'log_probs_from_logits', op: 'logprobs' },
      { name: 'compute_entropy', op: 'entropy' },
      // Its caller divides: a batch without a trained token is none of its own.
      { name: 'PolicyLoss', op: 'loss', variant: { ...CLIP, dual_clip: null, log_ratio_clamp: 20 } },
      {
        name: 'ValueLoss',
        ...VALUE_LOSS,
        variant: { value_loss_factor: 0.5, value_aggregation: 'token-mean' },
      },
      { name: 'SFTLoss', ...SFT },
      {
        name: 'DPOLoss',
        op: 'preference_loss',
        variant: { preference_objective: 'dpo', preference_label_smoothing: 0 },
      },
      { name: 'RemoteExperienceMaker.get_advantages_and_returns', op: 'gae', finding: GAPS },
    ],
    read: [{ name: 'GPTLMLoss', ...SFT }],
  },
  {
    title: 'TRL 1.13.0, utilities and losses',
    environment: '.venv',
    paths: ['trl/trainer/utils.py', 'trl/data_utils.py', 'trl/losses', 'trl/rewards'],
    // The adapters drive whole trainers; these two are what GRPOTrainer scores its rows with.
    expected: [
      { name: 'selective_log_softmax', op: 'logprobs' },
      { name: 'entropy_from_logits', op: 'entropy' },
    ],
    read: [
      { name: 'k3_loss_fn', op: 'kl', variant: { kl_estimator: 'k3', kl_clamp: null } },
      {
        name: 'FusedLinearGRPOFunction.ppo_loss_fn',
        op: 'loss',
        variant: {
          ...CLIP,
          dual_clip: null,
          kl_coef: 0.04,
          kl_estimator: 'k3',
          loss_aggregation: 'token-mean',
        },
      },
    ],
  },
  // Nobody has written an adapter for the next three: what is bound is what `discover` alone makes of them.
  {
    title: 'torchtune 0.6.1, losses, rewards, collation',
    environment: '.venv-places',
    paths: ['torchtune/rlhf', 'torchtune/modules/loss', 'torchtune/data'],
    expected: [],
    read: [
      { name: 'logits_to_logprobs', op: 'logprobs' },
      {
        name: 'DPOLoss',
        op: 'preference_loss',
        variant: { preference_objective: 'dpo', preference_beta: 0.1, preference_label_smoothing: 0 },
      },
      {
        name: 'RSOLoss',
        op: 'preference_loss',
        variant: { preference_objective: 'hinge', preference_beta: 0.1 },
      },
      // Its callers zero padding; it takes a mask for whitening alone.
      { name: 'estimate_advantages', op: 'gae', finding: GAPS },
      // By default it puts the mean back, where TRL's, which it is taken from, takes it off.
      { name: 'whiten', op: 'whiten', variant: { whiten_mean: false, whiten_ddof: 1 } },
      // A sum: its caller divides.
      { name: 'CEWithChunkedOutputLoss.compute_cross_entropy', op: 'sft_loss', own: true },
    ],
  },
  {
    title: 'axolotl 0.19.0, losses and collation',
    environment: '.venv-sources',
    paths: ['axolotl/monkeypatch/loss', 'axolotl/utils/collators', 'axolotl/core/trainers/grpo'],
    expected: [],
    read: [{ name: 'CEWithChunkedOutputLoss.compute_cross_entropy', op: 'sft_loss', own: true }],
  },
  {
    title: 'ms-swift 4.6.0, losses and RL trainers',
    environment: '.venv-sources',
    paths: ['swift/loss', 'swift/rlhf_trainers'],
    expected: [],
    read: [{ name: 'entropy_from_logits', op: 'entropy' }],
  },
  {
    title: 'GRPO by hand, 141 lines',
    environment: '.venv',
    ours: true,
    paths: ['test/torch/discover/own/grpo.py'],
    expected: [
      { name: 'build_batch', op: 'mask', variant: { stop_token_in_mask: true } },
      { name: 'token_logprobs', op: 'logprobs' },
      { name: 'token_entropy', op: 'entropy' },
      { name: 'kl_k3', op: 'kl', variant: { kl_estimator: 'k3', kl_clamp: null } },
      { name: 'group_advantages', op: 'advantages', variant: { ...GROUP, advantage_epsilon: 1e-4 } },
      {
        name: 'grpo_loss',
        op: 'loss',
        variant: { loss_aggregation: 'token-mean', clip_low: 0.2, clip_high: 0.28, kl_coef: 0.04 },
      },
      { name: 'sft_loss', op: 'sft_loss', variant: { sft_aggregation: 'token-mean' } },
      { name: 'overlong_penalty', op: 'overlong_penalty' },
    ],
  },
  {
    title: 'The example of these pages, without torch',
    environment: '.venv',
    ours: true,
    paths: ['docs/example/my_trainer.py'],
    expected: [
      { name: 'build_batch', op: 'mask' },
      { name: 'k3', op: 'kl', variant: { kl_estimator: 'k3' } },
      { name: 'group_advantages', op: 'advantages', variant: { ...GROUP, advantage_epsilon: 1e-4 } },
    ],
  },
];

/** Where the packages of an environment lie. */
export const packagesOf = (environment: string): string =>
  join(PACKAGE_ROOT, environment, 'lib', 'python3.11', 'site-packages');
