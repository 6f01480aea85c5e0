// One run: every chosen property against one trainer, as a stream of events.

import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { Trainer } from '../trainer/trainer.ts';
import type { Semantics } from '../vocabulary.ts';
import type { Corpus } from './corpus.ts';
import type { PropertyResult, RunEvent } from './events.ts';
import type { Property } from './property.ts';

export interface RunOptions {
  readonly trainer: Trainer;
  readonly tokenizer: Tokenizer | undefined;
  /** From the configuration; merged over what hello declares. */
  readonly semantics?: Semantics;
  readonly properties: readonly Property[];
  readonly seed: number;
  /** Cases a property. */
  readonly cases: number;
  /** Saved failures; absent: none are read or written. */
  readonly corpus?: Corpus;
  /** Known failures, id to reason. */
  readonly known?: Readonly<Record<string, { readonly reason: string; readonly link?: string }>>;
  /** Aborted: finish the case in hand, report, stop. */
  readonly signal?: AbortSignal;
  readonly shrinkMilliseconds?: number;
  /** What the user typed, for the report. */
  readonly command: string;
}

/** Runs every property and returns the results; `emit` sees each event as it happens. Does not stop the trainer. */
export declare function run(
  options: RunOptions,
  emit: (event: RunEvent) => void,
): Promise<readonly PropertyResult[]>;
