// What of a traced script is judged by numbers: weights, scores, and the rows that they belong to.
import type { LedgerProperty } from '../../../src/index.ts';
import { sameRows } from '../input/references.ts';
import { rolloutProperties } from '../input/rollouts.ts';
import { scoringProperties } from '../input/scoring.ts';
import { followsAggregation } from './aggregation.ts';
import { stepsAlike } from './alike.ts';
import { centred } from './balance.ts';
import { klInWeights } from './kl.ts';
import { largeLogits } from './large-logits.ts';
import { oneWeight } from './one-weight.ts';
import { ofOwnPrompt } from './other-groups.ts';
import { partitionProperties } from './partitions.ts';

/** In the order of a training step, but for the optimiser's own. */
export const weightProperties: readonly LedgerProperty[] = [
  ...rolloutProperties,
  ...scoringProperties,
  sameRows,
  klInWeights,
  oneWeight,
  followsAggregation,
  centred,
  ofOwnPrompt,
  stepsAlike,
  largeLogits,
  ...partitionProperties,
];
