// Rules over the shape of a loss, of its evaluations and of gradient norms.
import type { MonitorRule } from '../../../src/index.ts';
import { beginsBelowGuess } from './begins.ts';
import { gradNormRules } from './gradient-norms.ts';
import { improvementRules } from './improves.ts';
import { lossRises } from './loss-rises.ts';
import { lossSpikes } from './loss-spikes.ts';
import { memorising } from './memorising.ts';
import { overfits } from './overfits.ts';
import { parting } from './parting.ts';
import { preferencesAreLearnt } from './preferences.ts';
import { evaluationsMove } from './still-evaluations.ts';

export const shapeRules: readonly MonitorRule[] = [
  beginsBelowGuess,
  ...improvementRules,
  lossRises,
  lossSpikes,
  overfits,
  evaluationsMove,
  memorising,
  parting,
  preferencesAreLearnt,
  ...gradNormRules,
];
