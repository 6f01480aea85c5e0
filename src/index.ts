// What the package exports, and all that properties/ may import. Users get it as 'lossproof', with the properties
// beside it (properties/library.ts); docs/library.md is its page, and a test pins the names.

// Running: properties against a trainer, as verdicts and as events.

export { openCorpus } from './check/corpus.ts';
export type * from './check/events.ts';
export type { KnownFailure, KnownFailures } from './check/known.ts';
export type { RunOptions } from './check/options.ts';
export { run, worldOf } from './check/run.ts';
export { type Config, defineConfig } from './cli/define.ts';

// Trainers: a process, an object in this process, or whatever the configuration names.

export { type OpenOptions, type OpenTrainer, openTrainer } from './cli/setting.ts';
export type { FailureKind, TrainerFailure } from './trainer/failure.ts';
export { type ObjectTrainerSpec, objectTrainer, reject } from './trainer/object.ts';
export { startTrainer, type TrainerOptions } from './trainer/process.ts';
export type { Outcome, Trainer } from './trainer/trainer.ts';

// Writing a property: the shape of one, what it needs, and how it shows rows, tokens and numbers.

export * from './check/checkpoints.ts';
export { defineProperty, type PropertySketch } from './check/define-property.ts';
export * from './check/gaps.ts';
export * from './check/gradient.ts';
export * from './check/needs.ts';
export * from './check/numbers.ts';
export type * from './check/property.ts';
export * from './check/relations/index.ts';
export * from './check/rows.ts';
export * from './check/strips.ts';
export { discard } from './check/subject.ts';
export * from './check/tracks.ts';

// What a traced script trained, and the shape of a property of it.

export { type Bands, bandsAt, bandsOf, explains } from './trace/bands.ts';
export type {
  Generation,
  Ledger,
  LedgerModel,
  LedgerRow,
  LedgerStep,
  Place as RowPlace,
  RankStep,
  RowIds,
  ScoredRow,
  Settings,
  Spans,
  Trained,
} from './trace/ledger.ts';
export type { LedgerFinding, LedgerJudgement, LedgerProperty } from './trace/property.ts';
export * from './trace/weights.ts';
export { type Line, lineThrough } from './trace/weights-line.ts';

// Logs of a running job: the shape of a rule over them, of a series and of a sample.

export { type Baseline, baseline } from './monitor/baseline.ts';
export { type Join, type JoinedRow, joinSteps } from './monitor/join.ts';
export { type NamedRole, roleOf } from './monitor/roles.ts';
export type {
  MonitorRule,
  RuleWorld,
  SampleTokens,
  Setting,
  SettingValue,
  Violation,
  Watch,
} from './monitor/rule.ts';
export { type Sample, SERIES_ROLES, type Series, type SeriesRole } from './monitor/series.ts';

// Generators: fast-check arbitraries for cases, and the labels of what they exercise. `fc` is the fast-check that they
// are made with; arbitraries of a second copy of it would not fit.

export { default as fc } from 'fast-check';
export * from './generators/batch.ts';
export * from './generators/blocks.ts';
export * from './generators/calls.ts';
export * from './generators/conversation.ts';
export * from './generators/critic.ts';
export * from './generators/decodable.ts';
export * from './generators/dialogue.ts';
export * from './generators/examples.ts';
export * from './generators/full-size.ts';
export * from './generators/gaps.ts';
export * from './generators/graded.ts';
export * from './generators/logits.ts';
export * from './generators/models.ts';
export * from './generators/overlong.ts';
export * from './generators/pairs.ts';
export * from './generators/penalised.ts';
export * from './generators/rewards.ts';
export * from './generators/sampling-step.ts';
export * from './generators/schedules.ts';
export * from './generators/segments.ts';
export * from './generators/specials.ts';
export { type TemplateSource, templateSource } from './generators/template.ts';
export { anyContent, plainContent, specialText } from './generators/text.ts';
export * from './generators/tool-dialogue.ts';
export * from './generators/tracks.ts';
export * from './generators/trajectory.ts';
export * from './generators/unrolls.ts';

// The reference: the oracles, plain float64, one file a stage.

export * from './reference/index.ts';

// Rows of logits at a real vocabulary.

export {
  BACKENDS,
  type BackendName,
  type Chosen,
  numbersOf,
  type RowKernel,
  type RowNumbers,
} from './kernel/index.ts';

// Model folders that a trainer is handed.

export { MODEL_KINDS, type ModelKind, type ModelName, type Models } from './checkpoints/models.ts';

// Tokenizers and chat templates.

export { type Loaded, type LoadOptions, loadTokenizer } from './tokenizers/load.ts';
export { type Rendered, type RenderOptions, renderChat } from './tokenizers/template.ts';
export type { Tokenizer } from './tokenizers/tokenizer.ts';

// The field's words and the protocol: ops, their arguments and answers, what hello declares.

export { type ArgAxis, AXES, type OkAxis, type OpAxes } from './protocol/axes.ts';
export * from './protocol/message.ts';
export { visible } from './visible.ts';
export * from './vocabulary.ts';
