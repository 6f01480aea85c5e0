// The rules over samples of rollouts, in the order in which a sample is made: prompt, boundary, text, end, reward,
// log-probabilities.
import type { MonitorRule } from '../../../src/index.ts';
import { emptyRules } from './empty.ts';
import { idRules } from './ids.ts';
import { repetitionRules } from './repetition.ts';
import { rewardRules } from './rewards.ts';
import { sideRules } from './sides.ts';
import { startRules } from './start.ts';
import { stopRules } from './stops.ts';
import { toolRules } from './tools.ts';

export const sampleRules: readonly MonitorRule[] = [
  ...startRules,
  ...idRules,
  ...stopRules,
  ...emptyRules,
  ...repetitionRules,
  ...toolRules,
  ...rewardRules,
  ...sideRules,
];
