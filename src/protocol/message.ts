// The messages of protocol 1 as types, all derived from the table in ops.ts; what a trainer can be asked for; hello.
import type { DType, Layout, Segment, Semantics, Tokens } from '../vocabulary.ts';
import type { Capability } from './capability.ts';
import type { Kind, KindOf, KindTypes } from './fields.ts';
import { OPS } from './ops.ts';

export type { Capability, RewardSample, TagName } from './capability.ts';
export type { FieldSpec, FieldSpecs, Kind, KindTypes } from './fields.ts';
export type { OpSpec } from './op.ts';
export type { Segment };
export { OPS };

export const PROTOCOL = 1;

export type Op = keyof typeof OPS;

type Held<S> = KindOf<S> extends Kind ? KindTypes[KindOf<S>] : never;
type Fields<F> = { readonly [K in keyof F as F[K] extends `${string}?` ? never : K]: Held<F[K]> } & {
  readonly [K in keyof F as F[K] extends `${string}?` ? K : never]?: Held<F[K]>;
};
/** Arguments of an op, token-aligned. */
export type Args<O extends Op> = Fields<(typeof OPS)[O]['args']>;
/** A good answer of an op, token-aligned. */
export type Ok<O extends Op> = Fields<(typeof OPS)[O]['ok']>;

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
