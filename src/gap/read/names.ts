// The field names that trainers and engines write, by meaning. The first name that a row has counts, so the exact one
// stands first. Ids and steps have the names that `monitor` knows: monitor/samples/keys.ts.

/** What the engine recorded when it sampled each token. */
export const SAMPLING_NAMES = [
  'sampling_logprobs',
  // verl, OpenRLHF, slime
  'rollout_log_probs',
  // SkyRL
  'rollout_logprobs',
  // TRL
  'sampling_per_token_logps',
  // NeMo-RL
  'generation_logprobs',
  // prime-rl
  'inference_logprobs',
  // verl's agent loop
  'response_logprobs',
  // verifiers
  'completion_logprobs',
  // SGLang, below meta_info
  'output_token_logprobs',
  // vLLM's completions API, below logprobs
  'token_logprobs',
  // vLLM, TRL's rollout functions, AReaL
  'logprobs',
] as const;

/** What the trainer computed for the same tokens before its first update. */
export const TRAINER_NAMES = [
  'trainer_logprobs',
  // verl
  'old_log_probs',
  // TRL
  'old_per_token_logps',
  // OpenRLHF, SkyRL
  'action_log_probs',
  // NeMo-RL
  'prev_logprobs',
  // AReaL
  'prox_logp',
  // slime
  'log_probs',
] as const;

/** The weights that a row, or each of its tokens, was sampled from. */
export const VERSION_NAMES = [
  'weights_version',
  // SGLang
  'weight_version',
  // slime
  'weight_versions',
  // verl
  'param_version',
  'policy_version',
  // AReaL
  'versions',
] as const;

/** 1 where the policy wrote the token, 0 for tool output and padding. */
export const MASK_NAMES = [
  'response_mask',
  'completion_mask',
  'action_mask',
  'loss_mask',
  'loss_masks',
  'token_loss_mask',
  'token_mask',
] as const;
