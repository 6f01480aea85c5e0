// The public API: what `import ... from 'lossproof'` gives. docs/library.md is its page, and a test pins the names. The properties
// beside this file are written with src/index.ts, which changes as they do.

// Running: properties against a trainer, as verdicts and as events.

export type * from '../src/check/events.ts';
export type { RunOptions } from '../src/check/options.ts';
export { run, worldOf } from '../src/check/run.ts';
export { openCorpus } from '../src/check/saved/corpus.ts';
export type { KnownFailure, KnownFailures } from '../src/check/saved/known.ts';
export { type Config, defineConfig } from '../src/cli/config/define.ts';
export { properties } from './index.ts';

// Trainers: a process, an object in this process, or whatever the configuration names.

export { type OpenOptions, type OpenTrainer, openTrainer } from '../src/cli/test-runner/setting.ts';
export type { Answer, Args, Hello, Ok, Op } from '../src/protocol/message.ts';
export type { FailureKind, TrainerFailure } from '../src/trainer/failure.ts';
export { type ObjectTrainerSpec, objectTrainer, reject } from '../src/trainer/object.ts';
export { startTrainer, type TrainerOptions } from '../src/trainer/process.ts';
export type { Outcome, Trainer } from '../src/trainer/trainer.ts';

// Other test runners.

export { type Held, type HoldOptions, hold } from '../src/cli/test-runner/hold.ts';
export { type Holdable, receive } from '../src/cli/test-runner/received.ts';
export { openTestRunner, type TestRunner } from '../src/cli/test-runner/test-runner.ts';

// A property of one's own: its shape, how it shows rows, tokens and numbers. `fc` is the fast-check that the generators are made
// with; arbitraries of a second copy of it would not fit.

export { default as fc } from 'fast-check';
export { defineProperty, type PropertySketch } from '../src/check/define-property.ts';
export { type Band, bandOf, numberFinding, type Pair } from '../src/check/numbers.ts';
export type * from '../src/check/property.ts';
export { blockArgs, type MaskedRow, maskedRows } from '../src/check/rows/rows.ts';
export { type StripSketch, stripOf } from '../src/check/rows/strips.ts';
export { discard } from '../src/check/subject.ts';
export type { Level, Verdict } from '../src/vocabulary.ts';

// Generators: the cases that most properties begin with.

export { type Grouped, type GroupOptions, grouped } from '../src/generators/advantages/rewards.ts';
export { type TrackOptions, type Tracks, tracks } from '../src/generators/losses/tracks.ts';
export { redrawn } from '../src/generators/redrawn.ts';
export { type Batch, type BatchOptions, batch } from '../src/generators/rollouts/batch.ts';
export { type LogitBatch, logitBatch } from '../src/generators/scores/logits.ts';
export { type ConversationOptions, conversation } from '../src/generators/text/conversation.ts';

// The reference: the oracles, plain float64. As a namespace: `reference.klOf(...)`.

export * as reference from '../src/reference/index.ts';

// Tokenizers and chat templates.

export { type Loaded, type LoadOptions, loadTokenizer } from '../src/tokenizers/load.ts';
export { type Rendered, type RenderOptions, renderChat } from '../src/tokenizers/template.ts';
export type { Tokenizer } from '../src/tokenizers/tokenizer.ts';
