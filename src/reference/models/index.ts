// A small decoder-only model in float64.

export { configOf, type ModelConfig } from './config.ts';
export { forward, headOf, hiddenStates, type ModelRow, positionsOf } from './forward.ts';
export {
  type CompletionScores,
  completionKl,
  completionLogprobs,
  completionScores,
  type ExactKl,
} from './model-score.ts';
export { headWeights, moved, slopesAlong } from './train-step.ts';
export { type ModelWeights, type Parameter, parameterShapes, type ReferenceModel } from './weights.ts';
