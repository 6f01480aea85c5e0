// All that properties/ may import. What users get is named in properties/library.ts.

// Running: properties against a trainer, as verdicts and as events.

export type * from './check/events.ts';
export type { RunOptions } from './check/options.ts';
export { run, worldOf } from './check/run.ts';
export { openCorpus } from './check/saved/corpus.ts';
export type { KnownFailure, KnownFailures } from './check/saved/known.ts';
export { type Config, defineConfig } from './cli/config/define.ts';

// Trainers: a process, an object in this process, or whatever the configuration names.

export { type OpenOptions, type OpenTrainer, openTrainer } from './cli/test-runner/setting.ts';
export type { FailureKind, TrainerFailure } from './trainer/failure.ts';
export { type ObjectTrainerSpec, objectTrainer, reject } from './trainer/object.ts';
export { startTrainer, type TrainerOptions } from './trainer/process.ts';
export type { Outcome, Trainer } from './trainer/trainer.ts';

// Test runners: what `lossproof/vitest` is made of, and what the same for another runner would be made of.

export { declaration } from './check/profile/doubt.ts';
export { answersOf } from './check/questions/answers.ts';
export { causeIn, richest } from './check/questions/causes.ts';
export * from './check/questions/meant.ts';
export * from './check/questions/turns.ts';
export { isProblem, type Problem } from './cli/context.ts';
export { freshSeed } from './cli/seed.ts';
export { type Held, type HoldOptions, hold, JUDGED } from './cli/test-runner/hold.ts';
export { type Holdable, receive } from './cli/test-runner/received.ts';
export { openTestRunner, type TestRunner } from './cli/test-runner/test-runner.ts';

// Writing a property: the shape of one, what it needs, and how it shows rows, tokens and numbers.

export * from './check/checkpoints.ts';
export { defineProperty, type PropertySketch } from './check/define-property.ts';
export * from './check/gradient.ts';
export * from './check/needs.ts';
export * from './check/numbers.ts';
export type * from './check/property.ts';
export { STAGES } from './check/property.ts';
export * from './check/relations/index.ts';
export * from './check/rows/gaps.ts';
export * from './check/rows/rows.ts';
export * from './check/rows/strips.ts';
export * from './check/rows/tracks.ts';
export * from './check/rows/values.ts';
export { type Doing, discard, firstFinding, isOfUse } from './check/subject.ts';

// What a traced script trained, and the shape of a property of it.

export { type Bands, bandsAt, bandsOf, explains } from './trace/bands.ts';
export type {
  Generation,
  Ledger,
  LedgerEvent,
  LedgerModel,
  LedgerRow,
  LedgerStep,
  LedgerUpdate,
  Place as RowPlace,
  RankStep,
  RowIds,
  ScoredRow,
  Settings,
  Spans,
  TensorUpdate,
  Trained,
} from './trace/ledger.ts';
export type { LedgerFinding, LedgerJudgement, LedgerNotice, LedgerProperty } from './trace/property.ts';
export type { Compared, Difference, ReplicaSet, ReplicaStep } from './trace/replicas.ts';
export { isScorer, scoresOnly } from './trace/scorers.ts';
export { placeholdersOf } from './trace/spans/placeholders.ts';
export * from './trace/weights.ts';
export { type Line, lineThrough } from './trace/weights-line.ts';

// The gap between engine and trainer, for the rule about rollouts that have both sides.

export { analyse, LEAST_ROWS, LEAST_TOKENS } from './gap/analyse.ts';
export type { Rollout } from './gap/read/read.ts';
export { rolloutsWithBoth } from './gap/read/sides.ts';
export { tokensOf } from './gap/tokens.ts';

// Logs of a running job: the shape of a rule over them, of a series and of a sample.

export { type BaselineRuns, edgeOf, isHigherBetter, type SeriesSummary } from './monitor/beside/beside.ts';
export type { Course } from './monitor/history/curve.ts';
export { type Join, type JoinedRow, joinSteps } from './monitor/join.ts';
export { type NamedRole, roleOf } from './monitor/roles.ts';
export { type Rolling, rolling } from './monitor/rolling.ts';
export type {
  MonitorRule,
  RuleWorld,
  SampleTokens,
  Setting,
  SettingValue,
  Violation,
  Watch,
} from './monitor/rule.ts';
export { keepRow, rowOf } from './monitor/samples/row.ts';
export { type Sample, SERIES_ROLES, type Series, type SeriesRole } from './monitor/series.ts';
export { changePoint, mannKendall, median, noiseOf, quantile } from './monitor/statistics.ts';

// Generators: fast-check arbitraries for cases, and the labels of what they exercise. `fc` is the fast-check that they
// are made with; arbitraries of a second copy of it would not fit.

export { default as fc } from 'fast-check';
export * from './generators/advantages/another-answer.ts';
export * from './generators/advantages/blocks.ts';
export * from './generators/advantages/critic.ts';
export * from './generators/advantages/filtered.ts';
export * from './generators/advantages/graded.ts';
export * from './generators/advantages/overlong.ts';
export * from './generators/advantages/rewards.ts';
export * from './generators/losses/balance-loss.ts';
export * from './generators/losses/gaps.ts';
export * from './generators/losses/reward-loss.ts';
export * from './generators/losses/tracks.ts';
export * from './generators/losses/unpaired-loss.ts';
export * from './generators/losses/value-loss.ts';
export * from './generators/models/models.ts';
export * from './generators/pipelines/schedules.ts';
export * from './generators/pipelines/segments.ts';
export * from './generators/pipelines/unrolls.ts';
export * from './generators/redrawn.ts';
export * from './generators/rollouts/batch.ts';
export * from './generators/rollouts/calls.ts';
export * from './generators/rollouts/penalised.ts';
export * from './generators/rollouts/resumed.ts';
export * from './generators/rollouts/sampling-step.ts';
export * from './generators/rollouts/trajectory.ts';
export * from './generators/rows/examples.ts';
export * from './generators/rows/multimodal.ts';
export * from './generators/rows/pairs.ts';
export * from './generators/scores/full-size.ts';
export * from './generators/scores/logits.ts';
export * from './generators/specials.ts';
export * from './generators/text/conversation.ts';
export * from './generators/text/decodable.ts';
export * from './generators/text/dialogue.ts';
export * from './generators/text/pairs.ts';
export * from './generators/text/sft-batch.ts';
export { type TemplateSource, templateSource } from './generators/text/template.ts';
export { anyContent, plainContent, specialText } from './generators/text/text.ts';
export * from './generators/text/tool-dialogue.ts';
export * from './generators/text/train-flags.ts';

// The reference: the oracles, plain float64, one file per stage.

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

export { calledWith, namedTokens } from './tokenizers/call.ts';
export { type Loaded, type LoadOptions, loadTokenizer } from './tokenizers/load.ts';
export { type Rendered, type RenderOptions, renderChat } from './tokenizers/template.ts';
export type { Tokenizer } from './tokenizers/tokenizer.ts';
export { behindTurn } from './tokenizers/turn-tail.ts';

// What a trainer or a log wrote as text, read with its depth and size bounded.

export type { Decoded } from './outside/decoded.ts';
export { parseStrict } from './outside/json.ts';

// The field's words and the protocol: ops, their arguments and answers, what hello declares.

export { type ArgAxis, AXES, type OkAxis, type OpAxes } from './protocol/axes.ts';
export * from './protocol/message.ts';
export { visible } from './visible.ts';
export * from './vocabulary.ts';
