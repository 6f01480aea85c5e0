// What a field of an op can hold: its kind, in TypeScript and by name. Shapes are in the kind's name.
import type { Message, Segment, Turn } from '../vocabulary.ts';

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
  segments: readonly Segment[];
  turns: readonly Turn[];
  counts: Readonly<Record<string, number>>;
  amounts: Readonly<Record<string, number>>;
  choices: Readonly<Record<string, number | string>>;
}
export type Kind = keyof KindTypes;
/** `kind?` may be absent. */
export type FieldSpec = Kind | `${Kind}?`;
export type FieldSpecs = Readonly<Record<string, FieldSpec>>;
export interface OpSpec {
  readonly args: FieldSpecs;
  readonly ok: FieldSpecs;
}

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
