// A row as the model gets it: tokens, which of them are trained, and what each of them is.
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { Ids, PaddingSide, Role } from '../vocabulary.ts';
import type { Fault } from './flags.ts';
import type { Writer } from './writer.ts';

export const TRAIN_ON = ['assistant', 'last', 'completion', 'all'] as const;
export type TrainOn = (typeof TRAIN_ON)[number];

export interface ViewOptions {
  readonly tokenizer?: Tokenizer;
  /** Of the tokenizer's chat template, or of the one that stands in for it. */
  readonly writer?: Writer;
  /** Ids that end an answer, besides what tokenizer and template say. */
  readonly stops?: Ids;
  /** Rows of the embedding of the model in the tokenizer's folder, where it has one. */
  readonly embeddings?: number;
  /** Ids that stand where parts of images, videos and sound are put in, as that model's configuration has them. */
  readonly placeholders?: Ids;
  /** Absent: what the row's shape suggests. Rows that come with labels or a mask keep theirs. */
  readonly trainOn?: TrainOn;
  readonly maxLength?: number;
  /** Who says so, where it is not --train-on. */
  readonly declaredBy?: string;
  /** Rows are prompts of which nothing is trained yet: the model answers them first. */
  readonly promptsOnly?: true;
  /** What users and tools say is trained, and meant to be. */
  readonly promptsTrained?: boolean;
  /** Whether EOS is put behind a text that has none; default: yes. */
  readonly endsText?: boolean;
  /** The end that is lost where a row is too long. */
  readonly truncationSide: PaddingSide;
}

/** Columns [from, to). */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface Turn extends Range {
  /** The role as the row has it; 'padding', 'text', 'row'... where there is none. */
  readonly name: string;
}

export interface Answer extends Range {
  /** Column of its stop token. */
  readonly stop?: number;
  /** The row ends within it, or begins. */
  readonly cut: boolean;
  /** Whether it is trained, where its message says so itself. */
  readonly told?: boolean;
}

export interface TokenRow {
  readonly ids: Ids;
  readonly trained: readonly boolean[];
  readonly roles: readonly Role[];
  readonly turns: readonly Turn[];
  /** Empty, too, where it is not known whose token is whose. */
  readonly answers: readonly Answer[];
  /** What users, systems and tools say, without the template's marks. */
  readonly said: readonly Range[];
  /** Part prompt, part answer. */
  readonly straddles: readonly number[];
  /** Without padding. */
  readonly real: Range;
  /** Labels, masks, attention and positions as the row gives them. */
  readonly given?: { readonly labels?: Ids; readonly attention?: Ids; readonly positions?: Ids };
  /** Tokens lost to the length limit. */
  readonly lost: number;
}

/** A shape made into tokens, or not: what was found wrong on the way, and what had to be assumed. */
export interface Made {
  readonly row?: TokenRow;
  readonly faults: readonly Fault[];
  readonly assumed: readonly string[];
}
