// The rules over samples of rollouts, in the order in which a sample is made: prompt, boundary, text, end, reward.
import type { MonitorRule } from '../../src/index.ts';
import { emptyRules } from './samples-empty.ts';
import { idRules } from './samples-ids.ts';
import { repetitionRules } from './samples-repetition.ts';
import { rewardRules } from './samples-rewards.ts';
import { startRules } from './samples-start.ts';
import { stopRules } from './samples-stops.ts';
import { toolRules } from './samples-tools.ts';

export const sampleRules: readonly MonitorRule[] = [
  ...startRules,
  ...idRules,
  ...stopRules,
  ...emptyRules,
  ...repetitionRules,
  ...toolRules,
  ...rewardRules,
];
