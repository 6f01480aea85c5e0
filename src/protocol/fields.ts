// What a field of an op can hold: its kind, in TypeScript and by name, and what its lists count. Shapes are in the kind's name.
import type { Message, MultimodalMessage, Segment, Turn } from '../vocabulary.ts';

/** What a field holds in TypeScript, by kind. `track` is a per-token matrix that crosses in the trainer's layout. */
export interface KindTypes {
  text: string;
  texts: readonly string[];
  text_rows: readonly (readonly string[])[]; // ragged
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
  multimodal_conversations: readonly (readonly MultimodalMessage[])[];
  segments: readonly Segment[];
  turns: readonly Turn[];
  counts: Readonly<Record<string, number>>;
  amounts: Readonly<Record<string, number>>;
  choices: Readonly<Record<string, number | string>>;
}
export type Kind = keyof KindTypes;
/**
 * `kind`, `kind?` where it may be absent, `kind[dimension, dimension]?` where its lists must be as long as others of the op:
 * fields that name the same dimension, outermost first, have as many of it. Of ragged rows the second is held row by row.
 */
export type FieldSpec = `${Kind}${'' | `[${string}]`}${'' | '?'}`;
export type FieldSpecs = Readonly<Record<string, FieldSpec>>;

/** The kind that a field is declared to have. */
export type KindOf<S> = S extends `${infer K}[${string}` ? K : S extends `${infer K}?` ? K : S;
export const kindOf = (spec: string): Kind => spec.replace(/[[?].*$/, '') as Kind;
export const isOptional = (spec: string): boolean => spec.endsWith('?');
export const isTrack = (kind: string): boolean => kind.endsWith('_track');
export const isReal = (kind: string): boolean => kind.startsWith('float');
/** Names of the dimensions that a field shares with others, outermost first. */
export const dimensionsOf = (spec: string): readonly string[] =>
  /\[(.*)\]/.exec(spec)?.[1]?.split(', ') ?? [];

/** Settings that capability `knobs` lists, by name; only sent where it does. */
export const KNOBS = { settings: 'choices?' } as const satisfies FieldSpecs;

/** Per-token numbers of a policy step. */
export const TRACKS = {
  logprobs: 'float_track',
  old_logprobs: 'float_track',
  ref_logprobs: 'float_track',
  completion_mask: 'int_track',
  prompt_width: 'int',
} as const satisfies FieldSpecs;
