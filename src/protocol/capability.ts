// What a trainer can be asked for, op by op: the types, and the rules that hello is checked with.
import type { DType, Layout, ToolSpec, TrainFlagName } from '../vocabulary.ts';
import { KL_ESTIMATORS, TRAIN_FLAGS } from '../vocabulary.ts';
import {
  atLeast,
  eitherOf,
  flag,
  listOf,
  number,
  oneOf,
  type Rule,
  record,
  recordOf,
  text,
  wholeFrom,
} from './rules.ts';

/** What an op of this trainer can be asked for. Keys that an op does not know are refused by name. */
export interface Capability {
  /** Every op that answers numbers: what it computes in, if in something else than `dtype` of hello says. */
  readonly dtype?: DType;
  /** Every op with per-token arrays: where its own live, if elsewhere than `layout` of hello says. */
  readonly layout?: Layout;
  /** render, tokenize, train_step: the routes the trainer has. Default: both. */
  readonly route?: readonly ('sft' | 'rl')[];
  /** render, tokenize: another chat template may be sent along. Default: false. */
  readonly chat_template?: boolean;
  /** render, tokenize, sft_batch, preference_batch, rollout: messages of role tool are rendered. Default: false. */
  readonly tools?: boolean;
  /** render, tokenize, sft_batch, preference_batch, multimodal_batch, rollout: 1 if a conversation has one question only. Default: any number of turns. */
  readonly turns?: 1;
  /** tokenize, sft_batch: messages may be sent with a train flag of this name. Default: none is. */
  readonly message_flag?: TrainFlagName;
  /** pack: may be sent examples longer than a row, and what becomes of each: left out, cut to fit, several pieces, refused. Default: none is sent. */
  readonly overlong?: 'drop' | 'truncate' | 'split' | 'refuse';
  /** decode: special tokens are left out of the text. Undeclared, both are accepted. */
  readonly skip_special_tokens?: boolean;
  /** extract: the sides it pads prompts on. Default: left. model_score, sft_batch, multimodal_batch: those it may be asked for. Default: none. */
  readonly padding_side?: readonly ('left' | 'right')[];
  /** sft_batch: may be asked to pad with any id. Default: it pads with its own. */
  readonly pad_token_id?: boolean;
  /** multimodal_batch: may be asked to cut rows. Default: it is asked for whole rows. */
  readonly max_length?: boolean;
  /** mask, trajectory: what the sampler may leave after a stop token: padding (nothing) only, the default, or anything. */
  readonly after_stop?: 'padding' | 'any';
  /** extract, mask, partial_rollout, trajectory, sampling: 1 if generation stops at one id, which may be any. Default: any number. */
  readonly eos_token_ids?: 1;
  /** trajectory: may be sent how many ids of a tool's turn are kept at most. Default: false. */
  readonly max_tool_tokens?: boolean;
  /** trajectory: may be sent a reward for each turn. Default: false. */
  readonly turn_rewards?: boolean;
  /** mask, rollout, score: completions may also end before the full width without a stop token (aborted), empty ones included. Default: false. */
  readonly unfinished?: boolean;
  /** logprobs, values, model_score, full_kl: may be asked for other temperatures than 1. Default: false. */
  readonly temperature?: boolean;
  /** score, model_score: may be asked to score all rows packed into one. Default: false. */
  readonly packed?: boolean;
  /** model_score, train_step, preference_step: the families of models that it can load. Default: both. */
  readonly families?: readonly ('llama' | 'gpt2')[];
  /** model_score: may be sent a second checkpoint, the reference. Default: false. */
  readonly reference?: boolean;
  /** model_score: what its `kl` is; undeclared, any of them is accepted. */
  readonly kl?: 'exact' | 'k1' | 'k2' | 'k3' | 'abs';
  /** update: the policy starts out as its own reference. Default: false. */
  readonly starts_at_reference?: boolean;
  /** kl: the estimators that may be named in the request. Absent: the trainer has one, named in `semantics` or not at all. */
  readonly kl_estimator?: readonly ('k1' | 'k2' | 'k3' | 'abs')[];
  /** token_rewards: rewards of single steps may be sent. Default: false. */
  readonly process_rewards?: boolean;
  /** advantages, filter_rollouts: rows per group, where the trainer is fixed to one number. */
  readonly group_size?: number;
  /** advantages: a group may have one row only. Default: false. */
  readonly groups_of_one?: boolean;
  /** advantages, filter_rollouts: the rows of a group need not stand together. Default: false. */
  readonly interleaved_groups?: boolean;
  /** loss, sft_loss, value_loss: may be given a partition into micro-batches; the answer is for the whole batch. Default: false. */
  readonly micro_batches?: boolean;
  /**
   * loss, sft_loss, value_loss, advantages, whiten: may be given a partition over data-parallel ranks; the answer is for all of
   * them. A number: it has so many ranks, and is always told which rows each of them has. Default: false.
   */
  readonly ranks?: boolean | number;
  /** logprobs, sft_loss: may be asked to compute in so many sequence-parallel shards. Default: 1 only. */
  readonly shards?: boolean;
  /** loss: has an entropy term, and may be sent the policy's entropies. Default: false. */
  readonly entropy?: boolean;
  /** loss: may be sent what the inference engine said of the sampled tokens, beside the trainer's `old_logprobs`. Default: false. */
  readonly sampling_logprobs?: boolean;
  /** reward_loss: may be sent a margin for each pair. Default: false. */
  readonly margins?: boolean;
  /** kl, advantages, loss, preference_loss: settings that may be sent, each with values whose answers must differ. */
  readonly knobs?: Readonly<Record<string, readonly (number | string)[]>>;
  /** sampling: the settings that it has. Default: temperature. */
  readonly processors?: readonly (
    | 'temperature'
    | 'top_k'
    | 'top_p'
    | 'min_new_tokens'
    | 'banned_sequences'
  )[];
  /** penalties: the kinds that may be non-neutral. Default: presence and frequency. */
  readonly kinds?: readonly ('presence' | 'frequency' | 'repetition')[];
  /** reward: prompts with a reference, a right answer and a wrong one, both well-formed. At least one. */
  readonly samples?: readonly RewardSample[];
  /** format_score, parse_tool_call, tool_step: the names of the tags. Default: think, tool_call, tool_response, answer. */
  readonly tags?: { readonly [K in TagName]?: string };
  /** parse_tool_call, tool_step: the tools that may be called. */
  readonly tool_specs?: readonly ToolSpec[];
  /** contract: the element orders that the consumer understands; the harness picks one. */
  readonly orders?: readonly (readonly string[])[];
  /** contract, schedule: the losses that train on the segments; for schedule in the order of a sequential update. */
  readonly losses?: readonly string[];
  /** schedule: those of its losses that cannot be switched off, and are always enabled. Default: none. */
  readonly always_enabled?: readonly string[];
  /** schedule: the modes that it has. */
  readonly modes?: readonly ('parallel' | 'sequential' | 'alternating')[];
  /** schedule: optional trainers that a loss may be handed to, by loss. */
  readonly optional_trainers?: Readonly<Record<string, string>>;
}

export type TagName = 'think' | 'tool_call' | 'tool_response' | 'answer';

/** One prompt of a reward function, with answers whose order is known. */
export interface RewardSample {
  readonly prompt: string;
  readonly reference: string;
  readonly right: string;
  readonly wrong: string;
}

/** Processes of one adapter on one machine; each request lists the rows of each. */
const MOST_RANKS = 1024;

export const LAYOUT: Rule<Layout> = record(
  { 'alignment!': oneOf('token', 'predictor'), 'span!': oneOf('row', 'completion') },
  'key',
);

export const DTYPE = oneOf('float64', 'float32', 'bfloat16', 'float16');

/** A rule for each. */
type RulesFor<T> = { readonly [K in keyof T]-?: Rule<Exclude<T[K], undefined>> };

export const CAPABILITIES: RulesFor<Capability> = {
  dtype: DTYPE,
  layout: LAYOUT,
  route: listOf(oneOf('sft', 'rl')),
  chat_template: flag,
  tools: flag,
  turns: oneOf(1),
  message_flag: oneOf(...TRAIN_FLAGS),
  overlong: oneOf('drop', 'truncate', 'split', 'refuse'),
  skip_special_tokens: flag,
  padding_side: listOf(oneOf('left', 'right')),
  pad_token_id: flag,
  max_length: flag,
  after_stop: oneOf('padding', 'any'),
  eos_token_ids: oneOf(1),
  max_tool_tokens: flag,
  turn_rewards: flag,
  unfinished: flag,
  temperature: flag,
  packed: flag,
  reference: flag,
  kl: oneOf('exact', ...KL_ESTIMATORS),
  families: listOf(oneOf('llama', 'gpt2')),
  starts_at_reference: flag,
  kl_estimator: listOf(oneOf(...KL_ESTIMATORS)),
  process_rewards: flag,
  group_size: atLeast(1),
  groups_of_one: flag,
  interleaved_groups: flag,
  micro_batches: flag,
  ranks: eitherOf<boolean | number>(flag, wholeFrom(1, MOST_RANKS)),
  shards: flag,
  entropy: flag,
  sampling_logprobs: flag,
  margins: flag,
  knobs: recordOf(listOf(eitherOf<string | number>(number, text))),
  processors: listOf(oneOf('temperature', 'top_k', 'top_p', 'min_new_tokens', 'banned_sequences')),
  kinds: listOf(oneOf('presence', 'frequency', 'repetition')),
  samples: listOf(record({ 'prompt!': text, 'reference!': text, 'right!': text, 'wrong!': text }, 'key')),
  tags: record({ think: text, tool_call: text, tool_response: text, answer: text }, 'tag'),
  tool_specs: listOf(
    record({ 'name!': text, 'parameters!': recordOf(oneOf('string', 'number', 'boolean')) }, 'key'),
  ),
  orders: listOf(listOf(text)),
  losses: listOf(text),
  always_enabled: listOf(text),
  modes: listOf(oneOf('parallel', 'sequential', 'alternating')),
  optional_trainers: recordOf(text),
};
