// The messages of protocol 1 as types, all derived from the table in ops.ts; what a trainer can be asked for; hello.
import type { DType, Layout, Segment, Semantics, Tokens, ToolSpec, TrainFlagName } from '../vocabulary.ts';
import type { Kind, KindTypes } from './fields.ts';
import { OPS } from './ops.ts';

export type { FieldSpec, FieldSpecs, Kind, KindTypes, OpSpec } from './fields.ts';
export type { Segment };
export { OPS };

export const PROTOCOL = 1;

export type Op = keyof typeof OPS;

type Bare<S> = S extends `${infer K}?` ? K : S;
type Held<S> = Bare<S> extends Kind ? KindTypes[Bare<S>] : never;
type Fields<F> = { readonly [K in keyof F as F[K] extends `${string}?` ? never : K]: Held<F[K]> } & {
  readonly [K in keyof F as F[K] extends `${string}?` ? K : never]?: Held<F[K]>;
};
/** Arguments of an op, token-aligned. */
export type Args<O extends Op> = Fields<(typeof OPS)[O]['args']>;
/** A good answer of an op, token-aligned. */
export type Ok<O extends Op> = Fields<(typeof OPS)[O]['ok']>;

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
  /** render, tokenize, sft_batch, preference_batch, rollout: 1 if a conversation may have one question only. Default: any number of turns. */
  readonly turns?: 1;
  /** tokenize, sft_batch: messages may be sent with a train flag of this name. Default: none is. */
  readonly message_flag?: TrainFlagName;
  /** pack: may be sent examples longer than a row, and what becomes of each: left out, cut to fit, several pieces, refused. Default: none is sent. */
  readonly overlong?: 'drop' | 'truncate' | 'split' | 'refuse';
  /** decode: special tokens are left out of the text. Undeclared, both are accepted. */
  readonly skip_special_tokens?: boolean;
  /** extract: the sides it pads prompts on. Default: left. model_score, sft_batch: those it may be asked for. Default: none. */
  readonly padding_side?: readonly ('left' | 'right')[];
  /** sft_batch: may be asked to pad with any id. Default: it pads with its own. */
  readonly pad_token_id?: boolean;
  /** mask, trajectory: what the sampler may leave behind a stop token: padding (nothing) only, the default, or anything. */
  readonly after_stop?: 'padding' | 'any';
  /** extract, mask, trajectory, sampling: 1 where generation stops at one id, whichever that is. Default: any number. */
  readonly eos_token_ids?: 1;
  /** trajectory: may be sent how many ids of a tool's turn are kept at most. Default: false. */
  readonly max_tool_tokens?: boolean;
  /** trajectory: may be sent a reward for each turn. Default: false. */
  readonly turn_rewards?: boolean;
  /** mask, rollout: completions may also end before the full width without a stop token (aborted), empty ones included. Default: false. */
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
  /** advantages: rows per group, where the trainer is fixed to one number. */
  readonly group_size?: number;
  /** advantages: a group may have one row only. Default: false. */
  readonly groups_of_one?: boolean;
  /** advantages: the rows of a group need not stand together. Default: false. */
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

/** The answer to `hello`. */
export interface Hello {
  readonly protocol: number;
  readonly name: string;
  readonly version?: string;
  /** Language and library versions, for the report. */
  readonly runtime?: string;
  readonly ops: Readonly<Partial<Record<Op, Capability>>>;
  /** Why it cannot be asked for an op that others of its kind answer: what this version of a library has not. */
  readonly lacks?: Readonly<Partial<Record<Op, string>>>;
  /** Sentences that every report begins with. */
  readonly notes?: readonly string[];
  readonly layout?: Layout;
  readonly semantics?: Semantics;
  readonly tokens?: Tokens;
  /** Folder with tokenizer.json, so that the harness can read the tokens. */
  readonly tokenizer?: string;
  /** What the trainer computes in; it chooses the tolerance. Default: float32. */
  readonly dtype?: DType;
  /** Rows of more tokens are never sent. Default: of any length. */
  readonly max_length?: number;
  /** How tensors cross the pipe. Default: json. */
  readonly tensors?: 'json' | 'base64';
}

export interface HelloArgs {
  readonly protocol: number;
  readonly harness: string;
}

/** What a trainer says to one request: exactly one of four. */
export type Answer<T> =
  /** `written`: arguments that are not what they were before the call. */
  | { readonly ok: T; readonly written?: readonly string[] }
  | { readonly reject: string }
  | { readonly skip: string }
  | { readonly error: Raised };

/** An op raised. */
export interface Raised {
  readonly message: string;
  readonly traceback?: string;
  /** By lines of a ready-made adapter, not by the trainer's. */
  readonly adapter?: true;
  /** The process cannot go on behind it: part of it waits for what will never come. */
  readonly restart?: true;
}
