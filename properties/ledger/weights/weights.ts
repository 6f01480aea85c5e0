// What of a traced script is judged by numbers: weights, steps, scores, and the rows that they belong to.
import type { LedgerProperty } from '../../../src/index.ts';
import { sameRows } from '../input/references.ts';
import { rolloutProperties } from '../input/rollouts.ts';
import { scoringProperties } from '../input/scoring.ts';
import { stepProperties } from '../steps/steps.ts';
import { followsAggregation } from './aggregation.ts';
import { klInWeights } from './kl.ts';
import { oneWeight } from './one-weight.ts';
import { partitionProperties } from './partitions.ts';

/** In the order of a training step. */
export const weightProperties: readonly LedgerProperty[] = [
  ...rolloutProperties,
  ...scoringProperties,
  sameRows,
  klInWeights,
  oneWeight,
  followsAggregation,
  ...partitionProperties,
  ...stepProperties,
];
