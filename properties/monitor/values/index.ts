// Rules over values that no run can have, whatever it trains.
import type { MonitorRule } from '../../../src/index.ts';
import { clippedHasMoved } from './clipped-unmoved.ts';
import { meanBetweenExtremes } from './extremes.ts';
import { preferencesBeginAtLogTwo } from './log-two.ts';
import { evaluationIsItsOwn } from './own-evaluation.ts';
import { entropyNotNegative, valuesAreInRange } from './ranges.ts';
import { lossScaleLives } from './scaler.ts';
import { sidesDiffer } from './two-sides.ts';
import { valueLossStays } from './value-loss.ts';

export const valueRules: readonly MonitorRule[] = [
  valuesAreInRange,
  entropyNotNegative,
  meanBetweenExtremes,
  evaluationIsItsOwn,
  preferencesBeginAtLogTwo,
  valueLossStays,
  lossScaleLives,
  sidesDiffer,
  clippedHasMoved,
];
