// Protocol 1 on one screen: every op, every field, once. The types of requests and answers, the decoder, the
// encoder of numbers and the tables in PROTOCOL.md all derive from OPS. A field is its kind and whether it may
// be absent; shapes are in the kind's name and in PROTOCOL.md.
import type { DType, Layout, Message, Segment, Semantics, Tokens } from '../vocabulary.ts';

export type { Segment };

export const PROTOCOL = 1;

/** What a field holds in TypeScript, by kind. `track` is a per-token matrix that crosses in the trainer's layout. */
export interface KindTypes {
  text: string;
  texts: readonly string[];
  flag: boolean;
  int: number;
  float: number;
  ints: readonly number[]; // (n,)
  int_rows: readonly (readonly number[])[]; // ragged (B, ·)
  int_matrix: readonly (readonly number[])[]; // (B, T)
  floats: readonly number[]; // (n,)
  float_rows: readonly (readonly number[])[]; // ragged (B, ·)
  float_matrix: readonly (readonly number[])[]; // (B, V)
  float_cube: readonly (readonly (readonly number[])[])[]; // (B, T, V)
  int_track: readonly (readonly number[])[]; // (B, T) token-aligned inside, the trainer's layout outside
  float_track: readonly (readonly number[])[]; // likewise
  messages: readonly Message[];
  conversations: readonly (readonly Message[])[];
  segments: readonly Segment[];
  counts: Readonly<Record<string, number>>;
  amounts: Readonly<Record<string, number>>;
}
export type Kind = keyof KindTypes;
/** `kind?` may be absent. */
export type FieldSpec = Kind | `${Kind}?`;
export type FieldSpecs = Readonly<Record<string, FieldSpec>>;
export interface OpSpec {
  readonly args: FieldSpecs;
  readonly ok: FieldSpecs;
}

// A batch laid out as decoder-only generation leaves it: [left padding | prompt | completion | right padding].
const BLOCK = {
  prompt_ids: 'int_rows',
  completion_ids: 'int_rows', // as sampled, the stop token included when there was one
  sequences: 'int_matrix', // (B, T)
  attention_mask: 'int_matrix', // (B, T), 1 = real token
  prompt_width: 'int', // P: the completion block begins at this column
  pad_token_id: 'int',
  eos_token_ids: 'ints',
} as const satisfies FieldSpecs;

export const OPS = {
  render: {
    args: { route: 'text', messages: 'messages', add_generation_prompt: 'flag', chat_template: 'text?' },
    ok: { text: 'text' },
  },
  tokenize: {
    args: { route: 'text', messages: 'messages', add_generation_prompt: 'flag', chat_template: 'text?' },
    ok: { input_ids: 'ints', labels: 'ints?' },
  },
  collate: {
    args: { input_ids: 'int_rows', labels: 'int_rows', pad_token_id: 'int' },
    ok: {
      input_ids: 'int_matrix',
      attention_mask: 'int_matrix',
      labels: 'int_matrix',
      position_ids: 'int_matrix?',
    },
  },
  extract: {
    args: {
      padding_side: 'text',
      prompt_ids: 'int_rows',
      input_ids: 'int_matrix', // (B, P) the padded prompts
      attention_mask: 'int_matrix', // (B, P)
      sequences: 'int_matrix', // (B, T) what generation returned
      sampled_ids: 'int_matrix', // (B, C) what the sampler emitted, padded on the right
      pad_token_id: 'int',
      eos_token_ids: 'ints',
    },
    ok: { completion_ids: 'int_rows' },
  },
  mask: {
    args: BLOCK,
    ok: {
      input_ids: 'int_matrix?',
      attention_mask: 'int_matrix?',
      completion_mask: 'int_track',
      position_ids: 'int_matrix?',
    },
  },
  rollout: {
    args: { conversations: 'conversations', sampled_ids: 'int_rows' },
    ok: {
      prompt_ids: 'int_rows',
      input_ids: 'int_matrix',
      attention_mask: 'int_matrix',
      completion_mask: 'int_track',
    },
  },
  logprobs: {
    args: {
      input_ids: 'int_matrix',
      attention_mask: 'int_matrix',
      logits: 'float_cube', // (B, T, V), logits[b][t] predicts token t+1, as models emit them
      prompt_width: 'int',
      temperature: 'float',
    },
    ok: { logprobs: 'float_track' },
  },
  score: {
    args: { prompt_ids: 'int_rows', completion_ids: 'int_rows' },
    ok: { logprobs: 'float_rows' }, // (B, ·) one a completion token
  },
  kl: {
    args: {
      logprobs: 'float_track',
      old_logprobs: 'float_track',
      ref_logprobs: 'float_track',
      completion_mask: 'int_track',
      prompt_width: 'int',
      kl_estimator: 'text?',
    },
    ok: { kl: 'float_track?', mean_kl: 'float?' },
  },
  advantages: {
    args: { rewards: 'floats', group_ids: 'ints' },
    ok: { advantages: 'floats' },
  },
  loss: {
    args: {
      logprobs: 'float_track',
      old_logprobs: 'float_track',
      ref_logprobs: 'float_track',
      advantages: 'floats', // (B,)
      completion_mask: 'int_track',
      prompt_width: 'int',
      micro_batches: 'int_rows', // a partition of the row indices
    },
    ok: { loss: 'float', loss_weights: 'float_track?', trained_tokens: 'int?' },
  },
  sft_loss: {
    args: {
      input_ids: 'int_matrix',
      attention_mask: 'int_matrix',
      labels: 'int_matrix', // (B, T) token-aligned, -100 ignored, not shifted
      logits: 'float_cube',
      micro_batches: 'int_rows',
    },
    ok: { loss: 'float', loss_weights: 'float_track?', trained_tokens: 'int?' },
  },
  penalties: {
    args: {
      input_ids: 'int_matrix', // (B, T) left-padded prompt and the tokens generated so far
      attention_mask: 'int_matrix',
      prompt_width: 'int',
      prompt_ids: 'int_rows',
      completion_ids: 'int_rows', // generated so far
      logits: 'float_matrix', // (B, V) of the next token
      presence_penalty: 'float',
      frequency_penalty: 'float',
      repetition_penalty: 'float',
    },
    ok: { logits: 'float_matrix' },
  },
  contract: {
    args: { order: 'texts', segments: 'segments', enabled: 'texts' },
    ok: { executed: 'counts', trained_tokens: 'counts', losses: 'amounts' },
  },
} as const satisfies Record<string, OpSpec>;

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
  /** render, tokenize: the routes the trainer has. Default: both. */
  readonly route?: readonly ('sft' | 'rl')[];
  /** render, tokenize: another chat template may be sent along. Default: false. */
  readonly chat_template?: boolean;
  /** extract: the sides it pads prompts on. Default: left. */
  readonly padding_side?: readonly ('left' | 'right')[];
  /** mask: what the sampler may leave behind a stop token: padding only (default), or anything. */
  readonly after_stop?: 'padding' | 'any';
  /** mask: completions may also end before the full width without a stop token (aborted), empty ones included. Default: false. */
  readonly unfinished?: boolean;
  /** logprobs: may be asked for other temperatures than 1. Default: false. */
  readonly temperature?: boolean;
  /** kl: the estimators that may be named in the request. Absent: the trainer has one, named in `semantics` or not at all. */
  readonly kl_estimator?: readonly ('k1' | 'k2' | 'k3' | 'abs')[];
  /** advantages: rows a group, where the trainer is fixed to one number. */
  readonly group_size?: number;
  /** loss, sft_loss: may be given a partition into micro-batches; the answer is for the whole batch. Default: false. */
  readonly micro_batches?: boolean;
  /** penalties: the kinds that may be non-neutral. Default: presence and frequency. */
  readonly kinds?: readonly ('presence' | 'frequency' | 'repetition')[];
  /** contract: the element orders that the consumer understands; the harness picks one. */
  readonly orders?: readonly (readonly string[])[];
  /** contract: the losses that train on the segments. */
  readonly losses?: readonly string[];
}

/** The answer to `hello`. */
export interface Hello {
  readonly protocol: number;
  readonly name: string;
  readonly version?: string;
  /** Language and library versions, for the report. */
  readonly runtime?: string;
  readonly ops: Readonly<Partial<Record<Op, Capability>>>;
  readonly layout?: Layout;
  readonly semantics?: Semantics;
  readonly tokens?: Tokens;
  /** Folder with tokenizer.json, so that the harness can read the tokens. */
  readonly tokenizer?: string;
  /** What the trainer computes in; it chooses the tolerance. Default: float32. */
  readonly dtype?: DType;
  /** How tensors cross the pipe. Default: json. */
  readonly tensors?: 'json' | 'base64';
}

export interface HelloArgs {
  readonly protocol: number;
  readonly harness: string;
}

/** What a trainer says to one request: exactly one of four. */
export type Answer<T> =
  | { readonly ok: T }
  | { readonly reject: string }
  | { readonly skip: string }
  | { readonly error: { readonly message: string; readonly traceback?: string } };
