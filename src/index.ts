// What the package exports, and all that properties/ may import.

export type * from './check/events.ts';
export type * from './check/property.ts';
export * from './protocol/message.ts';
export type { Tokenizer } from './tokenizers/tokenizer.ts';
export type { FailureKind, TrainerFailure } from './trainer/failure.ts';
export type { Outcome, Trainer } from './trainer/trainer.ts';
export * from './vocabulary.ts';
