// The field's words as types. Nothing here computes; everything else imports from here.
// Shapes: B rows, T columns, P prompt columns, C completion columns, V vocabulary, G group size.
// Every per-token matrix inside the harness is token-aligned over the whole row: index t speaks of token t
// as a target. Only protocol/layout.ts knows that trainers do otherwise.

/** Token ids of one row, (n,). */
export type Ids = readonly number[];
/** Rows of unequal length, (B, ·). */
export type Ragged = readonly (readonly number[])[];
/** A rectangle of numbers, (B, T): ids, masks, log-probabilities. */
export type Matrix = readonly (readonly number[])[];
/** Logits, (B, T, V). */
export type Cube = readonly Matrix[];

export interface Message extends TrainFlags {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
}

/** What a message says itself about being trained, under the name that the trainer reads. */
export const TRAIN_FLAGS = ['train', 'training', 'loss', 'weight'] as const;
export type TrainFlagName = (typeof TRAIN_FLAGS)[number];
type TrainFlags = { readonly [Name in TrainFlagName]?: boolean | 0 | 1 | null };

/** Which code path of the trainer renders and tokenises: supervised fine-tuning or reinforcement learning. */
export type Route = 'sft' | 'rl';
export type PaddingSide = 'left' | 'right';
/** Where ids of a tool's response are lost: in the middle, the head and the tail stay. */
export type ToolTruncationSide = PaddingSide | 'middle';
export type DType = 'float64' | 'float32' | 'bfloat16' | 'float16';

/** The label value that every framework ignores (torch's cross_entropy default). */
export const IGNORE_INDEX = -100;

/**
 * Where the trainer's per-token arrays live.
 * alignment `token`: index t speaks of token t. `predictor`: index t speaks of token t+1 (the logits' position).
 * span `row`: the array covers the whole row. `completion`: it covers the last C columns only.
 */
export interface Layout {
  readonly alignment: 'token' | 'predictor';
  readonly span: 'row' | 'completion';
}

/**
 * k1 = -d, k2 = d*d/2, k3 = exp(d) - d - 1, with d = ref_logprobs - logprobs (Schulman 2020, "Approximating KL
 * divergence"); abs = |d|, which estimates no KL and is in use all the same.
 */
export type KlEstimator = 'k1' | 'k2' | 'k3' | 'abs';

/** A bound on the size of a number, or on either side of it; null: none on that side. */
export type Clamp = number | readonly [low: number | null, high: number | null];

/** One for each estimator that has one: many trainers bound k3, which is exponentiated, and leave the others alone. */
export type ClampByEstimator = Readonly<Partial<Record<KlEstimator, Clamp | null>>>;

/** How per-token losses become one number. `norm` divides by a constant. */
export type LossAggregation = 'token-mean' | 'seq-mean-token-mean' | 'seq-mean-token-sum' | 'token-sum-norm';

/** The same of a critic: a constant that divides its sum could not be told from the factor of its errors. */
export type ValueAggregation = Exclude<LossAggregation, 'token-sum-norm'>;

/**
 * The importance ratio is one a token (PPO, GRPO), or one a row, the geometric mean of its tokens' (GSPO). none: there is
 * no ratio and no clip, every batch is used once (REINFORCE).
 */
export type RatioLevel = 'token' | 'sequence' | 'none';

/** Ops that answer with a formula of which several are legal. */
export const FORMULAS = [
  'kl',
  'whiten',
  'advantages',
  'loss',
  'sft_loss',
  'value_loss',
  'preference_loss',
  'reward_loss',
  'unpaired_preference_loss',
] as const;
export type Formula = (typeof FORMULAS)[number];

/** Names of a chat template's variables and what they are. */
export type TemplateArguments = Readonly<Record<string, string | number | boolean>>;

/**
 * What may legally differ between correct trainers. Every item may be declared in `hello`; what is not declared
 * is never held against the trainer: a check then accepts any of the known variants.
 */
export interface Semantics {
  /** completion_mask is 1 on the stop token (the usual choice) or 0. */
  readonly stop_token_in_mask?: boolean;
  /** Every completion ends with a stop token, which supervised fine-tuning puts after an answer without one: op `mask` is sent no other. */
  readonly completions_always_stop?: boolean;
  /** A completion that ran into the length limit without a stop token is trained (the usual choice) or left out whole. */
  readonly truncated_completions_trained?: boolean;
  /** Which tokens of a conversation supervised fine-tuning trains: every one, every assistant turn, or the last one. */
  readonly sft_target?: 'all' | 'assistant' | 'last-assistant';
  /** Whose messages a train flag turns on: the assistant's alone (the usual choice), or anybody's. */
  readonly flagged_roles?: 'assistant' | 'any';
  /** The supervised loss of a token is its negative log-likelihood (the usual choice), or that times its detached probability (DFT). */
  readonly sft_objective?: 'nll' | 'dft';
  /** The supervised loss is a mean over all labelled tokens (the usual choice), or over rows of each row's mean. */
  readonly sft_aggregation?: 'token-mean' | 'seq-mean-token-mean';
  /** Further variables of the chat template, as apply_chat_template takes them: `enable_thinking`, `reasoning_effort`. */
  readonly template_arguments?: TemplateArguments;
  /** The system message that the trainer puts before a conversation that has none. */
  readonly default_system?: string;
  /** Extracted completions keep their stop token. */
  readonly stop_token_in_completion?: boolean;
  readonly kl_estimator?: KlEstimator;
  /** Bound on the log-ratio or on the estimate before use; null: none. By estimator, one that is not named has none. */
  readonly kl_clamp?: Clamp | null | ClampByEstimator;
  /** The KL is estimated for each token (the usual choice), or for a row from the mean or the sum of its log-ratios. */
  readonly kl_level?: 'token' | 'sequence';
  /** The per-token KL is multiplied by the importance ratio exp(logprobs - old_logprobs). */
  readonly kl_ratio_correction?: boolean;
  /** KL enters the loss, or is subtracted from the reward. */
  readonly kl_placement?: 'loss' | 'reward';
  /** Coefficient beta of the KL term in the loss. */
  readonly kl_coef?: number;
  /** Degrees of freedom subtracted in the standard deviation of rewards. */
  readonly advantage_ddof?: 0 | 1;
  readonly advantage_epsilon?: number;
  /** Advantages are 0 where the standard deviation that divides them is below this; default 0: nowhere. */
  readonly advantage_min_std?: number;
  /** The epsilon is added to the standard deviation, or to the variance under the root. */
  readonly advantage_epsilon_placement?: 'std' | 'variance';
  /** What is subtracted from a reward: its group's mean, that of the group's other rows (RLOO), the batch's, nothing. */
  readonly advantage_baseline?:
    | 'group-mean'
    | 'leave-one-out'
    | 'length-weighted'
    | 'leave-one-out-max'
    | 'batch-mean'
    | 'none';
  /** Divide by the group's standard deviation, the batch's, or not at all (Dr. GRPO). */
  readonly advantage_scaling?: 'group' | 'batch' | 'none';
  readonly loss_aggregation?: LossAggregation;
  /** The constant of `token-sum-norm`. */
  readonly loss_norm?: number;
  /** Denominators count the tokens of the whole batch, or of each micro-batch alone. */
  readonly loss_normalization?: 'global' | 'local';
  /** The critic's value moves at most this far from the one at sampling before its error is held; null: not clipped. */
  readonly value_clip?: number | null;
  /** What the critic's squared error is multiplied by: 0.5 (the usual choice), 1, or with the weight it has beside the policy loss. */
  readonly value_loss_factor?: number;
  /** The critic's loss is a mean over all trained tokens (the usual choice), or over rows of each row's mean or sum. */
  readonly value_aggregation?: ValueAggregation;
  /** Ratio clip range [1 - clip_low, 1 + clip_high]; null: not clipped on that side. */
  readonly clip_low?: number | null;
  readonly clip_high?: number | null;
  readonly ratio_level?: RatioLevel;
  /** min(r A, clip(r) A) (PPO), or clip(r) without gradient times A times the log-probability (CISPO). */
  readonly policy_objective?: 'clip' | 'cispo';
  /** Where the advantage is negative the ratio counts at most this much; null: no such bound. */
  readonly dual_clip?: number | null;
  /** The log-ratio is kept within this of 0 before exp, without gradient beyond; null: not at all. */
  readonly log_ratio_clamp?: number | null;
  /**
   * What is made of exp(old_logprobs - sampling_logprobs): nothing, or a weight that is held within its caps (TIS), that is 0
   * outside of them (IcePop), or that is 1 within and 0 outside (rejection). own: another one, which is compared with none.
   */
  readonly sampling_correction?: 'none' | 'truncated' | 'masked' | 'filtered' | 'own';
  /** That ratio is one a token, or one a row: the product of its tokens', or their geometric mean. */
  readonly sampling_correction_level?: 'token' | 'sequence' | 'sequence-mean';
  /** Its caps; null: none on that side. */
  readonly sampling_correction_low?: number | null;
  readonly sampling_correction_high?: number | null;
  /** Coefficient of the entropy bonus, which the loss subtracts. */
  readonly entropy_coef?: number;
  /** Where a row that is too long loses tokens: on the left, on the right, or its prompt and its answer at one end each. */
  readonly truncation_side?: PaddingSide | 'parts';
  /** Where a tool's response that is too long is cut before it goes into a row: ids are lost there. */
  readonly tool_truncation_side?: ToolTruncationSide;
  /** The reward of a turn stands on the turn's last trained token (the usual choice), or those of all turns of a row, added up, on the row's. */
  readonly turn_reward_placement?: 'turn' | 'row';
  /** A row that is too long is cut, or left out. */
  readonly overlong?: 'truncate' | 'drop';
  /** dpo_norm is DPO over the means of a completion's tokens (LN-DPO). */
  readonly preference_objective?: 'dpo' | 'dpo_norm' | 'ipo' | 'hinge' | 'simpo';
  readonly preference_beta?: number;
  readonly preference_label_smoothing?: number;
  /** The target margin of SimPO, divided by beta. */
  readonly preference_gamma?: number;
  /** The loss of a reward model also has this times the mean of (chosen + rejected)^2, which keeps scores around 0; 0: it has not. */
  readonly reward_centering?: number;
  /** The loss of rows that are labelled one by one: KTO's, held against an estimate of the KL, or APO-zero's, against 0. */
  readonly unpaired_objective?: 'kto' | 'apo_zero';
  readonly unpaired_beta?: number;
  /** What the loss of a desirable row is multiplied by, and that of an undesirable one. */
  readonly desirable_weight?: number;
  readonly undesirable_weight?: number;
  /** Whitening subtracts the mean (the usual choice), or only divides by the deviation. */
  readonly whiten_mean?: boolean;
  readonly whiten_ddof?: 0 | 1;
  /** What is recorded of a sampled token: log p of the distribution that was sampled from, of logits / temperature, or of the bare logits. */
  readonly sampling_logprobs?: 'processed' | 'temperature' | 'raw';
  /** Scored log-probabilities are of logits / temperature. */
  readonly temperature_in_scoring?: boolean;
  /** Ops whose formula is none of the known ones, and meant: it is compared with none, and relations alone judge it. */
  readonly own_formulas?: readonly Formula[];
  /** `loss` is what the optimiser descends (the usual choice); false: it is logged, and `loss_weights` are the slope of another number. */
  readonly loss_is_descended?: boolean;
  /** The value in the slot behind a row's last trained token is read: a row that was cut off is bootstrapped from it. */
  readonly gae_bootstrap?: boolean;
  /** All groups of a batch have one size; otherwise rows may be missing from some. */
  readonly equal_groups?: boolean;
  /** Every batch that a loss is handed has a trained token: what the loss makes of one without is never trained. */
  readonly batches_always_train?: boolean;
  /** Whatever stands between the tags of a tool call is its argument, as a query is: a step tells no mistakes in it apart. */
  readonly free_text_calls?: boolean;
  /** A completion is one answer: no masked token stands between its trained ones, and its mask may be read as a length. */
  readonly single_turn?: boolean;
  /** The model reads its prompt in both directions, as prefix and encoder-decoder models do. */
  readonly prefix_attention?: boolean;
  /** Each turn of a completion is an episode: its returns end where the turn ends. */
  readonly turns_are_episodes?: boolean;
  /** Lengths in tokens at which rows, or prompts, answers and tool outputs alone, are cut unasked; no length: they are whole, or refused. */
  readonly cut_at?: readonly number[];
  /** Ops that write into their arguments on purpose. */
  readonly in_place?: readonly string[];
}

/** Of the semantics, what can be read off answers: whether a formula, a cut, or writing into an argument, is meant cannot. */
export type ItemName = Exclude<keyof Semantics, 'own_formulas' | 'in_place' | 'cut_at'>;

/** Special ids and vocabulary that the trainer is fixed to. Absent: the harness chooses them per case. */
export interface Tokens {
  readonly vocab_size: number;
  readonly pad_token_id: number;
  readonly eos_token_ids: Ids;
  readonly bos_token_id?: number;
}

/** One step of a pipeline's replay buffer, as op `contract` hands it over. */
export interface Segment {
  readonly prompt_ids: readonly number[];
  readonly completion_ids: readonly number[];
  readonly reward: number;
}

/** One turn of an agent's rollout: sampled by the policy, or injected by a tool or a user. */
export interface Turn {
  readonly role: 'assistant' | 'tool' | 'user';
  readonly ids: readonly number[];
  /** The sampler's, one an id; empty where nothing was sampled. */
  readonly logprobs: readonly number[];
  /** Why sampling ended; 'none' where nothing was sampled. */
  readonly finish_reason: 'stop' | 'length' | 'none';
}

/** A tool and the kinds of its arguments, all of them required. */
export interface ToolSpec {
  readonly name: string;
  readonly parameters: Readonly<Record<string, 'string' | 'number' | 'boolean'>>;
}

/** What a token is in its row. */
export type Role = 'system' | 'prompt' | 'completion' | 'tool' | 'stop' | 'after stop' | 'padding';

/** How much it says against a trainer that breaks a property: most first. */
export const LEVELS = ['must', 'should', 'may'] as const;
export type Level = (typeof LEVELS)[number];

export const VERDICTS = [
  'pass',
  'fail',
  'error',
  'ask',
  'thin',
  'changed',
  'stale',
  'unseen',
  'known',
  'unsupported',
  'skipped',
  'interrupted',
] as const;
export type Verdict = (typeof VERDICTS)[number];

/**
 * What a run must not exit 0 with. `ask`: what was seen is legal where it is meant, and nobody has said that it is.
 * `thin`: no case failed, but too few had what the property promises to try, or more than half were set aside. Of the
 * known failures: `changed` fails otherwise than recorded, `stale` holds now, `unseen` was judged by no case.
 */
export const FAILING: readonly Verdict[] = ['fail', 'error', 'ask', 'thin', 'changed', 'stale', 'unseen'];
export const UNJUDGED: readonly Verdict[] = ['unsupported', 'skipped', 'interrupted'];
